//! The rules of a subscription.

use super::{
    Suite, event, keys, pad,
    reader::{Reader, ids, ids_of},
};
use crate::envelope::{EventId, NewEvent, Twin};
use std::time::Duration;

/// The largest payload that is tried where the broker declares no limit, and the room that is left for headers where it
/// does.
const PAYLOAD_MAX: usize = 1024 * 1024;
const HEADERS_MAX: usize = 4 * 1024;

pub(super) async fn run(suite: &Suite<'_>) {
    headers_and_payload_arrive_byte_for_byte(suite).await;
    payloads_of_every_size_arrive(suite).await;
    what_is_no_event_is_malformed_and_keeps_its_bytes(suite).await;
    if suite.rig.capabilities().ordered {
        one_keys_events_come_in_order(suite).await;
    } else {
        suite.cannot("the events of one key come in order, also after a nack", "it does not declare so");
    }
    if suite.rig.redelivers_while_open() {
        if suite.rig.capabilities().ordered {
            a_nacked_event_comes_again_before_later_ones_of_its_key(suite).await;
        }
        an_event_without_ack_comes_again(suite).await;
    } else {
        suite.cannot(
            "a nacked event, or one without an ack, comes again",
            "it delivers again to the next subscription only",
        );
    }
    a_delay_outlives_its_consumer(suite).await;
    deliveries_are_counted(suite).await;
    the_end_of_what_others_had_is_not_told_too_early(suite).await;
    acked_events_do_not_come_again(suite).await;
}

async fn headers_and_payload_arrive_byte_for_byte(suite: &Suite<'_>) {
    suite.rule("headers and payload arrive byte for byte");
    let (topic, keys) = (suite.topic_of("bytes").await, keys(1));
    let mut sent = event(&topic, &keys[0], 1);
    sent.payload = r#"{"eventType":"conformance.happened","eventVersion":1,"a": 1.50,"b":"é\u0041 \"q\" 😀","c":12345678901234567890,"a":null}"#.to_owned();
    sent.headers.insert("plain".to_owned(), "value".to_owned());
    sent.headers.insert("odd".to_owned(), " 50% \"é\" 😀, a=b; c ".to_owned());
    sent.headers.insert("empty".to_owned(), String::new());
    sent.traceparent = Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned());
    sent.tracestate = Some("a=1,b=2".to_owned());
    sent.twin = Some(Twin { id: EventId::now(), version: 2 });
    suite.rig.put(std::slice::from_ref(&sent)).await;

    let mut reader = Reader::open(suite, "bytes", &topic).await;
    let received = reader.take_and_ack(1).await;
    assert_eq!(received[0].event, sent);
}

async fn payloads_of_every_size_arrive(suite: &Suite<'_>) {
    suite.rule("payloads of every size arrive whole, up to the largest");
    let (topic, keys) = (suite.topic_of("sizes").await, keys(1));
    let most = suite.rig.capabilities().bytes_max.map_or(PAYLOAD_MAX, |max| max - HEADERS_MAX);
    let sizes = [0, 127, 128, 4_095, 4_096, 16_383, 65_535, 65_536, 262_144, most];
    let mut events = Vec::new();
    for (number, size) in (0..).zip(sizes.into_iter().filter(|size| *size <= most)) {
        let mut event = event(&topic, &keys[0], number);
        pad(&mut event, size);
        events.push(event);
    }
    suite.rig.put(&events).await;
    let mut reader = Reader::open(suite, "sizes", &topic).await;
    for (sent, came) in events.iter().zip(reader.take_and_ack(events.len()).await) {
        // Not by `assert_eq`, which would print a megabyte.
        assert!(came.event == *sent, "a payload of {} bytes came otherwise", sent.payload.len());
    }
}

async fn what_is_no_event_is_malformed_and_keeps_its_bytes(suite: &Suite<'_>) {
    const RULE: &str = "a message that is no event comes as malformed with its bytes, and the next one flows";
    if suite.rig.broker().is_none() {
        return suite.cannot(RULE, "only events reach it");
    }
    suite.rule(RULE);
    let (topic, keys) = (suite.topic_of("foreign").await, keys(1));
    let bodies = ["", "null", "[]", "{}", "\u{feff}{}", "plain text \u{1}"];
    let mut foreign: Vec<NewEvent> = bodies.iter().map(|_| event(&topic, &keys[0], 0)).collect();
    foreign.iter_mut().zip(bodies).for_each(|(event, body)| event.payload = body.to_owned());
    let good = event(&topic, &keys[0], 1);
    suite.rig.put(&foreign).await;
    suite.rig.put(std::slice::from_ref(&good)).await;

    let mut reader = Reader::open(suite, "foreign", &topic).await;
    for body in bodies {
        let malformed = reader.take_malformed().await;
        assert_eq!(malformed.envelope.payload, body, "{}", malformed.problem);
    }
    assert_eq!(ids(&reader.take_and_ack(1).await), [good.id]);
}

