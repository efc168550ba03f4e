//! What a topic holds that is no event of this consumer: ignored, held or set aside, and never in the way.

use super::{Scene, assert_once_and_in_order, wait_for_end};
use outbox::{DeadLetter, DeadLetterFilter, EventId, EventState};
use outbox_tests::on_each_store;
use outbox_tests::world::{Heard, TestStore, World, eventually, noted};
use std::time::Duration;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

on_each_store! {
    a_type_that_a_consumer_does_not_take_is_passed,
    a_newer_version_waits_with_its_key_and_costs_no_attempt,
    what_nobody_can_decode_is_set_aside_and_the_next_event_is_handled,
    what_no_database_can_keep_does_not_stop_a_consumer,
    a_dead_letter_whose_ack_was_lost_stands_once,
    what_has_the_id_of_an_event_of_another_source_is_another_event,
}

/// The headers and the payload of a well-formed note, to be spoilt.
struct Message {
    headers: Vec<(&'static str, Vec<u8>)>,
    payload: Vec<u8>,
}

impl Message {
    fn new(key: &str, n: i64) -> Self {
        let headers = [
            ("ce-specversion", "1.0".to_owned()),
            ("ce-id", EventId::now().to_string()),
            ("ce-source", "/elsewhere".to_owned()),
            ("ce-type", "world.noted".to_owned()),
            ("ce-sequence", format!("{}", 1_000_000_000_000_000_000_i64 + n)),
            ("ce-time", OffsetDateTime::now_utc().format(&Rfc3339).unwrap()),
            ("ce-dataschema", "urn:outbox:world.noted:1".to_owned()),
            ("ce-partitionkey", key.to_owned()),
        ];
        let payload = format!(
            r#"{{"eventType":"world.noted","eventVersion":1,"key":"{key}","n":{n},"plan":"Succeed"}}"#
        );
        let headers = headers.map(|(name, value)| (name, value.into_bytes()));
        Self { headers: headers.into(), payload: payload.into_bytes() }
    }

    fn id(&self) -> EventId {
        let (_, id) = self.headers.iter().find(|(name, _)| *name == "ce-id").unwrap();
        std::str::from_utf8(id).unwrap().parse().unwrap()
    }

    fn header(mut self, name: &'static str, value: impl AsRef<[u8]>) -> Self {
        self = self.without(name);
        self.headers.push((name, value.as_ref().to_vec()));
        self
    }

    fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(other, _)| *other != name);
        self
    }

    fn payload(self, payload: impl AsRef<[u8]>) -> Self {
        Self { payload: payload.as_ref().to_vec(), ..self }
    }

    async fn publish<S: TestStore>(&self, scene: &Scene<S>) {
        let lines =
            self.headers.iter().map(|(name, value)| [name.as_bytes(), b": ", value, b"\r\n"].concat());
        let headers: Vec<u8> = lines.flatten().collect();
        scene.nats().publish_raw("world.0.world.noted", &headers, &self.payload).await;
    }
}

async fn dead_letters<S: TestStore>(world: &World<S>) -> Vec<DeadLetter> {
    world.outbox.dead_letters(&DeadLetterFilter::default(), 1_000).await.unwrap()
}

async fn is_handled<S: TestStore>(world: &World<S>, key: &str, n: i64) -> bool {
    world.outbox.store().effects().await.contains(&(key.to_owned(), n))
}

async fn a_type_that_a_consumer_does_not_take_is_passed<S: TestStore>() {
    let Some(scene) = Scene::<S>::start().await else { return };
    let world = &scene.world;
    let (relay, consumer) = (scene.relay().await, scene.consume().await);

    // The consumer that notes hears nothing of what is heard.
    let mut tx = world.outbox.begin().await.unwrap();
    for n in 0..20 {
        world.outbox.enqueue(&mut tx, &Heard { n }).await.unwrap();
    }
    world.outbox.enqueue(&mut tx, &noted("a", 0)).await.unwrap();
    tx.commit().await.unwrap();

    assert_eq!(world.effects_of(1).await, [("a".to_owned(), 0)]);
    consumer.stop().await.unwrap();
    relay.stop().await.unwrap();
    assert!(dead_letters(world).await.is_empty());
    let status = world.outbox.store().status().await.unwrap();
    assert!(status.iter().all(|stage| (stage.held, stage.waiting_keys) == (0, 0)), "{status:?}");
}

