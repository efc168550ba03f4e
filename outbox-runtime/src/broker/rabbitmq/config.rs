//! What a RabbitMQ broker is configured with.

use crate::broker::{cloudevents::ContentMode, partition::PARTITIONS_DEFAULT};
use std::{fmt, path::PathBuf, time::Duration};

/// How to reach RabbitMQ. Write what differs and take the rest from the default:
///
/// ```
/// use outbox_runtime::broker::rabbitmq::RabbitMqConfig;
///
/// let config = RabbitMqConfig { server: "amqp://10.0.0.7/%2f".into(), ..RabbitMqConfig::default() };
/// assert_eq!(config.partitions, 16);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct RabbitMqConfig {
    /// The server: `amqp://` or, for TLS, `amqps://`, with `user:password@` where it is not `guest`, percent-encoded, and
    /// the virtual host as its path; without a path it is the default one, `/%2f`. Default `amqp://127.0.0.1:5672`.
    pub server: String,
    /// A file with certificates to trust beside the system's; none by default.
    pub root_certificates: Option<PathBuf>,
    /// The name by which the server shows the connections.
    pub client_name: String,
    /// The topics to declare when the connection is made, so that what is configured wrong shows at the start; every
    /// other topic is declared when it is first used. Default none.
    pub topics: Vec<String>,
    /// The partitions of a topic, fixed when the topic is first declared; default 16.
    pub partitions: u16,
    /// The largest event with its headers, in bytes; default 1 MiB. At most what the server takes: its setting
    /// `max_message_size`, by default 16 MiB (128 MiB before RabbitMQ 4.0).
    pub event_bytes_max: usize,
    /// Whether events travel with headers or as one document each; default [`ContentMode::Binary`].
    pub content_mode: ContentMode,
    /// How long one request may take, a batch of publishes included; default 5 seconds.
    pub request_timeout: Duration,
    /// How often either side shows that it is alive; one that has not for twice as long is given up. Default 5 seconds, and
    /// shorter is not wise. What a process held that is paused or cut off comes to the next one after that time.
    pub heartbeat: Duration,
    /// How often it is seen to that what a topic and its consumers need is still at the server, bindings included: somebody
    /// may have removed it. Default 30 seconds.
    pub declare_every: Duration,
}

impl Default for RabbitMqConfig {
    fn default() -> Self {
        Self {
            server: "amqp://127.0.0.1:5672".to_owned(),
            root_certificates: None,
            client_name: "outbox".to_owned(),
            topics: Vec::new(),
            partitions: PARTITIONS_DEFAULT,
            event_bytes_max: 1024 * 1024,
            content_mode: ContentMode::default(),
            request_timeout: Duration::from_secs(5),
            heartbeat: Duration::from_secs(5),
            declare_every: Duration::from_secs(30),
        }
    }
}

/// Shows no server address: it may hold a password.
impl fmt::Debug for RabbitMqConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RabbitMqConfig")
            .field("client_name", &self.client_name)
            .field("topics", &self.topics)
            .field("partitions", &self.partitions)
            .field("event_bytes_max", &self.event_bytes_max)
            .field("content_mode", &self.content_mode)
            .field("request_timeout", &self.request_timeout)
            .field("heartbeat", &self.heartbeat)
            .field("declare_every", &self.declare_every)
            .finish_non_exhaustive()
    }
}
