//! What a broker is examined for, and what is found where it cannot be.

use super::BrokerError;
use crate::{finding::Finding, telemetry::error_chain};
use std::{error::Error, time::Duration};

/// What [`Broker::examine`](super::Broker::examine) looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examination {
    /// The topics. One that is not there is passed over.
    pub topics: Vec<String>,
    /// Consumers of these topics, where the broker cannot list them itself.
    pub consumers: Vec<String>,
    /// How long consumers remember what they have handled (`Retention::inbox`); default 7 days.
    pub window: Duration,
}

impl Default for Examination {
    fn default() -> Self {
        Self { topics: Vec::new(), consumers: Vec::new(), window: Duration::from_secs(7 * 24 * 60 * 60) }
    }
}

impl BrokerError {
    /// What it says to whoever [examined](super::Broker::examine) the broker: `broker-unavailable` when it may pass by itself,
    /// `broker-refuses` when a person must mend something. `about` names the broker, without any secret of its address.
    #[must_use]
    pub fn finding(&self, about: impl Into<String>) -> Finding {
        let (about, problem) = (about.into(), self.problem());
        if self.is_transient() {
            return Finding {
                code: "broker-unavailable",
                about,
                problem,
                why: "nothing more of it was looked at; while relays cannot reach it either, events wait in the store",
                fix: "correct the address, start the server, or open the way to it (firewall, TLS); then look again"
                    .to_owned(),
            };
        }
        Finding {
            code: "broker-refuses",
            about,
            problem,
            why: "nothing more of it was looked at; relays and consumers that come to it in the same way are refused too",
            fix: "mend what it names: the address, user, password, certificates or rights; then look again"
                .to_owned(),
        }
    }

    /// The error in one line, with its causes. Nothing is tried again here.
    fn problem(&self) -> String {
        let problem = match self {
            Self::Unavailable { action, .. } => format!("it could not {action}"),
            Self::Refused { action, problem, .. } => format!("it refused to {action}: {problem}"),
            other => other.to_string(),
        };
        match self.source() {
            Some(cause) => format!("{problem}: {}", error_chain(cause).replace('\n', ": ")),
            None => problem,
        }
    }
}
