//! The rules of the publishing half.

use super::{
    Suite, envelope, event, keys, pad, publish,
    reader::{Reader, ids, ids_of},
};
use crate::{
    broker::{Broker, BrokerError, Outgoing, Published},
    envelope::NewEvent,
};
use uuid::Uuid;

pub(super) async fn run(suite: &Suite<'_>, broker: &dyn Broker) {
    let capabilities = broker.capabilities();
    match capabilities.bytes_max {
        Some(max) => {
            a_refused_event_fails_alone(suite, broker, max).await;
            headers_count_to_the_byte(suite, broker, max).await;
        }
        None => suite.cannot("an event that is too large is refused", "it declares no limit"),
    }
    if capabilities.dedup_window.is_zero() {
        suite.cannot(
            "a second copy of one message id is dropped",
            "it declares no window; the inbox drops it",
        );
    } else {
        a_second_copy_is_dropped_and_reported(suite, broker).await;
    }
    if capabilities.ordered_pipeline {
        several_of_one_key_in_flight_keep_their_order(suite, broker).await;
    } else {
        suite.cannot("several events of one key in flight keep their order", "it does not declare so");
    }
    nothing_is_confirmed_that_nobody_would_get(suite, broker).await;
    nothing_is_confirmed_that_has_no_place(suite, broker).await;
}

async fn a_refused_event_fails_alone(suite: &Suite<'_>, broker: &dyn Broker, max: usize) {
    suite.rule("an event that is too large is refused for good and fails no other of its batch");
    let (topic, keys) = (suite.topic_of("small").await, keys(3));
    let mut large = event(&topic, &keys[1], 1);
    pad(&mut large, max);
    let events = [event(&topic, &keys[0], 0), large, event(&topic, &keys[2], 2)];

    let published = publish(broker, &events).await;

    assert!(matches!(published[0], Published::Confirmed { duplicate: false }), "{published:?}");
    let is_too_large =
        |error: &BrokerError| matches!(error, BrokerError::TooLarge { .. }) && !error.is_transient();
    assert!(matches!(&published[1], Published::Refused(error) if is_too_large(error)), "{published:?}");
    assert!(matches!(published[2], Published::Confirmed { duplicate: false }), "{published:?}");
    let mut reader = Reader::open(suite, "small", &topic).await;
    assert_eq!(ids(&reader.take_and_ack(2).await), [events[0].id, events[2].id]);
}

async fn headers_count_to_the_byte(suite: &Suite<'_>, broker: &dyn Broker, max: usize) {
    suite.rule("an event of exactly the largest size passes, one byte more is refused");
    let (topic, keys) = (suite.topic_of("exact").await, keys(1));
    let mut over = event(&topic, &keys[0], 0);
    pad(&mut over, max);
    let payload_len = over.payload.len();
    let published = publish(broker, &[over]).await;
    let [Published::Refused(BrokerError::TooLarge { size, .. })] = published[..] else {
        panic!("an event over the limit was not refused: {published:?}");
    };
    assert!(size > payload_len, "the headers were not counted");

    let mut exact = event(&topic, &keys[0], 1);
    pad(&mut exact, payload_len - (size - max));
    let mut one_more = event(&topic, &keys[0], 2);
    pad(&mut one_more, exact.payload.len() + 1);
    let confirmed = publish(broker, &[exact]).await;
    assert!(matches!(confirmed[0], Published::Confirmed { .. }), "{confirmed:?}");
    let refused = publish(broker, &[one_more]).await;
    assert!(matches!(refused[0], Published::Refused(BrokerError::TooLarge { .. })), "{refused:?}");
}