async fn one_keys_events_come_in_order(suite: &Suite<'_>) {
    suite.rule("the events of one key come in order");
    let (topic, keys) = (suite.topic_of("order.reader").await, keys(5));
    let events: Vec<_> = (0..200).map(|number| event(&topic, &keys[number as usize % 5], number)).collect();
    suite.rig.put(&events).await;

    let mut reader = Reader::open(suite, "order.reader", &topic).await;
    let received = reader.take_and_ack(events.len()).await;
    for key in &keys {
        let is_of_key = |event: &&NewEvent| event.key.as_ref() == Some(key);
        let sent: Vec<_> = events.iter().filter(is_of_key).map(|event| event.id).collect();
        let came: Vec<_> =
            received.iter().map(|received| &received.event).filter(is_of_key).map(|event| event.id).collect();
        assert_eq!(came, sent, "key {key}");
    }
}

async fn a_nacked_event_comes_again_before_later_ones_of_its_key(suite: &Suite<'_>) {
    suite.rule("a nacked event comes again after its delay, before later ones of its key; other keys flow");
    let (topic, keys) = (suite.topic_of("nacks").await, keys(2));
    let first = event(&topic, &keys[0], 0);
    suite.rig.put(std::slice::from_ref(&first)).await;
    let mut reader = Reader::open(suite, "nacks", &topic).await;
    let received = reader.take(1).await;

    reader.nack(&received[0], Duration::from_secs(3)).await;
    let later = [event(&topic, &keys[0], 1), event(&topic, &keys[1], 2)];
    suite.rig.put(&later).await;

    let received = reader.take_and_ack(3).await;
    assert_eq!(ids(&received), [later[1].id, first.id, later[0].id]);
}

async fn an_event_without_ack_comes_again(suite: &Suite<'_>) {
    suite.rule("an event without an ack comes again after the ack wait");
    let (topic, keys) = (suite.topic_of("forgetful").await, keys(1));
    let events = [event(&topic, &keys[0], 0)];
    suite.rig.put(&events).await;
    let mut reader = Reader::open_with(suite, "forgetful", &topic, Duration::from_secs(1)).await;
    assert_eq!(ids(&reader.take(1).await), ids_of(&events));
    assert_eq!(ids(&reader.take(1).await), ids_of(&events));
}

async fn a_delay_outlives_its_consumer(suite: &Suite<'_>) {
    const RULE: &str = "a nacked event waits for its delay though its consumer crashes";
    if !suite.rig.capabilities().delayed {
        return suite.cannot(RULE, "it does not declare so");
    }
    suite.rule(RULE);
    let (topic, keys) = (suite.topic_of("delay").await, keys(1));
    let events = [event(&topic, &keys[0], 0)];
    suite.rig.put(&events).await;
    let mut reader = Reader::open(suite, "delay", &topic).await;
    let received = reader.take(1).await;
    reader.nack(&received[0], Duration::from_secs(5)).await;
    drop(reader);
    let mut reader = Reader::open(suite, "delay", &topic).await;
    reader.assert_silent().await;
    assert_eq!(ids(&reader.take_and_ack(1).await), ids_of(&events));
}

async fn deliveries_are_counted(suite: &Suite<'_>) {
    const RULE: &str = "a delivery tells how often it was delivered";
    if !suite.rig.capabilities().delivery_count {
        return suite.cannot(RULE, "it does not declare so; attempts are counted in the consumer's database");
    }
    suite.rule(RULE);
    let (topic, keys) = (suite.topic_of("counts").await, keys(1));
    suite.rig.put(&[event(&topic, &keys[0], 0)]).await;
    for count in 1..=3 {
        let mut reader = Reader::open(suite, "counts", &topic).await;
        let received = reader.take(1).await;
        assert_eq!(reader.delivery_count(&received[0]), Some(count));
    }
}

async fn the_end_of_what_others_had_is_not_told_too_early(suite: &Suite<'_>) {
    const RULE: &str = "a subscription says that it has come to new events when it has given what another had, and not before";
    let (topic, keys) = (suite.topic_of("new").await, keys(1));
    let events: Vec<_> = (0..3).map(|number| event(&topic, &keys[0], number)).collect();
    suite.rig.put(&events).await;
    let mut reader = Reader::open(suite, "new", &topic).await;
    reader.take(events.len()).await;
    drop(reader);
    let mut reader = Reader::open(suite, "new", &topic).await;
    for _ in &events {
        assert!(!reader.has_come_to_new());
        reader.take(1).await;
    }
    reader.try_once().await;
    match reader.has_come_to_new() {
        true => suite.rule(RULE),
        false => suite
            .cannot(RULE, "it never says so; after a crash so many events are suspect as may be in memory"),
    }
}

async fn acked_events_do_not_come_again(suite: &Suite<'_>) {
    suite.rule("acked events do not come again, and a repeated ack does no harm");
    let (topic, keys) = (suite.topic_of("acks").await, keys(1));
    let events: Vec<_> = (0..3).map(|number| event(&topic, &keys[0], number)).collect();
    suite.rig.put(&events).await;
    let mut reader = Reader::open_with(suite, "acks", &topic, Duration::from_secs(1)).await;
    let received = reader.take_and_ack(3).await;
    reader.ack_late(&received).await;
    reader.assert_silent().await;
    reader.close().await;
    let mut reader = Reader::open_with(suite, "acks", &topic, Duration::from_secs(1)).await;
    reader.assert_silent().await;
}
