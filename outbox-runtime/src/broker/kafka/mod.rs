//! Kafka: a log for high throughput, with replay and many consumers.
//!
//! A topic is a topic of Kafka, a partition one of its partitions; the key of an event is that of its message, and its partition
//! the one that Kafka's Java client would choose. Events without a key are spread by their ids. The metadata travels as CloudEvents
//! says for Kafka, in headers `ce_…`; the value is the payload. A consumer is a group of its name, whose positions the server
//! keeps.
//!
//! Promised: deliveries of one key come in the partition's order, also after a nack, a lost connection or a take-over
//! ([`subscribe`](self)); what is confirmed is in the log of every replica in sync (`acks=all`). Not promised: order among
//! publishes in flight, so the relay never has two of one key; and no second copy is dropped that the relay itself makes, so
//! consumers need the inbox (or compare `ce_sequence`).
//!
//! # Who works a partition
//!
//! The lease in the consumer's database, as on every broker; the group of Kafka keeps positions and has no members. So neither
//! protocol of groups is in use, no rebalance stops the others, and `kafka-consumer-groups --describe` shows the lag but no
//! member. A program that joins the same group with `subscribe` would be refused, or have our commits refused: give it another
//! name. Each partition that a process works has a client of its own: a handful of threads, two or three connections, and up
//! to 4 MiB that are fetched ahead.
//!
//! # Topics
//!
//! A missing topic is made with [`KafkaConfig::partitions`], [`KafkaConfig::retention`] and room for
//! [`KafkaConfig::event_bytes_max`], unless [`KafkaConfig::create_topics`] is off. One that has another number of partitions, or
//! is compacted, is refused. A process warns of a topic that takes smaller events, forgets sooner, or confirms what a single
//! server has; each warning says what to set. With [`min.insync.replicas`] below 2 a confirmed event may be lost with a disk; it
//! is still in the log of the store: replay that range to the relay.
//!
//! The server forgets the position of a consumer that was stopped for a week (`offsets.retention.minutes`); it then begins at
//! the oldest event.
//!
//! # TLS
//!
//! The client speaks TLS by OpenSSL, which this crate does not bring: everything else here uses rustls. An address `kafka+ssl://`
//! is refused, never used in plain text, until the program itself asks for it:
//!
//! ```toml
//! rdkafka = { version = "0.39", features = ["ssl"] }
//! ```
//!
//! So are SCRAM and OAUTHBEARER, which are settings of the client ([`KafkaConfig::client`]: `sasl.mechanisms`), and the
//! compressions gzip (`libz`) and zstd (`zstd`) of messages that others have written.
//!
//! # Rights
//!
//! A relay needs `Write` and `Describe` on its topics, a consumer `Read` on them and on the group of its name. Who makes topics
//! needs `Create`. With `DescribeConfigs` beside them, each says at its start what a topic is not fit for.
//!
//! Works with servers from Kafka 2.4 on, and was tested with 4.3.
//!
//! [`min.insync.replicas`]: https://kafka.apache.org/documentation/#topicconfigs_min.insync.replicas

mod address;
mod client;
mod config;
mod error;
mod examine;
mod link;
mod message;
mod publish;
mod subscribe;
mod topic;

pub use config::KafkaConfig;

use super::{
    Broker, BrokerError, Capabilities, Examination, Outgoing, Published, Subscription, SubscriptionConfig,
};
use crate::finding::Finding;
use error::NAME;
use futures_util::future::BoxFuture;
use link::Link;
use std::sync::Arc;

/// The broker Kafka; one client publishes, and each subscription has its own.
#[derive(Debug)]
pub struct KafkaBroker {
    link: Arc<Link>,
}

impl KafkaBroker {
    /// A broker that connects when it is first needed.
    #[must_use]
    pub fn new(config: KafkaConfig) -> Self {
        Self { link: Arc::new(Link::new(config)) }
    }
}

impl Broker for KafkaBroker {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            ordered: true,
            replayable: true,
            bytes_max: Some(self.link.config.event_bytes_max),
            ..Capabilities::least(NAME)
        }
    }

    fn connect(&self) -> BoxFuture<'_, Result<(), BrokerError>> {
        Box::pin(async {
            self.link.inspect().await?;
            for topic in &self.link.config.topics {
                self.link.declare(topic).await?;
            }
            Ok(())
        })
    }

    fn publish<'a>(
        &'a self,
        batch: &'a [Outgoing<'a>],
    ) -> BoxFuture<'a, Result<Vec<Published>, BrokerError>> {
        Box::pin(self.publish_batch(batch))
    }

    fn subscribe<'a>(
        &'a self,
        subscription: &'a SubscriptionConfig,
    ) -> BoxFuture<'a, Result<Box<dyn Subscription>, BrokerError>> {
        Box::pin(async {
            self.link.declare(&subscription.topic).await?;
            let opened = subscribe::KafkaSubscription::open(self.link.clone(), subscription.clone()).await?;
            Ok(Box::new(opened) as Box<dyn Subscription>)
        })
    }

    /// As many as the topic has: events without a key are among the others.
    fn partitions<'a>(&'a self, topic: &'a str) -> BoxFuture<'a, Result<Vec<String>, BrokerError>> {
        Box::pin(async move {
            self.link.declare(topic).await?;
            Ok((0..self.link.config.partitions).map(|partition| partition.to_string()).collect())
        })
    }

    fn examine<'a>(&'a self, asked: &'a Examination) -> BoxFuture<'a, Result<Vec<Finding>, BrokerError>> {
        Box::pin(self.link.examine(asked))
    }
}
