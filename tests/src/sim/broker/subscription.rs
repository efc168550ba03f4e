//! A consumer's deliveries: in the order of the broker, some of them twice, from the first that is not acked.

use super::{Exchange, unavailable};
use futures_util::future::BoxFuture;
use outbox::broker::{AckToken, BrokerError, Delivery, Subscription, SubscriptionConfig};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

#[derive(Debug)]
pub(super) struct SimSubscription {
    exchange: Arc<Exchange>,
    group: (String, String),
    /// The next message that was not delivered here.
    next: usize,
}

impl SimSubscription {
    pub(super) fn new(exchange: Arc<Exchange>, config: &SubscriptionConfig) -> Self {
        let group = (config.consumer.clone(), config.topic.clone());
        Self { exchange, group, next: 0 }
    }

    fn stored(&self) -> usize {
        self.exchange.state().topics.get(&self.group.1).map_or(0, Vec::len)
    }

    fn trouble(&self, action: &'static str) -> Result<(), BrokerError> {
        let world = &self.exchange.world;
        let fails = !world.is_calm() && world.in_1000(8);
        if fails || self.exchange.state().is_down { Err(unavailable(action)) } else { Ok(()) }
    }

    fn delivery(&self, place: usize) -> Delivery {
        let envelope = self.exchange.state().topics[&self.group.1][place].clone();
        Delivery { token: AckToken(place as u64), event: Ok(envelope) }
    }
}

impl Subscription for SimSubscription {
    fn ready(&mut self, at_most: Duration) -> BoxFuture<'_, Result<(), BrokerError>> {
        Box::pin(async move {
            let _ = timeout(at_most, async {
                while self.stored() == self.next {
                    self.exchange.arrived.notified().await;
                }
            })
            .await;
            Ok(())
        })
    }

    fn take(&mut self, max: u32) -> BoxFuture<'_, Result<Vec<Delivery>, BrokerError>> {
        Box::pin(async move {
            let world = &self.exchange.world;
            world.pause().await;
            self.trouble("give deliveries")?;
            let mut deliveries = Vec::new();
            while self.next < self.stored() && deliveries.len() < max as usize {
                let is_acked = |state: &super::State| {
                    state.acked.get(&self.group).is_some_and(|acked| acked.contains(&self.next))
                };
                if !is_acked(&self.exchange.state()) {
                    deliveries.push(self.delivery(self.next));
                }
                self.next += 1;
                if !world.is_calm() && world.in_1000(30) {
                    deliveries.push(self.delivery(world.below(self.next as u64) as usize));
                }
            }
            Ok(deliveries)
        })
    }

    fn ack<'a>(&'a mut self, tokens: &'a [AckToken]) -> BoxFuture<'a, Result<(), BrokerError>> {
        Box::pin(async move {
            self.exchange.world.pause().await;
            self.trouble("take acks")?;
            let mut state = self.exchange.state();
            let acked = state.acked.entry(self.group.clone()).or_default();
            acked.extend(tokens.iter().map(|token| token.0 as usize));
            Ok(())
        })
    }

    fn nack<'a>(
        &'a mut self,
        _token: &'a AckToken,
        _delay: Duration,
    ) -> BoxFuture<'a, Result<(), BrokerError>> {
        Box::pin(std::future::ready(Ok(())))
    }
}
