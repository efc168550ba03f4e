//! The server of a broker, whichever it is, for tests that are about none in particular.

use super::{Kafka, Nats, RabbitMq, Redis};
use std::io;

/// A private server of one broker.
#[derive(Debug)]
pub enum BrokerServer {
    /// NATS JetStream.
    Nats(Nats),
    /// RabbitMQ.
    RabbitMq(RabbitMq),
    /// Redis.
    Redis(Redis),
    /// Apache Kafka.
    Kafka(Kafka),
}

impl BrokerServer {
    /// The consumer that the tests read topics as, to see what was published.
    pub const WITNESS: &str = "tests.witness";

    /// The broker's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Nats(_) => "nats",
            Self::RabbitMq(_) => "rabbitmq",
            Self::Redis(_) => "redis",
            Self::Kafka(_) => "kafka",
        }
    }

    /// The address of this server.
    #[must_use]
    pub fn url(&self) -> String {
        match self {
            Self::Nats(server) => server.url(),
            Self::RabbitMq(server) => server.url(),
            Self::Redis(server) => server.url(),
            Self::Kafka(server) => server.url(),
        }
    }

    /// The port on loopback; it stays the same over [`restart`](Self::restart).
    #[must_use]
    pub fn port(&self) -> u16 {
        match self {
            Self::Nats(server) => server.port(),
            Self::RabbitMq(server) => server.port(),
            Self::Redis(server) => server.port(),
            Self::Kafka(server) => server.port(),
        }
    }

    /// Ends the server by SIGKILL.
    pub fn kill(&self) {
        match self {
            Self::Nats(server) => server.kill(),
            Self::RabbitMq(server) => server.kill(),
            Self::Redis(server) => server.kill(),
            Self::Kafka(server) => server.kill(),
        }
    }

    /// Starts the server on the data it had, after killing it if it runs, and waits until it answers.
    pub async fn restart(&self) {
        match self {
            Self::Nats(server) => server.restart().await,
            Self::RabbitMq(server) => server.restart().await,
            Self::Redis(server) => server.restart().await,
            Self::Kafka(server) => server.restart().await,
        }
    }

    /// How many messages a topic holds; where it holds none itself, as many as wait for [`WITNESS`](Self::WITNESS).
    pub async fn count_messages(&self, topic: &str) -> u64 {
        match self {
            Self::Nats(server) => server.count_messages(topic).await,
            Self::RabbitMq(server) => server.count_messages(topic).await,
            Self::Redis(server) => server.count_messages(topic).await,
            Self::Kafka(server) => server.count_messages(topic).await,
        }
    }

    /// Puts a message of somebody else into a partition; the server may be down.
    ///
    /// # Errors
    /// The server did not take it.
    pub async fn put_foreign(&self, topic: &str, partition: u16, payload: &str) -> io::Result<()> {
        match self {
            Self::Nats(server) => {
                let subject = format!("{topic}.{partition}.strange");
                server.try_publish_raw(&subject, b"", payload.as_bytes()).await
            }
            Self::RabbitMq(server) => server.put_foreign(topic, partition, payload).await,
            Self::Redis(server) => server.put_foreign(topic, partition, payload).await,
            Self::Kafka(server) => server.put_foreign(topic, partition, payload).await,
        }
    }
}