/// R08, G4: an event is known by its source and its id together.
async fn what_has_the_id_of_an_event_of_another_source_is_another_event<S: TestStore>() {
    let Some(scene) = Scene::<S>::start().await else { return };
    let world = &scene.world;
    let consumer = scene.consume().await;
    let first = Message::new("a", 0);
    let id = first.id().to_string();

    first.publish(&scene).await;
    world.effects_of(1).await;
    Message::new("b", 1).header("ce-id", &id).header("ce-source", "/yet-elsewhere").publish(&scene).await;
    Message::new("c", 2).header("ce-id", &id).publish(&scene).await;
    Message::new("d", 3).without("ce-id").publish(&scene).await;
    Message::new("e", 4).publish(&scene).await;

    let mut effects = world.effects_of(3).await;
    effects.sort();
    assert_eq!(effects, [("a".to_owned(), 0), ("b".to_owned(), 1), ("e".to_owned(), 4)]);
    eventually("the one without an id is set aside", async || dead_letters(world).await.len() == 1).await;
    consumer.stop().await.unwrap();
}

async fn a_newer_version_waits_with_its_key_and_costs_no_attempt<S: TestStore>() {
    let Some(scene) = Scene::<S>::start().await else { return };
    let world = &scene.world;
    let consumer = scene.consume().await;

    let newer =
        Message::new("a", 0).payload(r#"{"eventType":"world.noted","eventVersion":2,"key":"a","number":0}"#);
    let behind = Message::new("a", 1);
    newer.publish(&scene).await;
    behind.publish(&scene).await;
    Message::new("b", 2).publish(&scene).await;

    assert_eq!(world.effects_of(1).await, [("b".to_owned(), 2)], "the other key flows");
    let state = async |id| world.outbox.state(id).await.unwrap();
    for id in [newer.id(), behind.id()] {
        eventually("it is held", async || matches!(state(id).await, EventState::Held(_))).await;
    }
    // Longer than all attempts of an event that fails would take.
    tokio::time::sleep(Duration::from_secs(1)).await;
    for id in [newer.id(), behind.id()] {
        assert!(matches!(state(id).await, EventState::Held(_)), "{:?}", state(id).await);
    }
    assert!(dead_letters(world).await.is_empty());
    assert_eq!(world.outbox.store().effect_count().await, 1);
    consumer.stop().await.unwrap();
}

async fn what_nobody_can_decode_is_set_aside_and_the_next_event_is_handled<S: TestStore>() {
    let Some(scene) = Scene::<S>::start().await else { return };
    let world = &scene.world;
    let consumer = scene.consume().await;

    // Each has a key of its own: its next events wait, those of others do not.
    let note = |n: i64| Message::new(&format!("bad-{n}"), n);
    let own = |rest: &str| format!(r#"{{"eventType":"world.noted","eventVersion":1{rest}}}"#);
    let spoilt = [
        note(0).payload(""),
        note(1).payload("[]"),
        note(3).payload(b"\xff\xfe\x00"),
        note(4).payload("null"),
        note(5).payload("\"text\""),
        note(6).payload(own("").trim_end_matches('}')),
        note(7).payload(own(r#","key":"a","n":"seven","plan":"Succeed""#)),
        note(8).payload(own(r#","key":"a""#)),
        note(9).payload(own(r#","key":"\ud800","n":9,"plan":"Succeed""#)),
        note(10).payload(format!(r#"{}{}"#, own(""), own(""))),
        note(11).payload("[".repeat(100_000)),
        note(12).payload(r#"{"eventType":7,"eventVersion":1}"#),
        note(13).payload(r#"{"eventType":"world.noted","eventVersion":-1}"#),
        note(14).payload(r#"{"eventType":"world.noted","eventVersion":1e3}"#),
        note(15).header("ce-id", "no-uuid"),
        note(16).header("ce-time", "yesterday"),
        note(17).header("ce-sequence", "first"),
        note(18).header("ce-type", "world.heard"),
        note(20).without("ce-specversion"),
        note(21).header("ce-outboxtwin", "no-uuid").header("ce-outboxtwinversion", "1"),
    ];
    let mut count = 0;
    for message in &spoilt {
        message.publish(&scene).await;
        Message::new("good", count).publish(&scene).await;
        count += 1;
    }
    scene.nats().publish_raw("world.any.by.hand", b"", b"hello").await;
    scene.nats().publish_raw("world.any.by.hand", b"Weird: \r\n", b"").await;

    let last = count - 1;
    eventually("the last good one is handled", async || is_handled(world, "good", last).await).await;
    let expected = spoilt.len() + 2;
    eventually("each is set aside", async || dead_letters(world).await.len() >= expected).await;
    consumer.stop().await.unwrap();
    let effects = world.outbox.store().effects().await;
    assert!(effects.iter().all(|(key, _)| key == "good"), "{effects:?}");
    assert_once_and_in_order(&effects, usize::try_from(count).unwrap());
    let dead = dead_letters(world).await;
    assert!(dead.iter().all(|dead| dead.reason == "undecodable" && dead.attempts == 1), "{dead:#?}");
    assert!(dead.iter().all(|dead| !dead.error_chain.is_empty()));
    assert!(dead.iter().any(|dead| dead.envelope.payload == "hello"), "the bytes are kept");
    assert_eq!(dead.len(), expected);
}

async fn what_no_database_can_keep_does_not_stop_a_consumer<S: TestStore>() {
    let Some(scene) = Scene::<S>::start().await else { return };
    let world = &scene.world;
    let consumer = scene.consume().await;

    // More than an index takes, of text that no compression makes shorter.
    let long: String =
        (0..800).map(|_| uuid::Uuid::new_v4().simple().to_string()).collect::<String>()[..9_000].to_owned();
    let hard = [
        Message::new("hard", 0).header("ce-partitionkey", "a%00b").payload("{"),
        Message::new("hard", 1).header("ce-partitionkey", "").payload("{"),
        Message::new("hard", 2).header("ce-partitionkey", &long).payload("{"),
        Message::new("hard", 3).header("ce-source", &long).payload("{"),
        Message::new("hard", 4).header("ce-tenant", "a%00b").payload("{"),
        Message::new("hard", 5).header("ce-source", "a%00b"),
        Message::new("hard", 6).header("ce-source", &long),
        Message::new("hard", 7).header("ce-partitionkey", &long).payload(
            r#"{"eventType":"world.noted","eventVersion":1,"key":"hard","n":7,"plan":"FailForGood"}"#,
        ),
        Message::new("hard", 8)
            .payload(r#"{"eventType":"world.noted","eventVersion":4294967295}"#)
            .header("ce-partitionkey", "newest"),
        Message::new("hard", 9).header("ce-time", "9999-12-31T23:59:59Z").payload("{"),
        Message::new("hard", 10).header("ce-time", "0000-01-01T00:00:00Z").header("ce-partitionkey", "old"),
        Message::new("hard", 11).header("ce-traceparent", "a%00b").payload("{"),
    ];
    for (n, message) in hard.iter().enumerate() {
        message.publish(&scene).await;
        Message::new("good", i64::try_from(n).unwrap()).publish(&scene).await;
    }

    let last = i64::try_from(hard.len()).unwrap() - 1;
    eventually("the last good one is handled", async || is_handled(world, "good", last).await).await;
    consumer.stop().await.unwrap();
    let mut effects = world.outbox.store().effects().await;
    effects.retain(|(key, _)| key == "good");
    assert_once_and_in_order(&effects, hard.len());
}

async fn a_dead_letter_whose_ack_was_lost_stands_once<S: TestStore>() {
    let Some(scene) = Scene::<S>::start().await else { return };
    let world = &scene.world;
    // Declares the topic.
    scene.broker().partitions("world").await.unwrap();
    for n in 0..3 {
        Message::new(&format!("bad-{n}"), n).payload("{").publish(&scene).await;
    }
    scene.nats().publish_raw("world.any.by.hand", b"", b"hello").await;

    for _ in 0..2 {
        wait_for_end(&mut scene.act("consume", &["--die-at-ack"])).await;
    }
    let consumer = scene.consume().await;
    Message::new("good", 0).publish(&scene).await;

    world.effects_of(1).await;
    eventually("each is set aside", async || dead_letters(world).await.len() >= 4).await;
    consumer.stop().await.unwrap();
    assert_eq!(dead_letters(world).await.len(), 4);
}
