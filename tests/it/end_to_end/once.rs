//! Whatever is delivered more than once has one effect.

use super::{Scene, assert_once_and_in_order, wait_for_end};
use outbox::broker::{Outgoing, Published};
use outbox::envelope::{Envelope, EventId, NewEvent, Seq};
use outbox::{Event, OnPoison};
use outbox_tests::on_each_store;
use outbox_tests::world::{Heard, TestStore, eventually, noted};
use time::OffsetDateTime;

on_each_store! {
    a_consumer_killed_before_each_of_its_acks_has_each_effect_once,
    what_a_killed_relay_had_published_is_dropped_by_the_broker,
    what_a_killed_relay_had_published_long_ago_is_dropped_by_the_inbox,
    copies_that_are_handled_at_once_have_one_effect,
}

async fn a_consumer_killed_before_each_of_its_acks_has_each_effect_once<S: TestStore>() {
    let Some(scene) = Scene::<S>::start().await else { return };
    repeat_what_was_never_acked(scene).await;
}

pub(super) async fn repeat_what_was_never_acked<S: TestStore>(scene: Scene<S>) {
    let world = &scene.world;
    let relay = scene.relay().await;
    world.enqueue_each((0..60).map(|n| noted(&format!("key-{}", n % 7), n))).await;

    // No ack of these ever leaves them, so all that they committed is delivered again.
    for _ in 0..3 {
        let before = world.outbox.store().effect_count().await;
        wait_for_end(&mut scene.act("consume", &["--die-at-ack"])).await;
        let after = world.outbox.store().effect_count().await;
        assert!(before < 60, "it was killed with work left");
        assert!(after >= before, "an effect is gone");
    }
    assert!(world.outbox.store().effect_count().await > 0, "none of them committed anything");
    let consumer = scene.consume().await;

    eventually("all is handled", async || world.outbox.store().effect_count().await >= 60).await;
    world.enqueue_each([noted("key-0", 60)]).await;
    let effects = world.effects_of(61).await;
    assert_once_and_in_order(&effects, 61);
    consumer.stop().await.unwrap();
    relay.stop().await.unwrap();
}

async fn what_a_killed_relay_had_published_is_dropped_by_the_broker<S: TestStore>() {
    let Some(scene) = Scene::<S>::start().await else { return };
    let world = &scene.world;
    world.enqueue_each((0..60).map(|n| noted(&format!("key-{}", n % 7), n))).await;
    let consumer = scene.consume().await;

    for batches in ["1", "3"] {
        wait_for_end(&mut scene.act("relay", &["--die-after", batches])).await;
    }
    assert_eq!(world.relay_lag().await, 60, "no settle told of what was published");
    let relay = scene.relay().await;

    assert_once_and_in_order(&world.effects_of(60).await, 60);
    assert_eq!(scene.messages().await, 60, "the broker knows each event by its id");
    consumer.stop().await.unwrap();
    relay.stop().await.unwrap();
}

async fn what_a_killed_relay_had_published_long_ago_is_dropped_by_the_inbox<S: TestStore>() {
    let Some(scene) = Scene::<S>::start().await else { return };
    let world = &scene.world;
    world.enqueue_each((0..60).map(|n| noted(&format!("key-{}", n % 7), n))).await;

    // The take-over alone takes longer than this broker remembers ids.
    for batches in ["1", "3"] {
        wait_for_end(&mut scene.act("relay", &["--die-after", batches, "--dedup-ms", "100"])).await;
    }
    let relay = scene.relay().await;
    let consumer = scene.consume().await;

    let effects = world.effects_of(60).await;
    eventually("the log is settled", async || world.relay_lag().await == 0).await;
    let messages = scene.messages().await;
    assert!(messages > 60 + 20, "only {messages} messages: nothing was published twice");
    world.enqueue_each([noted("key-0", 60)]).await;
    assert_once_and_in_order(&world.effects_of(61).await, 61);
    assert_eq!(effects.len(), 60);
    consumer.stop().await.unwrap();
    relay.stop().await.unwrap();
}

async fn copies_that_are_handled_at_once_have_one_effect<S: TestStore>() {
    let Some(scene) = Scene::<S>::start().await else { return };
    let broker = scene.broker();
    // Without a key nothing keeps two copies of an event apart but its row in the inbox.
    let events: Vec<Envelope> = (0..25).map(heard).collect();
    for envelope in &events {
        let copies: Vec<Outgoing<'_>> =
            (0..6).map(|_| Outgoing { envelope, message_id: uuid::Uuid::new_v4() }).collect();
        let published = broker.publish(&copies).await.unwrap();
        assert!(published.iter().all(|copy| matches!(copy, Published::Confirmed { duplicate: false })));
    }
    assert_eq!(scene.messages().await, 150);

    let consumer = scene.world.spreader().consume_from(scene.broker()).start().await.unwrap();

    // When the last in line has its effect and the work in flight has ended, every copy was handled.
    scene.world.effects_of(25).await;
    broker.publish(&[Outgoing { envelope: &heard(25), message_id: uuid::Uuid::new_v4() }]).await.unwrap();
    scene.world.effects_of(26).await;
    consumer.stop().await.unwrap();
    let mut effects = scene.world.outbox.store().effects().await;
    effects.sort();
    assert_once_and_in_order(&effects, 26);
    assert_eq!(scene.world.calls.count(), 26, "a copy waits for the first one's commit");
}

fn heard(n: i64) -> Envelope {
    Envelope {
        seq: Seq(Seq::ORIGIN.0 + n),
        occurred_at: OffsetDateTime::now_utc(),
        event: NewEvent {
            id: EventId::now(),
            source: "/elsewhere".to_owned(),
            topic: "world".to_owned(),
            key: None,
            event_type: Heard::TYPE.to_owned(),
            event_version: Heard::VERSION,
            payload: format!(r#"{{"eventType":"world.heard","eventVersion":1,"n":{n}}}"#),
            dataschema: "urn:outbox:world.heard:1".to_owned(),
            headers: [].into(),
            traceparent: None,
            tracestate: None,
            twin: None,
            on_poison: OnPoison::Skip,
        },
    }
}
