//! Events and subscriptions as the tests of one broker need them.

use outbox::OnPoison;
use outbox::broker::{Broker, BrokerError, Outgoing, Published, Subscription, SubscriptionConfig};
use outbox::envelope::{Envelope, EventId, NewEvent, Seq};
use std::time::{Duration, Instant};
use time::OffsetDateTime;

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

pub(crate) async fn publish(broker: &dyn Broker, event: &NewEvent) -> Result<Published, BrokerError> {
    let envelope = Envelope {
        seq: Seq(Seq::ORIGIN.0 + 1),
        occurred_at: OffsetDateTime::now_utc(),
        event: event.clone(),
    };
    let outgoing = [Outgoing { envelope: &envelope, message_id: event.id.0 }];
    Ok(broker.publish(&outgoing).await?.remove(0))
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
