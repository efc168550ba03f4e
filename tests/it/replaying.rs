//! Replays of ranges of the log: to a relay, to a consumer, to a topic of their own, beside live traffic.

use outbox::broker::{Broker, SubscriptionConfig};
use outbox::cursor::Filter;
use outbox::envelope::Envelope;
use outbox::held::Stage;
use outbox::range::{RangeReplay, RangeState};
use outbox::sqlite::SqliteStore;
use outbox::{Range, RelayConfig, StoreError, Terms};
use outbox_tests::actor::actor;
use outbox_tests::memory_broker::MemoryBroker;
use outbox_tests::on_each_store;
use outbox_tests::servers::Nats;
use outbox_tests::world::{
    Plan, TestStore, World, eventually, name_in, nats_broker, noted, numbers_of, planned, quick, quick_relay,
};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

on_each_store! {
    a_range_is_replayed_to_a_relay_in_order_beside_live_traffic,
    a_range_is_replayed_to_a_topic_of_its_own_and_keeps_its_ids,
    what_a_consumer_has_handled_is_left_out_and_said_or_handled_again,
    what_a_relay_does_not_want_and_dead_letters_are_left_out,
    a_replay_at_a_limited_rate_takes_its_time_and_can_be_taken_back,
    a_replay_whose_consumers_are_killed_has_each_effect_once_more,
    a_stage_that_reads_no_log_is_refused,
}

fn terms() -> Terms {
    Terms::new("test", "a reader lost them")
}

fn to_relay() -> Range {
    Range::to(Stage::relay("default"))
}

async fn newest<S: TestStore>(world: &World<S>) -> RangeReplay {
    world.outbox.range_replays(1).await.unwrap().remove(0)
}

async fn until_done<S: TestStore>(world: &World<S>) {
    eventually("the replay is done", async || newest(world).await.state == RangeState::Done).await;
}

/// Waits until the stage of `range` has settled `count` events that match; before its first look it is not known.
async fn until_settled<S: TestStore>(world: &World<S>, range: &Range, count: u64) {
    let matched = async || world.outbox.plan_range(range).await.map_or(0, |plan| plan.matched);
    eventually("all is settled", async || matched().await == count).await;
}

fn notes(envelopes: &[Envelope]) -> Vec<(String, i64)> {
    let name = |envelope: &Envelope| name_in(&envelope.payload);
    envelopes.iter().map(|envelope| (envelope.key.clone().unwrap(), name(envelope).n)).collect()
}

async fn a_range_is_replayed_to_a_relay_in_order_beside_live_traffic<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let broker = Arc::new(MemoryBroker::default());
    let relay = world.relay(broker.clone()).await;
    let live = async |numbers: std::ops::Range<i64>| {
        world.enqueue_each(numbers.map(|n| noted(&format!("key-{}", n % 4), n))).await;
    };
    live(0..40).await;
    until_settled(&world, &to_relay(), 40).await;
    let published = broker.confirmed();
    let mut range = to_relay();
    range.from = published.iter().find(|event| name_in(&event.payload).n == 10).map(|event| event.seq);
    range.through = published.iter().find(|event| name_in(&event.payload).n == 29).map(|event| event.seq);
    let plan = world.outbox.plan_range(&range).await.unwrap();
    assert_eq!((plan.matched, plan.open, plan.seqs), (20, 20, range.from.zip(range.through)));

    let terms = terms();
    let (asked, ()) = tokio::join!(world.outbox.replay_range(&range, &terms), live(40..80));

    assert!(asked.unwrap().0.is_some());
    eventually("all is published", async || broker.confirmed().len() == 100).await;
    until_done(&world).await;
    let replay = newest(&world).await;
    assert_eq!((replay.matched, replay.taken, replay.left_out), (20, 20, 0));
    assert_eq!((replay.asked_by.as_str(), replay.why.as_str()), ("test", "a reader lost them"));
    let again = notes(&broker.confirmed()[40..]);
    for key in 0..4 {
        let of_key = numbers_of(&again, &format!("key-{key}"));
        let (old, new): (Vec<i64>, Vec<i64>) = of_key.iter().partition(|n| **n < 40);
        assert_eq!(old, (10..30).filter(|n| n % 4 == key).collect::<Vec<_>>());
        assert_eq!(new, (40..80).filter(|n| n % 4 == key).collect::<Vec<_>>());
    }
    relay.stop().await.unwrap();
}

