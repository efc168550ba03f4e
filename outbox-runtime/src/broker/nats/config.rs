//! What a NATS broker is configured with.

use crate::broker::{cloudevents::ContentMode, partition::PARTITIONS_DEFAULT};
use std::{fmt, path::PathBuf, time::Duration};

/// How to reach NATS and what a topic looks like there. Write what differs and take the rest from the default:
///
/// ```
/// use outbox_runtime::broker::nats::NatsConfig;
///
/// let config = NatsConfig { servers: "nats://10.0.0.7:4222".into(), replicas: 3, ..NatsConfig::default() };
/// assert_eq!(config.partitions, 16);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct NatsConfig {
    /// The servers, joined by commas: `nats://` or `tls://`, with `user:password@` or `token@` where the server asks
    /// for it, percent-encoded; the first that stands there is for all servers. Default `nats://127.0.0.1:4222`.
    pub servers: String,
    /// A file with the certificates to trust beside the system's; none by default.
    pub root_certificates: Option<PathBuf>,
    /// Whether a connection without TLS is refused; default no.
    pub require_tls: bool,
    /// The name that the server shows for this client; default `outbox`.
    pub client_name: String,
    /// The topics to declare when the connection is made, so that what is configured wrong shows at the start; every
    /// other topic is declared when it is first used. Default none.
    pub topics: Vec<String>,
    /// The partitions of a topic, fixed when the topic is first declared; default 16.
    pub partitions: u16,
    /// The copies of a topic in a cluster of servers, 1 to 5; default 1. Used when the topic is first declared.
    pub replicas: u8,
    /// How long a topic keeps its events; default 7 days, as long as a consumer remembers what it has handled. It must exceed
    /// the longest outage of a consumer. Used when the topic is first declared.
    pub retention: Duration,
    /// How long the server drops a second copy of an event; default 2 minutes, at most `retention`. The server holds
    /// the ids of that time in memory. Used when the topic is first declared.
    pub dedup_window: Duration,
    /// Whether events travel with headers or as one document each; default [`ContentMode::Binary`].
    pub content_mode: ContentMode,
    /// How long one request may take, a publish included; default 5 seconds.
    pub request_timeout: Duration,
}

impl Default for NatsConfig {
    fn default() -> Self {
        Self {
            servers: "nats://127.0.0.1:4222".to_owned(),
            root_certificates: None,
            require_tls: false,
            client_name: "outbox".to_owned(),
            topics: Vec::new(),
            partitions: PARTITIONS_DEFAULT,
            replicas: 1,
            retention: Duration::from_secs(7 * 24 * 60 * 60),
            dedup_window: Duration::from_secs(120),
            content_mode: ContentMode::default(),
            request_timeout: Duration::from_secs(5),
        }
    }
}

/// Shows no server address: it may hold a password.
impl fmt::Debug for NatsConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsConfig")
            .field("client_name", &self.client_name)
            .field("topics", &self.topics)
            .field("partitions", &self.partitions)
            .field("replicas", &self.replicas)
            .field("retention", &self.retention)
            .field("dedup_window", &self.dedup_window)
            .field("content_mode", &self.content_mode)
            .field("request_timeout", &self.request_timeout)
            .finish_non_exhaustive()
    }
}
