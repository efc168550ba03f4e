//! The rules of the publishing half.

use super::{
    Rig, Server, checking, event, keys, left_out,
    reader::{Reader, ids},
};
use crate::{
    broker::{Broker, BrokerError, Outgoing, Published},
    envelope::{Envelope, NewEvent, Seq},
};
use std::time::{Duration, Instant};
use time::OffsetDateTime;
use uuid::Uuid;

/// How long a broker may take to be reached again after its server came back.
const PATIENCE: Duration = Duration::from_secs(30);

pub(super) async fn run(rig: &dyn Rig, broker: &dyn Broker) {
    broker.connect().await.expect("the broker of the rig can be reached");
    let capabilities = broker.capabilities();
    match capabilities.bytes_max {
        Some(max) => {
            a_refused_event_fails_alone(rig, broker, max).await;
            headers_count_to_the_byte(rig, broker, max).await;
        }
        None => left_out(rig, "size limit", "it declares none"),
    }
    if capabilities.dedup_window.is_zero() {
        left_out(rig, "dedup", "it declares no window");
    } else {
        a_second_copy_is_dropped_and_reported(rig, broker).await;
    }
    match rig.server() {
        Some(server) => {
            confirmed_is_durable(rig, broker, server).await;
            an_unreachable_server_is_transient_and_comes_back(rig, broker, server).await;
        }
        None => left_out(rig, "server restart", "there is no server to kill"),
    }
}

async fn a_refused_event_fails_alone(rig: &dyn Rig, broker: &dyn Broker, max: usize) {
    checking(rig, "an event that is too large is refused for good and fails no other of its batch");
    let (topic, keys) = (rig.fresh_topic(), keys(3));
    let mut large = event(&topic, &keys[1], 1);
    pad(&mut large, max);
    let events = [event(&topic, &keys[0], 0), large, event(&topic, &keys[2], 2)];

    let published = publish(broker, &events).await;

    assert!(matches!(published[0], Published::Confirmed { duplicate: false }), "{published:?}");
    let is_too_large =
        |error: &BrokerError| matches!(error, BrokerError::TooLarge { .. }) && !error.is_transient();
    assert!(matches!(&published[1], Published::Refused(error) if is_too_large(error)), "{published:?}");
    assert!(matches!(published[2], Published::Confirmed { duplicate: false }), "{published:?}");
    let mut reader = Reader::open(rig, "small", &topic).await;
    assert_eq!(ids(&reader.take_and_ack(2).await), [events[0].id, events[2].id]);
}

async fn headers_count_to_the_byte(rig: &dyn Rig, broker: &dyn Broker, max: usize) {
    checking(rig, "an event of exactly the largest size passes, one byte more is refused");
    let (topic, keys) = (rig.fresh_topic(), keys(1));
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

async fn a_second_copy_is_dropped_and_reported(rig: &dyn Rig, broker: &dyn Broker) {
    checking(rig, "a second copy of one message id is dropped and reported, one with a fresh id is not");
    let (topic, keys) = (rig.fresh_topic(), keys(1));
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
    let mut reader = Reader::open(rig, "copies", &topic).await;
    assert_eq!(ids(&reader.take_and_ack(2).await), [event.id, event.id]);
    reader.assert_silent().await;
}

async fn confirmed_is_durable(rig: &dyn Rig, broker: &dyn Broker, server: &dyn Server) {
    checking(rig, "what was confirmed outlives a SIGKILL of the server");
    let topic = rig.fresh_topic();
    let events: Vec<_> = keys(20).iter().map(|key| event(&topic, key, 0)).collect();

    let published = publish(broker, &events).await;
    server.kill();
    server.restart().await;

    assert!(published.iter().all(|outcome| matches!(outcome, Published::Confirmed { duplicate: false })));
    let mut reader = Reader::open(rig, "durable", &topic).await;
    reader.take_until_seen(&events).await;
}

async fn an_unreachable_server_is_transient_and_comes_back(
    rig: &dyn Rig,
    broker: &dyn Broker,
    server: &dyn Server,
) {
    checking(
        rig,
        "a server that is away is a transient failure, and the same broker goes on when it is back",
    );
    let (topic, keys) = (rig.fresh_topic(), keys(1));
    let event = event(&topic, &keys[0], 0);
    let envelope = envelope(&event, 0);
    let outgoing = [Outgoing { envelope: &envelope, message_id: event.id.0 }];
    // The rule before this one may have restarted the server just now.
    publish_when_back(broker, &outgoing).await;

    server.kill();
    match broker.publish(&outgoing).await {
        Err(error) => assert!(error.is_transient(), "{error:?}"),
        Ok(outcomes) => {
            assert!(
                matches!(&outcomes[0], Published::TryAgain(error) if error.is_transient()),
                "{outcomes:?}"
            );
        }
    }
    server.restart().await;

    publish_when_back(broker, &outgoing).await;
}

/// Publishes until the server confirms: it was started a moment ago.
async fn publish_when_back(broker: &dyn Broker, outgoing: &[Outgoing<'_>]) {
    let restarted = Instant::now();
    loop {
        match broker.publish(outgoing).await.as_deref() {
            Ok([Published::Confirmed { .. }]) => break,
            Ok([Published::Refused(error)]) => panic!("an outage became a refusal: {error:?}"),
            outcome => assert!(restarted.elapsed() < PATIENCE, "the broker did not come back: {outcome:?}"),
        }
        // A relay backs off here; without any pause the client would get no turn to connect.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn publish(broker: &dyn Broker, events: &[NewEvent]) -> Vec<Published> {
    let envelopes: Vec<_> = (0..).zip(events).map(|(number, event)| envelope(event, number)).collect();
    let outgoing: Vec<_> =
        envelopes.iter().map(|envelope| Outgoing { envelope, message_id: envelope.id.0 }).collect();
    broker.publish(&outgoing).await.expect("the broker can be reached")
}

fn envelope(event: &NewEvent, number: i64) -> Envelope {
    // One time for all: its text, which a size test counts, would not always be as long.
    let occurred_at = OffsetDateTime::UNIX_EPOCH;
    Envelope { seq: Seq(Seq::ORIGIN.0 + 1 + number), occurred_at, event: event.clone() }
}

/// Lengthens the payload to that many bytes.
fn pad(event: &mut NewEvent, bytes: usize) {
    event.payload.truncate(event.payload.len() - 1);
    let frame = r#","pad":""}"#.len();
    let fill = "x".repeat(bytes.saturating_sub(event.payload.len() + frame));
    event.payload.push_str(&format!(r#","pad":"{fill}"}}"#));
}