async fn a_range_is_replayed_to_a_topic_of_its_own_and_keeps_its_ids<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let broker = Arc::new(MemoryBroker::default());
    let relay = world.relay(broker.clone()).await;
    world.enqueue_each((0..10).map(|n| noted("a", n))).await;
    until_settled(&world, &to_relay(), 10).await;
    let mut range = to_relay();
    range.to_topic = Some("rebuilt".to_owned());

    world.outbox.replay_range(&range, &terms()).await.unwrap();

    eventually("all is published", async || broker.confirmed().len() == 20).await;
    let confirmed = broker.confirmed();
    let (first, again) = confirmed.split_at(10);
    for (first, again) in first.iter().zip(again) {
        assert_eq!((again.topic.as_str(), again.id, again.seq), ("rebuilt", first.id, first.seq));
        assert_eq!((&again.payload, &again.headers), (&first.payload, &first.headers));
    }
    relay.stop().await.unwrap();
}

async fn what_a_consumer_has_handled_is_left_out_and_said_or_handled_again<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let consumer = world.consume().await;
    world.enqueue_each((0..12).map(|n| noted(&format!("key-{}", n % 3), n))).await;
    world.effects_of(12).await;
    let mut range = Range::to(Stage::consumer(S::CONSUMER));
    until_settled(&world, &range, 12).await;

    let (id, plan) = world.outbox.replay_range(&range, &terms()).await.unwrap();
    assert_eq!((id, plan.matched, plan.handled, plan.open), (None, 12, 12, 0), "nothing would happen");
    range.again = true;
    let (id, plan) = world.outbox.replay_range(&range, &terms()).await.unwrap();
    assert!(id.is_some());
    assert_eq!((plan.matched, plan.handled, plan.open), (12, 12, 12));

    let effects = world.effects_of(24).await;
    until_done(&world).await;
    world.enqueue_each([noted("key-0", 12)]).await;
    let effects_then = world.effects_of(25).await;
    assert_eq!(effects_then.len(), 25, "each was handled once more, and no more than that");
    for key in 0..3 {
        let once: Vec<i64> = (0..12).filter(|n| n % 3 == key).collect();
        assert_eq!(numbers_of(&effects, &format!("key-{key}")), [once.clone(), once].concat());
    }
    consumer.stop().await.unwrap();
}

async fn what_a_relay_does_not_want_and_dead_letters_are_left_out<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let broker = Arc::new(MemoryBroker::default());
    broker.refuse_key("bad");
    let filter = Filter { topics: vec!["world".to_owned()], ..Filter::default() };
    let relays = world.outbox.runner().relay(quick_relay(), broker.clone()).settings(quick).relay(
        RelayConfig {
            filter: Filter { topics: vec!["nothing".to_owned()], ..filter },
            ..RelayConfig::named("picky")
        },
        broker.clone(),
    );
    let relays = relays.start().await.unwrap();
    world.enqueue_each([noted("good", 0), noted("bad", 1), noted("good", 2)]).await;
    eventually("it is set aside", async || {
        !world.outbox.dead_letters(&Default::default(), 1).await.unwrap().is_empty()
    })
    .await;
    until_settled(&world, &to_relay(), 3).await;

    let (_, plan) = world.outbox.replay_range(&to_relay(), &terms()).await.unwrap();
    assert_eq!((plan.matched, plan.dead, plan.open), (3, 1, 2));
    until_done(&world).await;
    eventually("both are published again", async || broker.confirmed().len() == 4).await;
    let picky = Range::to(Stage::relay("picky"));
    until_settled(&world, &picky, 3).await;
    world.outbox.replay_range(&picky, &terms()).await.unwrap();
    until_done(&world).await;

    let of_picky = newest(&world).await;
    assert_eq!((of_picky.taken, of_picky.left_out), (0, 3));
    assert_eq!(broker.confirmed().len(), 4);
    relays.stop().await.unwrap();
}

async fn a_replay_at_a_limited_rate_takes_its_time_and_can_be_taken_back<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let broker = Arc::new(MemoryBroker::default());
    let relay = world.relay(broker.clone()).await;
    world.enqueue_each((0..60).map(|n| noted(&format!("key-{n}"), n))).await;
    until_settled(&world, &to_relay(), 60).await;
    let at = |most| terms().per_second(NonZeroU32::new(most).unwrap());

    let asked = Instant::now();
    world.outbox.replay_range(&to_relay(), &at(20)).await.unwrap();
    eventually("all is published", async || broker.confirmed().len() == 120).await;
    assert!(asked.elapsed() > Duration::from_millis(1_900), "it took {:?} alone", asked.elapsed());

    let slow = world.outbox.replay_range(&to_relay(), &at(1)).await.unwrap().0.unwrap();
    eventually("it has begun", async || newest(&world).await.taken > 0).await;
    assert!(world.outbox.cancel_range(slow).await.unwrap());
    assert!(!world.outbox.cancel_range(slow).await.unwrap(), "it is not running any more");
    let replay = newest(&world).await;
    assert_eq!((replay.id, replay.state), (slow, RangeState::Cancelled));
    assert!(replay.taken < 60 && replay.ended_at.is_some());
    relay.stop().await.unwrap();
}

