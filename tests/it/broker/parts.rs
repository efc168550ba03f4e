//! Events and subscriptions as the tests of one broker need them.

use outbox::OnPoison;
use outbox::broker::{Broker, BrokerError, Delivery, Outgoing, Published, Subscription, SubscriptionConfig};
use outbox::envelope::{Envelope, EventId, NewEvent, Seq};
use std::time::{Duration, Instant};
use time::OffsetDateTime;

/// How long is waited for what must happen, on a busy machine too.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Receives and acks that many events; returns the ids in the order of their first delivery.
pub(crate) async fn receive(subscription: &mut dyn Subscription, count: usize) -> Vec<EventId> {
    let started = Instant::now();
    let mut ids = Vec::new();
    while ids.len() < count {
        assert!(started.elapsed() < Duration::from_secs(30), "only {ids:?} came");
        let Ok(deliveries) = subscription.next(1, Duration::from_millis(500)).await else { continue };
        for delivery in deliveries {
            let _ = subscription.ack(&[delivery.token]).await;
            let id = delivery.event.unwrap().id;
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
    }
    ids
}

/// Receives that many events though no wait comes to its end, and acks none.
pub(crate) async fn receive_in_dropped_waits(
    subscription: &mut dyn Subscription,
    count: usize,
) -> Vec<EventId> {
    let started = Instant::now();
    let mut ids = Vec::new();
    while ids.len() < count {
        assert!(started.elapsed() < Duration::from_secs(20), "only {ids:?} came");
        let wait = subscription.next(1, Duration::from_secs(5));
        let Ok(deliveries) = tokio::time::timeout(Duration::from_millis(15), wait).await else { continue };
        ids.extend(deliveries.unwrap().into_iter().map(|delivery| delivery.event.unwrap().id));
    }
    ids
}

/// Takes that many deliveries and acks none.
pub(crate) async fn take(subscription: &mut dyn Subscription, count: usize) -> Vec<Delivery> {
    let started = Instant::now();
    let mut taken = Vec::new();
    while taken.len() < count {
        assert!(started.elapsed() < PATIENCE, "only {} of {count} came", taken.len());
        let left = u32::try_from(count - taken.len()).unwrap();
        taken.extend(subscription.next(left, Duration::from_secs(1)).await.unwrap());
    }
    taken
}

pub(crate) async fn publish(broker: &dyn Broker, event: &NewEvent) -> Result<Published, BrokerError> {
    let envelope = envelope(1, event);
    let outgoing = [Outgoing { envelope: &envelope, message_id: event.id.0 }];
    Ok(broker.publish(&outgoing).await?.remove(0))
}

/// Publishes these in one batch. NATS drops none of them as a copy, however often this is done.
pub(crate) async fn publish_all(
    broker: &dyn Broker,
    events: &[NewEvent],
) -> Result<Vec<Published>, BrokerError> {
    let envelopes: Vec<_> = (1..).zip(events).map(|(number, event)| envelope(number, event)).collect();
    let outgoing: Vec<_> =
        envelopes.iter().map(|envelope| Outgoing { envelope, message_id: EventId::now().0 }).collect();
    broker.publish(&outgoing).await
}

/// Publishes so many events of the key `foobar`, one after the other.
pub(crate) async fn publish_each(broker: &dyn Broker, topic: &str, count: usize) -> Vec<NewEvent> {
    let sent: Vec<NewEvent> = (0..count).map(|_| event(topic, Some("foobar"))).collect();
    for event in &sent {
        let published = publish(broker, event).await.unwrap();
        assert!(is_confirmed(&published), "{published:?}");
    }
    sent
}

/// As a relay does, which tries again.
pub(crate) async fn publish_until_confirmed(broker: &dyn Broker, event: &NewEvent) {
    let started = Instant::now();
    while !publish(broker, event).await.is_ok_and(|published| is_confirmed(&published)) {
        assert!(started.elapsed() < PATIENCE, "it is never confirmed");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

pub(crate) fn is_confirmed(published: &Published) -> bool {
    matches!(published, Published::Confirmed { .. })
}

pub(crate) fn ids_of(events: &[NewEvent]) -> Vec<EventId> {
    events.iter().map(|event| event.id).collect()
}

fn envelope(number: i64, event: &NewEvent) -> Envelope {
    let seq = Seq(Seq::ORIGIN.0 + number);
    Envelope { seq, occurred_at: OffsetDateTime::now_utc(), event: event.clone() }
}

pub(crate) fn subscription(topic: &str, partition: &str) -> SubscriptionConfig {
    SubscriptionConfig {
        consumer: "billing.charge".to_owned(),
        topic: topic.to_owned(),
        partition: partition.to_owned(),
        ack_wait: Duration::from_secs(30),
        in_flight_max: 64,
    }
}

pub(crate) fn event(topic: &str, key: Option<&str>) -> NewEvent {
    NewEvent {
        id: EventId::now(),
        source: "/tests".to_owned(),
        topic: topic.to_owned(),
        key: key.map(str::to_owned),
        event_type: "tests.happened".to_owned(),
        event_version: 1,
        payload: r#"{"eventType":"tests.happened","eventVersion":1}"#.to_owned(),
        dataschema: "urn:outbox:tests.happened:1".to_owned(),
        headers: [].into(),
        traceparent: None,
        tracestate: None,
        twin: None,
        on_poison: OnPoison::Park,
    }
}
