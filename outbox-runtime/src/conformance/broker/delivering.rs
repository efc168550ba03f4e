//! The rules of a subscription.

use super::{
    Rig, Server, checking, event, keys, left_out,
    reader::{Reader, ids, ids_of},
};
use crate::envelope::{EventId, NewEvent, Twin};
use std::time::Duration;

pub(super) async fn run(rig: &dyn Rig) {
    headers_and_payload_arrive_byte_for_byte(rig).await;
    one_keys_events_come_in_order(rig).await;
    if rig.redelivers_while_open() {
        a_nacked_event_comes_again_before_later_ones_of_its_key(rig).await;
        an_event_without_ack_comes_again(rig).await;
    } else {
        left_out(rig, "nack and ack wait", "it delivers again to the next subscription only");
    }
    what_a_crashed_consumer_held_comes_first(rig).await;
    acked_events_do_not_come_again(rig).await;
    each_consumer_gets_every_event(rig).await;
    match rig.server() {
        Some(server) => a_subscription_outlives_its_server(rig, server).await,
        None => left_out(rig, "server restart", "there is no server to kill"),
    }
}

async fn headers_and_payload_arrive_byte_for_byte(rig: &dyn Rig) {
    checking(rig, "headers and payload arrive byte for byte");
    let (topic, keys) = (rig.fresh_topic(), keys(1));
    let mut sent = event(&topic, &keys[0], 1);
    sent.payload = r#"{"eventType":"conformance.happened","eventVersion":1,"a": 1.50,"b":"é\u0041 \"q\" 😀","c":12345678901234567890,"a":null}"#.to_owned();
    sent.headers.insert("plain".to_owned(), "value".to_owned());
    sent.headers.insert("odd".to_owned(), " 50% \"é\" 😀, a=b; c ".to_owned());
    sent.headers.insert("empty".to_owned(), String::new());
    sent.traceparent = Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned());
    sent.tracestate = Some("a=1,b=2".to_owned());
    sent.twin = Some(Twin { id: EventId::now(), version: 2 });
    rig.put(std::slice::from_ref(&sent)).await;

    let mut reader = Reader::open(rig, "bytes", &topic).await;
    let received = reader.take_and_ack(1).await;
    assert_eq!(received[0].event, sent);
}

async fn one_keys_events_come_in_order(rig: &dyn Rig) {
    checking(rig, "the events of one key come in order");
    let (topic, keys) = (rig.fresh_topic(), keys(5));
    let events: Vec<_> = (0..200).map(|number| event(&topic, &keys[number as usize % 5], number)).collect();
    rig.put(&events).await;

    let mut reader = Reader::open(rig, "order.reader", &topic).await;
    let received = reader.take_and_ack(events.len()).await;
    for key in &keys {
        let is_of_key = |event: &&NewEvent| event.key.as_ref() == Some(key);
        let sent: Vec<_> = events.iter().filter(is_of_key).map(|event| event.id).collect();
        let came: Vec<_> =
            received.iter().map(|received| &received.event).filter(is_of_key).map(|event| event.id).collect();
        assert_eq!(came, sent, "key {key}");
    }
}

async fn a_nacked_event_comes_again_before_later_ones_of_its_key(rig: &dyn Rig) {
    checking(
        rig,
        "a nacked event comes again after its delay, before later ones of its key; other keys flow",
    );
    let (topic, keys) = (rig.fresh_topic(), keys(2));
    let first = event(&topic, &keys[0], 0);
    rig.put(std::slice::from_ref(&first)).await;
    let mut reader = Reader::open(rig, "nacks", &topic).await;
    let received = reader.take(1).await;

    reader.nack(&received[0], Duration::from_secs(3)).await;
    let later = [event(&topic, &keys[0], 1), event(&topic, &keys[1], 2)];
    rig.put(&later).await;

    let received = reader.take_and_ack(3).await;
    assert_eq!(ids(&received), [later[1].id, first.id, later[0].id]);
}

