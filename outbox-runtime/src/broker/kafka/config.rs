//! What a Kafka broker is configured with.

use crate::broker::{cloudevents::ContentMode, partition::PARTITIONS_DEFAULT};
use std::{fmt, path::PathBuf, time::Duration};

/// How to reach Kafka and what a topic must be like. Write what differs and take the rest from the default:
///
/// ```
/// use outbox_runtime::broker::kafka::KafkaConfig;
///
/// let config = KafkaConfig { servers: "kafka://10.0.0.7:9092,kafka://10.0.0.8:9092".into(), ..KafkaConfig::default() };
/// assert_eq!(config.partitions, 16);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct KafkaConfig {
    /// The servers to begin with, joined by commas: `kafka://host:port`, with `user:password@` (percent-encoded) where they ask
    /// for it by SASL PLAIN. `kafka+ssl://` is TLS, which the client has only in a [build with it](crate::broker::kafka#tls).
    /// Default `kafka://127.0.0.1:9092`.
    pub servers: String,
    /// A file with the certificates to trust in place of the system's, for TLS; none by default.
    pub root_certificates: Option<PathBuf>,
    /// The topics to declare when the connection is made, so that what is configured wrong shows at the start; every
    /// other topic is declared when it is first used. Default none.
    pub topics: Vec<String>,
    /// The partitions of a topic, fixed when the topic is made; default 16. A topic that has another number is refused.
    pub partitions: u16,
    /// Whether a topic that is missing is made; if not, it is an error. Default `true`.
    pub create_topics: bool,
    /// The copies that a topic is made with; by default as the server says.
    pub replication: Option<u16>,
    /// How long a topic that is made keeps its events, and how long any other topic must keep them without a warning: the longest
    /// that a consumer may be behind. Default 7 days, as long as a consumer remembers what it has handled.
    pub retention: Duration,
    /// The largest event with its headers, in bytes; default 1 MiB. The topic must take as much.
    pub event_bytes_max: usize,
    /// Whether events travel with headers or as one document each; default [`ContentMode::Binary`].
    pub content_mode: ContentMode,
    /// How long one request may take, a batch of publishes included; default 5 seconds.
    pub request_timeout: Duration,
    /// More settings of the client, name and value, such as `sasl.mechanisms`. What would break a promise is not taken from here.
    pub client: Vec<(String, String)>,
}

impl Default for KafkaConfig {
    fn default() -> Self {
        Self {
            servers: "kafka://127.0.0.1:9092".to_owned(),
            root_certificates: None,
            topics: Vec::new(),
            partitions: PARTITIONS_DEFAULT,
            create_topics: true,
            replication: None,
            retention: Duration::from_secs(7 * 24 * 60 * 60),
            event_bytes_max: 1024 * 1024,
            content_mode: ContentMode::default(),
            request_timeout: Duration::from_secs(5),
            client: Vec::new(),
        }
    }
}

/// Shows neither the addresses nor the values of the client's settings: they may hold a password.
impl fmt::Debug for KafkaConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let client: Vec<&String> = self.client.iter().map(|(name, _)| name).collect();
        f.debug_struct("KafkaConfig")
            .field("topics", &self.topics)
            .field("partitions", &self.partitions)
            .field("create_topics", &self.create_topics)
            .field("replication", &self.replication)
            .field("retention", &self.retention)
            .field("event_bytes_max", &self.event_bytes_max)
            .field("content_mode", &self.content_mode)
            .field("request_timeout", &self.request_timeout)
            .field("client", &client)
            .finish_non_exhaustive()
    }
}
