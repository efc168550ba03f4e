//! A consumer of one partition, as simple as the rules allow.

use super::{PATIENCE, Rig, Suite, TRY_PAUSE, partition_of_keys};
use crate::{
    broker::{AckToken, Delivery, Malformed, Subscription, SubscriptionConfig},
    envelope::{EventId, NewEvent},
};
use std::time::Duration;
use tokio::time::Instant;

/// Longer than any rule takes: nothing comes again because of it.
const ACK_WAIT: Duration = Duration::from_secs(120);
/// How long nothing must come before the suite believes that nothing comes.
const SILENCE: Duration = Duration::from_millis(500);

pub(super) struct Reader<'a> {
    rig: &'a dyn Rig,
    subscription: Box<dyn Subscription>,
}

/// One delivery of an event that could be read.
#[derive(Debug, Clone)]
pub(super) struct Received {
    pub(super) token: AckToken,
    pub(super) event: NewEvent,
}

impl<'a> Reader<'a> {
    /// Opens the partition of the keys of the suite.
    pub(super) async fn open(suite: &Suite<'a>, consumer: &str, topic: &str) -> Self {
        Self::open_with(suite, consumer, topic, ACK_WAIT).await
    }

    pub(super) async fn open_with(
        suite: &Suite<'a>,
        consumer: &str,
        topic: &str,
        ack_wait: Duration,
    ) -> Self {
        Self::open_partition(suite, consumer, topic, &partition_of_keys(), ack_wait).await
    }

    /// Opens one partition as a member of the consumer.
    pub(super) async fn member(suite: &Suite<'a>, consumer: &str, topic: &str, partition: &str) -> Self {
        Self::open_partition(suite, consumer, topic, partition, ACK_WAIT).await
    }

    async fn open_partition(
        suite: &Suite<'a>,
        consumer: &str,
        topic: &str,
        partition: &str,
        ack_wait: Duration,
    ) -> Self {
        let config = SubscriptionConfig {
            consumer: consumer.to_owned(),
            topic: topic.to_owned(),
            partition: partition.to_owned(),
            ack_wait,
            in_flight_max: 64,
        };
        Self { rig: suite.rig, subscription: suite.rig.subscribe(&config).await }
    }

    /// The next `count` deliveries, without acks.
    pub(super) async fn take(&mut self, count: usize) -> Vec<Received> {
        self.take_raw(count).await.into_iter().map(readable).collect()
    }

    /// The next delivery, which is no event; acked.
    pub(super) async fn take_malformed(&mut self) -> Malformed {
        let delivery = self.take_raw(1).await.remove(0);
        self.rig.ack(&mut *self.subscription, &[delivery.token]).await;
        delivery.event.expect_err("what is no event came as one")
    }

    async fn take_raw(&mut self, count: usize) -> Vec<Delivery> {
        let started = Instant::now();
        let mut received = Vec::new();
        while received.len() < count {
            let came = received.len();
            assert!(started.elapsed() < PATIENCE, "{count} deliveries were due, only {came} came");
            let max = u32::try_from(count - came).expect("a suite takes few at a time");
            match self.subscription.next(max, Duration::from_millis(200)).await {
                Ok(deliveries) => received.extend(deliveries),
                Err(error) => {
                    assert!(error.is_transient(), "receiving failed for good: {error:?}");
                    tokio::time::sleep(TRY_PAUSE).await;
                }
            }
        }
        received
    }

    /// Waits once for deliveries, at the longest a second; an error must be one that passes.
    pub(super) async fn try_once(&mut self) {
        if let Err(error) = self.subscription.next(1, Duration::from_secs(1)).await {
            assert!(error.is_transient(), "receiving failed for good: {error:?}");
        }
    }

    pub(super) fn has_come_to_new(&self) -> bool {
        self.subscription.has_come_to_new()
    }

    pub(super) fn delivery_count(&self, received: &Received) -> Option<u32> {
        self.subscription.delivery_count(&received.token)
    }

    /// The next `count` deliveries, each batch acked.
    pub(super) async fn take_and_ack(&mut self, count: usize) -> Vec<Received> {
        let mut all = Vec::new();
        while all.len() < count {
            let received = self.take(1).await;
            self.ack(&received).await;
            all.extend(received);
        }
        all
    }

    /// Takes and acks until each of these events came at least once; returns all that came, in order.
    pub(super) async fn take_until_seen(&mut self, wanted: &[NewEvent]) -> Vec<Received> {
        let mut all: Vec<Received> = Vec::new();
        while !wanted.iter().all(|wanted| all.iter().any(|received| received.event.id == wanted.id)) {
            let received = self.take(1).await;
            self.ack(&received).await;
            all.extend(received);
        }
        all
    }

    pub(super) async fn ack(&mut self, received: &[Received]) {
        let tokens: Vec<_> = received.iter().map(|received| received.token).collect();
        self.rig.ack(&mut *self.subscription, &tokens).await;
    }

    /// Acks again what was acked before.
    pub(super) async fn ack_late(&mut self, received: &[Received]) {
        let tokens: Vec<_> = received.iter().map(|received| received.token).collect();
        self.subscription.ack(&tokens).await.expect("the broker takes a late ack");
    }

    /// Ends as a process does that hands its partition on.
    pub(super) async fn close(mut self) {
        self.subscription.flush().await.expect("the broker can be reached");
    }

    pub(super) async fn nack(&mut self, received: &Received, delay: Duration) {
        self.subscription.nack(&received.token, delay).await.expect("the broker takes a nack");
    }

    /// Asserts that nothing comes for a while.
    pub(super) async fn assert_silent(&mut self) {
        let deliveries = self.subscription.next(10, SILENCE).await.expect("the broker can be reached");
        assert!(deliveries.is_empty(), "nothing was due, yet this came: {deliveries:?}");
    }
}

pub(super) fn ids(received: &[Received]) -> Vec<EventId> {
    received.iter().map(|received| received.event.id).collect()
}

pub(super) fn ids_of(events: &[NewEvent]) -> Vec<EventId> {
    events.iter().map(|event| event.id).collect()
}

fn readable(delivery: Delivery) -> Received {
    match delivery.event {
        Ok(envelope) => Received { token: delivery.token, event: envelope.event },
        Err(malformed) => panic!("an event of the suite came malformed: {}", malformed.problem),
    }
}
