//! A real broker whose consumer's process is killed right before its first acks reach the server.

use futures_util::future::BoxFuture;
use outbox::broker::{
    AckToken, Broker, BrokerError, Capabilities, Delivery, Outgoing, Published, Subscription,
    SubscriptionConfig,
};
use std::sync::Arc;
use std::time::Duration;

/// Passes everything on to another broker, except for acks: the first one kills this process.
pub struct DyingBroker(pub Arc<dyn Broker>);

impl std::fmt::Debug for DyingBroker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DyingBroker").finish_non_exhaustive()
    }
}

impl Broker for DyingBroker {
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn connect(&self) -> BoxFuture<'_, Result<(), BrokerError>> {
        self.0.connect()
    }

    fn publish<'a>(
        &'a self,
        batch: &'a [Outgoing<'a>],
    ) -> BoxFuture<'a, Result<Vec<Published>, BrokerError>> {
        self.0.publish(batch)
    }

    fn subscribe<'a>(
        &'a self,
        subscription: &'a SubscriptionConfig,
    ) -> BoxFuture<'a, Result<Box<dyn Subscription>, BrokerError>> {
        Box::pin(async move {
            let inner = self.0.subscribe(subscription).await?;
            let dying: Box<dyn Subscription> = Box::new(DyingSubscription(inner));
            Ok(dying)
        })
    }

    fn partitions<'a>(&'a self, topic: &'a str) -> BoxFuture<'a, Result<Vec<String>, BrokerError>> {
        self.0.partitions(topic)
    }
}

struct DyingSubscription(Box<dyn Subscription>);

impl Subscription for DyingSubscription {
    fn ready(&mut self, at_most: Duration) -> BoxFuture<'_, Result<(), BrokerError>> {
        self.0.ready(at_most)
    }

    fn take(&mut self, max: u32) -> BoxFuture<'_, Result<Vec<Delivery>, BrokerError>> {
        self.0.take(max)
    }

    fn ack<'a>(&'a mut self, _tokens: &'a [AckToken]) -> BoxFuture<'a, Result<(), BrokerError>> {
        crate::kill_this_process()
    }

    fn nack<'a>(
        &'a mut self,
        token: &'a AckToken,
        delay: Duration,
    ) -> BoxFuture<'a, Result<(), BrokerError>> {
        self.0.nack(token, delay)
    }
}