async fn a_replay_whose_consumers_are_killed_has_each_effect_once_more<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let consumer = world.consume().await;
    world.enqueue_all(&(0..120).map(|n| noted(&format!("key-{}", n % 10), n)).collect::<Vec<_>>()).await;
    world.effects_of(120).await;
    let mut range = Range::to(Stage::consumer(S::CONSUMER));
    range.again = true;
    until_settled(&world, &range, 120).await;
    consumer.stop().await.unwrap();
    world.outbox.replay_range(&range, &terms()).await.unwrap();

    for part in [121, 160, 200] {
        let mut consumer =
            actor(env!("CARGO_BIN_EXE_actor"), &["consume", "--db", &world.url, "--file", "none"]);
        let enough = async || world.outbox.store().effect_count().await >= part;
        eventually("a part of the replay is done", enough).await;
        consumer.kill();
    }
    let consumer = world.consume().await;

    world.effects_of(240).await;
    until_done(&world).await;
    let held =
        async || world.outbox.store().status().await.unwrap().iter().map(|stage| stage.held).sum::<u64>();
    eventually("nothing is held", async || held().await == 0).await;
    let effects = world.outbox.store().effects().await;
    assert_eq!(effects.len(), 240);
    for key in 0..10 {
        let once: Vec<i64> = (0..120).filter(|n| n % 10 == key).collect();
        assert_eq!(numbers_of(&effects, &format!("key-{key}")), [once.clone(), once].concat());
    }
    consumer.stop().await.unwrap();
}

async fn a_stage_that_reads_no_log_is_refused<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let refused = world.outbox.replay_range(&to_relay(), &terms()).await.unwrap_err();
    assert!(matches!(&refused, StoreError::ReadsNoLog { stage } if stage == "relay/default"), "{refused}");
    assert!(!refused.is_transient());
}

/// A broker drops a second publish of one message id for two minutes; what is replayed has a fresh one.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_replayed_inside_the_dedup_window_of_nats_reaches_its_readers() {
    let Some(nats) = Nats::private().await else { return };
    let world = World::<SqliteStore>::start().await.unwrap();
    let broker = nats_broker(&nats.url(), None);
    assert!(broker.capabilities().dedup_window > Duration::from_secs(60));
    let relay = world.relay(broker.clone()).await;
    world.enqueue_each((0..6).map(|n| planned("a", n, Plan::Succeed))).await;
    until_settled(&world, &to_relay(), 6).await;

    world.outbox.replay_range(&to_relay(), &terms()).await.unwrap();
    until_done(&world).await;

    let delivered = read_all(&*broker, 12).await;
    assert_eq!(numbers_of(&notes(&delivered), "a"), [0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5]);
    let ids = |part: &[Envelope]| part.iter().map(|event| event.id).collect::<Vec<_>>();
    assert_eq!(ids(&delivered[..6]), ids(&delivered[6..]), "the events keep their own ids");
    relay.stop().await.unwrap();
}

/// What stands in all partitions of the topic, once it is `count` events.
async fn read_all(broker: &dyn Broker, count: usize) -> Vec<Envelope> {
    let mut delivered = Vec::new();
    let mut subscriptions = Vec::new();
    for partition in broker.partitions("world").await.unwrap() {
        let config = SubscriptionConfig {
            consumer: "reader".to_owned(),
            topic: "world".to_owned(),
            partition,
            ack_wait: Duration::from_secs(60),
            in_flight_max: 100,
        };
        subscriptions.push(broker.subscribe(&config).await.unwrap());
    }
    let deadline = Instant::now() + Duration::from_secs(60);
    while delivered.len() < count {
        assert!(Instant::now() < deadline, "only {} of {count} arrived", delivered.len());
        for subscription in &mut subscriptions {
            let deliveries = subscription.next(100, Duration::from_millis(20)).await.unwrap();
            delivered.extend(deliveries.into_iter().map(|delivery| delivery.event.unwrap()));
        }
    }
    delivered
}
