//! A real broker that refuses one partition to everybody, as long as a test says so.

use crate::pass_on::pass_on;
use futures_util::future::BoxFuture;
use outbox::broker::{Broker, BrokerError, Subscription, SubscriptionConfig};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Passes everything on to another broker, but for subscriptions to one partition.
pub struct SelectiveBroker {
    inner: Arc<dyn Broker>,
    partition: String,
    refuses: AtomicBool,
    refusals: AtomicU32,
}

impl SelectiveBroker {
    /// Refuses that partition until [`SelectiveBroker::accept`].
    #[must_use]
    pub fn refusing(inner: Arc<dyn Broker>, partition: &str) -> Self {
        let (refuses, refusals) = (AtomicBool::new(true), AtomicU32::new(0));
        Self { inner, partition: partition.to_owned(), refuses, refusals }
    }

    /// Refuses nothing from now on.
    pub fn accept(&self) {
        self.refuses.store(false, Ordering::SeqCst);
    }

    /// How often it has refused.
    #[must_use]
    pub fn refusals(&self) -> u32 {
        self.refusals.load(Ordering::SeqCst)
    }
}

impl Broker for SelectiveBroker {
    pass_on! { publish }

    fn subscribe<'a>(
        &'a self,
        subscription: &'a SubscriptionConfig,
    ) -> BoxFuture<'a, Result<Box<dyn Subscription>, BrokerError>> {
        if self.refuses.load(Ordering::SeqCst) && subscription.partition == self.partition {
            self.refusals.fetch_add(1, Ordering::SeqCst);
            return Box::pin(std::future::ready(Err(BrokerError::Refused {
                broker: "selective",
                action: "subscribe",
                problem: "the test refuses this partition".to_owned(),
                source: None,
            })));
        }
        self.inner.subscribe(subscription)
    }
}
