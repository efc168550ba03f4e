//! Redis Streams: a simple queue across processes, for those who run a Redis anyway.
//!
//! Each partition of a topic is a stream `<topic>:<partition>`, a consumer is a group of its name on each. The metadata
//! travels as CloudEvents fields `ce_…` (CloudEvents knows no binding for Redis), the payload as the field `data`.
//!
//! Promised: deliveries of one key come in the stream's order, also after a nack, a lost connection or a take-over
//! ([`subscribe`](self)); an event stays until every group has handled it, and for `retention` beyond. Not promised: order
//! among publishes in flight, so the relay never has two of one key; and no second copy is dropped, so consumers need the
//! inbox (or compare `ce_sequence`).
//!
//! # What a confirmation means
//!
//! The server has the event in its memory, and in its append-only file as far as its settings go. With `appendonly yes` and
//! `appendfsync always` a confirmed event outlives a power cut; with `everysec` (the default of `appendonly yes`) the last
//! second may be lost, without `appendonly` everything since the last snapshot. [`Broker::connect`] warns of both. A replica
//! follows later than the confirmation, whatever `min-replicas-to-write` says: a failover may lose what was confirmed just
//! before. What was lost is still in the log of the store: replay that range to the relay.
//!
//! # Sentinel and cluster
//!
//! With Sentinel, give an address that follows the primary; a demoted one is left as soon as it says so. A Redis Cluster is
//! refused: there each stream would be in a hash slot of its own, and a topic in one slot only if its name stood in braces.
//!
//! # Memory
//!
//! Whoever publishes trims the streams that it publishes to, by the server's clock. An event that some group has not handled
//! is kept for `unread_max`; what is removed then is counted in an error of the log. A group of a consumer that is gone for
//! good holds the memory for so long: `XGROUP DESTROY <topic>:<partition> <consumer>` frees it. When the memory is full,
//! events wait in the store (`maxmemory-policy noeviction`); a policy that evicts streams is refused.
//!
//! # Rights
//!
//! A relay needs `+xadd +setnx +get +eval +exists +time +xtrim +xinfo +xpending`, a consumer `+setnx +get +xgroup +xreadgroup
//! +xautoclaim +xpending +xack +eval +xinfo`, both on the keys `~<topic>:*`. With `+info +config|get` beside them, each says at
//! its start what the server is not fit for.
//!
//! Works with servers from Redis 7.0 on, and with Valkey.

mod config;
mod entry;
mod error;
mod examine;
mod link;
mod publish;
mod subscribe;
mod topic;

pub use config::RedisConfig;

use super::{
    Broker, BrokerError, Capabilities, Examination, Outgoing, Published, Subscription, SubscriptionConfig,
    partition,
};
use crate::finding::Finding;
use error::NAME;
use futures_util::future::BoxFuture;
use link::Link;
use std::sync::Arc;

/// The broker Redis Streams; one connection for all but the reads of subscriptions, of which each has its own.
#[derive(Debug)]
pub struct RedisBroker {
    link: Arc<Link>,
    trims: publish::Trims,
}

impl RedisBroker {
    /// A broker that connects when it is first needed.
    #[must_use]
    pub fn new(config: RedisConfig) -> Self {
        Self { link: Arc::new(Link::new(config)), trims: publish::Trims::default() }
    }
}

impl Broker for RedisBroker {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            ordered: true,
            replayable: true,
            delivery_count: true,
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
            let opened = subscribe::RedisSubscription::open(self.link.clone(), subscription.clone()).await?;
            Ok(Box::new(opened) as Box<dyn Subscription>)
        })
    }

    fn partitions<'a>(&'a self, topic: &'a str) -> BoxFuture<'a, Result<Vec<String>, BrokerError>> {
        Box::pin(async move {
            self.link.declare(topic).await?;
            Ok(partition::names(self.link.config.partitions))
        })
    }

    fn examine<'a>(&'a self, asked: &'a Examination) -> BoxFuture<'a, Result<Vec<Finding>, BrokerError>> {
        Box::pin(self.link.examine(asked))
    }
}
