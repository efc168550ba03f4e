//! The relay: moves committed events from the log to a broker, in key order, at least once.

mod page;
mod run;
mod step;
mod topics;

pub(crate) use run::{RelayWorker, run};

use crate::{
    backoff::RetryPolicy,
    cursor::{Filter, Start},
    envelope::NewEvent,
};
use outbox_schema::OnPoison;
use std::{collections::BTreeMap, time::Duration};

/// How a relay works.
#[derive(Debug, Clone)]
pub struct RelayConfig {
    /// The relay's name; its progress is kept under it. Default `default`.
    pub name: String,
    /// Which events it publishes; default all. Changed later, it holds for what is not settled yet: what it left out
    /// before stays left out.
    pub filter: Filter,
    /// Where it begins when it is new; default the [`start_at`](crate::RunnerBuilder::start_at) of its runner, else the
    /// earliest event.
    pub start: Option<Start>,
    /// The most events read and published before progress is written; default 1,000.
    pub page_max: u32,
    /// How long the broker may take to confirm a batch; default 10 s.
    pub publish_timeout: Duration,
    /// How often an event is tried that the broker does not confirm while it confirms others.
    pub retry: RetryPolicy,
    /// The most keys that may wait; at the limit the relay says so and reads no further until one is free. Default
    /// 100,000.
    pub waiting_keys_max: u64,
    /// What becomes of a poison event here, whatever its type says. Default: what its type says.
    pub on_poison: Option<OnPoison>,
    /// As `on_poison`, for one event type; goes before it.
    pub on_poison_of: BTreeMap<String, OnPoison>,
}

impl Default for RelayConfig {
    fn default() -> Self {
        Self {
            name: "default".to_owned(),
            filter: Filter::default(),
            start: None,
            page_max: 1_000,
            publish_timeout: Duration::from_secs(10),
            retry: RetryPolicy::default(),
            waiting_keys_max: 100_000,
            on_poison: None,
            on_poison_of: BTreeMap::new(),
        }
    }
}

impl RelayConfig {
    /// The defaults under another name.
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    fn policy_of(&self, event: &NewEvent) -> OnPoison {
        self.on_poison_of.get(&event.event_type).copied().or(self.on_poison).unwrap_or(event.on_poison)
    }
}
