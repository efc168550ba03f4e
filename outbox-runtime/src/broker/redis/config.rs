//! What a Redis broker is configured with.

use crate::broker::{cloudevents::ContentMode, partition::PARTITIONS_DEFAULT};
use std::{fmt, path::PathBuf, time::Duration};

/// How to reach Redis and how long a topic keeps its events. Write what differs and take the rest from the default:
///
/// ```
/// use outbox_runtime::broker::redis::RedisConfig;
///
/// let config = RedisConfig { server: "redis://10.0.0.7:6379".into(), ..RedisConfig::default() };
/// assert_eq!(config.partitions, 16);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct RedisConfig {
    /// The server: `redis://` or, for TLS, `rediss://`, with `user:password@` or `:password@` where it asks for it,
    /// percent-encoded, and the number of a database as its path. Default `redis://127.0.0.1:6379`.
    ///
    /// With Sentinel, an address that follows the primary: a replica is waited for until it is promoted.
    pub server: String,
    /// A file with the certificates to trust in place of the system's; none by default.
    pub root_certificates: Option<PathBuf>,
    /// The topics to declare when the connection is made, so that what is configured wrong shows at the start; every
    /// other topic is declared when it is first used. Default none.
    pub topics: Vec<String>,
    /// The partitions of a topic, fixed when the topic is first declared; default 16.
    pub partitions: u16,
    /// How long a topic keeps an event that every consumer has handled, for consumers that come later; default one day.
    /// Whatever it is, it is memory of the server.
    pub retention: Duration,
    /// How long an event is kept for a consumer that has not handled it, which may be gone for good; default 14 days, and
    /// at least `retention`. What is removed then is counted in an error of the log.
    pub unread_max: Duration,
    /// The largest event with its headers, in bytes; default 1 MiB. The server takes what `proto-max-bulk-len` says
    /// (512 MiB), but each event is in its memory.
    pub event_bytes_max: usize,
    /// Whether events travel with headers or as one document each; default [`ContentMode::Binary`].
    pub content_mode: ContentMode,
    /// How long one request may take, a batch of publishes included; default 5 seconds.
    pub request_timeout: Duration,
}

impl Default for RedisConfig {
    fn default() -> Self {
        const DAY: Duration = Duration::from_secs(24 * 60 * 60);
        Self {
            server: "redis://127.0.0.1:6379".to_owned(),
            root_certificates: None,
            topics: Vec::new(),
            partitions: PARTITIONS_DEFAULT,
            retention: DAY,
            unread_max: 14 * DAY,
            event_bytes_max: 1024 * 1024,
            content_mode: ContentMode::default(),
            request_timeout: Duration::from_secs(5),
        }
    }
}

/// Shows no server address: it may hold a password.
impl fmt::Debug for RedisConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisConfig")
            .field("topics", &self.topics)
            .field("partitions", &self.partitions)
            .field("retention", &self.retention)
            .field("unread_max", &self.unread_max)
            .field("event_bytes_max", &self.event_bytes_max)
            .field("content_mode", &self.content_mode)
            .field("request_timeout", &self.request_timeout)
            .finish_non_exhaustive()
    }
}
