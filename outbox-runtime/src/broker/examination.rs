//! What a broker is examined for.

use std::time::Duration;

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