async fn an_event_without_ack_comes_again(rig: &dyn Rig) {
    checking(rig, "an event without an ack comes again after the ack wait");
    let (topic, keys) = (rig.fresh_topic(), keys(1));
    let events = [event(&topic, &keys[0], 0)];
    rig.put(&events).await;
    let mut reader = Reader::open_with(rig, "forgetful", &topic, Duration::from_secs(1)).await;
    assert_eq!(ids(&reader.take(1).await), ids_of(&events));
    assert_eq!(ids(&reader.take(1).await), ids_of(&events));
}

async fn what_a_crashed_consumer_held_comes_first(rig: &dyn Rig) {
    checking(rig, "what a crashed consumer held comes again, before newer events of its key");
    let (topic, keys) = (rig.fresh_topic(), keys(2));
    let events: Vec<_> = (0..20).map(|number| event(&topic, &keys[number as usize % 2], number)).collect();
    rig.put(&events).await;
    let mut crashed = Reader::open(rig, "crash", &topic).await;
    let held = crashed.take(8).await;
    crashed.ack(&held[..3]).await;
    drop(crashed);
    let newer = [event(&topic, &keys[0], 20), event(&topic, &keys[1], 21)];
    rig.put(&newer).await;

    let missing: Vec<_> = events[3..].iter().chain(&newer).cloned().collect();
    let mut next = Reader::open(rig, "crash", &topic).await;
    let received = next.take_until_seen(&missing).await;
    // An ack may be lost with its process; what comes again may then be more than what had none.
    let repeated = received.len() - missing.len();
    assert!(repeated <= 3, "{repeated} acked events came again");
    assert_eq!(ids(&received[repeated..]), ids_of(&missing));
}

async fn acked_events_do_not_come_again(rig: &dyn Rig) {
    checking(rig, "acked events do not come again, and a repeated ack does no harm");
    let (topic, keys) = (rig.fresh_topic(), keys(1));
    let events: Vec<_> = (0..3).map(|number| event(&topic, &keys[0], number)).collect();
    rig.put(&events).await;
    let mut reader = Reader::open_with(rig, "acks", &topic, Duration::from_secs(1)).await;
    let received = reader.take_and_ack(3).await;
    reader.ack_late(&received).await;
    reader.assert_silent().await;
    reader.close().await;
    let mut reader = Reader::open_with(rig, "acks", &topic, Duration::from_secs(1)).await;
    reader.assert_silent().await;
}

async fn each_consumer_gets_every_event(rig: &dyn Rig) {
    checking(rig, "each of two consumers gets every event");
    let (topic, keys) = (rig.fresh_topic(), keys(1));
    let events: Vec<_> = (0..10).map(|number| event(&topic, &keys[0], number)).collect();
    rig.put(&events).await;
    let mut one = Reader::open(rig, "billing.charge", &topic).await;
    let mut other = Reader::open(rig, "billing.report", &topic).await;
    assert_eq!(ids(&one.take_and_ack(10).await), ids_of(&events));
    assert_eq!(ids(&other.take_and_ack(10).await), ids_of(&events));
}

async fn a_subscription_outlives_its_server(rig: &dyn Rig, server: &dyn Server) {
    checking(rig, "an open subscription goes on, in order, when its killed server is back");
    let (topic, keys) = (rig.fresh_topic(), keys(1));
    let events: Vec<_> = (0..20).map(|number| event(&topic, &keys[0], number)).collect();
    rig.put(&events).await;
    let mut reader = Reader::open(rig, "patient", &topic).await;
    let before = reader.take_and_ack(5).await;
    let held = reader.take(5).await;

    server.kill();
    server.restart().await;

    // What was held may come again; what comes for the first time comes in order.
    let mut first_times = ids(&before);
    for received in held.into_iter().chain(reader.take_until_seen(&events[10..]).await) {
        if !first_times.contains(&received.event.id) {
            first_times.push(received.event.id);
        }
    }
    assert_eq!(first_times, ids_of(&events));
}