async fn a_second_copy_is_dropped_and_reported(suite: &Suite<'_>, broker: &dyn Broker) {
    suite.rule("a second copy of one message id is dropped and reported, one with a fresh id is not");
    let (topic, keys) = (suite.topic_of("copies").await, keys(1));
    let event = event(&topic, &keys[0], 0);
    let envelope = envelope(&event, 0);
    let mut outcomes = Vec::new();
    for message_id in [event.id.0, event.id.0, Uuid::new_v4()] {
        let outgoing = [Outgoing { envelope: &envelope, message_id }];
        outcomes.extend(broker.publish(&outgoing).await.expect("the broker can be reached"));
    }
    let duplicates: Vec<_> =
        outcomes.iter().map(|outcome| matches!(outcome, Published::Confirmed { duplicate: true })).collect();
    assert_eq!(duplicates, [false, true, false], "{outcomes:?}");
    let mut reader = Reader::open(suite, "copies", &topic).await;
    assert_eq!(ids(&reader.take_and_ack(2).await), [event.id, event.id]);
    reader.assert_silent().await;
}

async fn several_of_one_key_in_flight_keep_their_order(suite: &Suite<'_>, broker: &dyn Broker) {
    suite.rule("several events of one key in flight keep their order, though one of them is refused");
    let (topic, keys) = (suite.topic_of("pipeline").await, keys(1));
    let mut events: Vec<NewEvent> = (0..100).map(|number| event(&topic, &keys[0], number)).collect();
    if let Some(max) = broker.capabilities().bytes_max {
        pad(&mut events[50], max);
    }
    let published = publish(broker, &events).await;
    let confirmed: Vec<NewEvent> = (events.into_iter().zip(&published))
        .filter(|(_, outcome)| matches!(outcome, Published::Confirmed { .. }))
        .map(|(event, _)| event)
        .collect();
    assert!(confirmed.len() >= 50, "{published:?}");
    let mut reader = Reader::open(suite, "pipeline", &topic).await;
    assert_eq!(ids(&reader.take_and_ack(confirmed.len()).await), ids_of(&confirmed));
}

async fn nothing_is_confirmed_that_nobody_would_get(suite: &Suite<'_>, broker: &dyn Broker) {
    const RULE: &str = "what no consumer would get is no success, and fails no other event of its batch";
    if suite.rig.capabilities().replayable {
        return suite.cannot(RULE, "a later consumer gets it");
    }
    suite.rule(RULE);
    let (topic, keys) = (suite.topic_of("somebody").await, keys(4));
    let nobodys = suite.rig.fresh_topic();
    let topics = [&topic, &nobodys, &topic, &nobodys];
    let events: Vec<_> =
        (0..).zip(topics.iter().zip(&keys)).map(|(number, (topic, key))| event(topic, key, number)).collect();

    let published = publish(broker, &events).await;

    let is_confirmed = |outcome: &Published| matches!(outcome, Published::Confirmed { .. });
    assert_eq!(
        published.iter().map(is_confirmed).collect::<Vec<_>>(),
        [true, false, true, false],
        "{published:?}"
    );
    assert!(published.iter().all(|outcome| !matches!(outcome, Published::Refused(_))), "{published:?}");
    suite.introduce("late", &nobodys).await;
    super::publish_until_confirmed(broker, &events[1..2]).await;
    let mut reader = Reader::open(suite, "late", &nobodys).await;
    assert_eq!(ids(&reader.take_and_ack(1).await), [events[1].id]);
}

async fn nothing_is_confirmed_that_has_no_place(suite: &Suite<'_>, broker: &dyn Broker) {
    const RULE: &str = "what is published to a topic that somebody removed is a failure, or is delivered";
    let (topic, keys) = (suite.topic_of("place").await, keys(1));
    let events = [event(&topic, &keys[0], 0), event(&topic, &keys[0], 1)];
    super::publish_until_confirmed(broker, &events[..1]).await;
    if !suite.rig.remove_topic(&topic).await {
        return suite.cannot(RULE, "the rig removes no topic");
    }
    suite.rule(RULE);
    suite.introduce("place", &topic).await;
    // As a relay, which tries until it is confirmed.
    super::publish_until_confirmed(broker, &events[1..]).await;
    let mut reader = Reader::open(suite, "place", &topic).await;
    assert_eq!(ids(&reader.take_and_ack(1).await), ids_of(&events[1..]));
}
