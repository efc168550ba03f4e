//! RabbitMQ: for those who route, with queues of their own beside those of consumers.
//!
//! A topic is a topic exchange `<topic>`, an event has the routing key `<partition>.<type>`, and each partition of a consumer
//! is a quorum queue `<topic>.<consumer>.<partition>` with a single active consumer. Whoever else wants events binds a queue
//! of his own: `*.orders.placed`, or `#` for all. The metadata travels as CloudEvents headers `cloudEvents_…`, the payload as
//! the body.
//!
//! Promised: a confirmed event is on the disks of the quorum of each queue that takes it; one that no queue takes is no
//! success; deliveries of one key come in the queue's order, also after a nack, a lost connection or a take-over
//! ([`subscribe`](self)). Not promised: order among publishes in flight, so the relay never has two of one key; and no second
//! copy is dropped, so consumers need the inbox (or compare `cloudEvents_sequence`).
//!
//! # Consumers come first
//!
//! A queue gets what is published once it is there. The first subscription of a consumer declares its queues, all of them, and
//! from then on it misses nothing. Until some consumer has, an event of the topic is tried again; a consumer that comes later
//! begins with what is published then, and `outbox replay` gives it what was before.
//!
//! # What the server must be left to do
//!
//! - No policy may give these queues a maximum length, a time to live or an expiry, nor a delivery limit: each of them drops
//!   events that nobody counts. A queue of ours asks for no delivery limit in effect: consumers set aside what fails.
//! - `consumer_timeout` (30 minutes by default) must be above what a handler may take, and the events before it in memory: the
//!   server ends the channel of whoever acks later. Then all of it comes again, on a new channel.
//! - A consumer that is gone for good leaves its queues behind, and they grow. Remove them:
//!   `rabbitmqctl delete_queue <topic>.<consumer>.<partition>`.
//! - When memory or disk run out the server takes no publishes. Events then wait in the store, without an attempt.
//!
//! What a process held that is paused or cut off comes to the next one when the server misses its heartbeats, which takes twice
//! `heartbeat`; after a crash it comes at once.
//!
//! # Rights
//!
//! A relay needs `configure` on `^<topic>(\.outbox)?$` and `write` on `^<topic>$`; a consumer `configure` on `^<topic>(\..+)?$`,
//! `write` on `^<topic>\..+$` and `read` on `^<topic>(\..+)?$`.
//!
//! Works with servers from RabbitMQ 3.10 on; no plugin is needed.

mod acks;
mod config;
mod error;
mod examine;
mod link;
mod message;
mod publish;
mod subscribe;
mod topology;

pub use config::RabbitMqConfig;

use super::{
    Broker, BrokerError, Capabilities, Examination, Outgoing, Published, Subscription, SubscriptionConfig,
};
use crate::finding::Finding;
use error::{NAME, blocked};
use futures_util::future::BoxFuture;
use link::{Line, Link};
use std::{fmt, sync::Arc};

/// The broker RabbitMQ; one connection publishes, another one consumes, and each subscription has a channel of its own.
pub struct RabbitMqBroker {
    publishing: Line,
    consuming: Arc<Line>,
    spare: publish::Spare,
}

impl RabbitMqBroker {
    /// A broker that connects when it is first needed.
    #[must_use]
    pub fn new(config: RabbitMqConfig) -> Self {
        let config = Arc::new(config);
        let (publishing, consuming) = (Line::new(config.clone()), Arc::new(Line::new(config)));
        Self { publishing, consuming, spare: publish::Spare::default() }
    }

    /// The connection that publishes, unless the server takes nothing from it for now.
    async fn open_link(&self, action: &'static str) -> Result<Arc<Link>, BrokerError> {
        let link = self.publishing.link(action).await?;
        if link.connection.status().blocked() {
            return Err(blocked(action));
        }
        Ok(link)
    }
}

impl fmt::Debug for RabbitMqBroker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RabbitMqBroker").field("config", &self.publishing.config).finish_non_exhaustive()
    }
}

impl Broker for RabbitMqBroker {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            ordered: true,
            delivery_count: true,
            bytes_max: Some(self.publishing.config.event_bytes_max),
            ..Capabilities::least(NAME)
        }
    }

    fn connect(&self) -> BoxFuture<'_, Result<(), BrokerError>> {
        Box::pin(async {
            let link = self.open_link("connect").await?;
            for topic in &self.publishing.config.topics {
                self.publishing.declare_topic(&link, topic).await?;
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
            let line = self.consuming.clone();
            let opened = subscribe::RabbitMqSubscription::open(line, subscription.clone()).await?;
            Ok(Box::new(opened) as Box<dyn Subscription>)
        })
    }

    fn partitions<'a>(&'a self, topic: &'a str) -> BoxFuture<'a, Result<Vec<String>, BrokerError>> {
        Box::pin(async move {
            let link = self.consuming.link("declare the topic").await?;
            self.consuming.declare_topic(&link, topic).await?;
            Ok(topology::partitions(&self.consuming.config))
        })
    }

    fn register<'a>(&'a self, topic: &'a str, consumer: &'a str) -> BoxFuture<'a, Result<(), BrokerError>> {
        Box::pin(async move {
            let link = self.consuming.link("subscribe").await?;
            self.consuming.declare_consumer(&link, topic, consumer).await
        })
    }

    fn examine<'a>(&'a self, asked: &'a Examination) -> BoxFuture<'a, Result<Vec<Finding>, BrokerError>> {
        Box::pin(self.consuming.examine(asked))
    }
}
