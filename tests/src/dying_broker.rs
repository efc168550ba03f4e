//! A real broker whose process is killed at the worst moment: when the server did its part and nobody recorded it.

use crate::pass_on::pass_on;
use futures_util::future::BoxFuture;
use outbox::broker::{
    AckToken, Broker, BrokerError, Delivery, Outgoing, Published, Subscription, SubscriptionConfig,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Passes everything on to another broker, and kills this process once.
pub struct DyingBroker {
    inner: Arc<dyn Broker>,
    at_ack: bool,
    after_batches: Option<u32>,
    batches: AtomicU32,
}

impl DyingBroker {
    /// Kills this process instead of its first acks.
    #[must_use]
    pub fn at_ack(inner: Arc<dyn Broker>) -> Self {
        Self { inner, at_ack: true, after_batches: None, batches: AtomicU32::new(0) }
    }

    /// Kills this process when the server has confirmed that many batches.
    #[must_use]
    pub fn after_batches(inner: Arc<dyn Broker>, count: u32) -> Self {
        Self { inner, at_ack: false, after_batches: Some(count), batches: AtomicU32::new(0) }
    }
}

impl std::fmt::Debug for DyingBroker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DyingBroker").finish_non_exhaustive()
    }
}

impl Broker for DyingBroker {
    pass_on! {}

    fn publish<'a>(
        &'a self,
        batch: &'a [Outgoing<'a>],
    ) -> BoxFuture<'a, Result<Vec<Published>, BrokerError>> {
        Box::pin(async move {
            let published = self.inner.publish(batch).await;
            if self.after_batches == Some(self.batches.fetch_add(1, Ordering::SeqCst) + 1) {
                crate::kill_this_process();
            }
            published
        })
    }

    fn subscribe<'a>(
        &'a self,
        subscription: &'a SubscriptionConfig,
    ) -> BoxFuture<'a, Result<Box<dyn Subscription>, BrokerError>> {
        Box::pin(async move {
            let inner = self.inner.subscribe(subscription).await?;
            Ok(if self.at_ack { Box::new(DyingSubscription(inner)) } else { inner })
        })
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

    fn has_come_to_new(&self) -> bool {
        self.0.has_come_to_new()
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
