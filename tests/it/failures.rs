//! What fails, and what else it must not harm: one event, a topic, a broker, on every store.

use outbox::broker::BrokerError;
use outbox::held::Stage;
use outbox::store::{StageStatus, StoreError};
use outbox::{DeadLetterFilter, Event, OnPoison, RelayConfig, Terms};
use outbox_tests::actor::actor;
use outbox_tests::file_broker::FileBroker;
use outbox_tests::memory_broker::MemoryBroker;
use outbox_tests::on_each_store;
use outbox_tests::selective_broker::SelectiveBroker;
use outbox_tests::servers::{Nats, Process};
use outbox_tests::warnings::Warnings;
use outbox_tests::world::{
    Noted, Plan, TestStore, World, eventually, nats_broker, noted, numbers_of, planned, quick, quick_relay,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::{Duration, Instant};

on_each_store! {
    a_relay_may_decide_otherwise_what_becomes_of_a_poison_event,
    a_topic_that_is_refused_as_a_whole_waits_and_nothing_of_it_is_set_aside,
    one_unsendable_message_stops_nothing,
    a_relay_with_too_many_waiting_keys_reads_no_further_until_one_is_free,
    a_consumer_with_too_many_waiting_keys_takes_nothing_new_until_one_is_free,
    a_partition_that_the_broker_refuses_stops_no_other,
    the_retries_of_an_event_do_not_grow_with_the_number_of_relays,
    events_of_equal_payload_are_each_published_and_handled,
    a_backlog_of_100_000_is_never_in_memory_as_a_whole,
}

/// An event of another topic than those of the world.
#[derive(Debug, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "failures.placed", version = 1, topic = "failures")]
struct Placed {
    #[event(key)]
    key: String,
    n: i64,
}

async fn enqueue_placed<S: TestStore>(world: &World<S>, numbers: std::ops::Range<i64>) {
    for n in numbers {
        let mut tx = world.outbox.begin().await.unwrap();
        world.outbox.enqueue(&mut tx, &Placed { key: format!("key-{}", n % 10), n }).await.unwrap();
        tx.commit().await.unwrap();
    }
}

/// The relay of that name in numbers.
async fn status_of<S: TestStore>(world: &World<S>, stage: &Stage) -> Option<StageStatus> {
    world.outbox.store().status().await.unwrap().into_iter().find(|status| status.stage == *stage)
}

async fn dead_letters<S: TestStore>(world: &World<S>) -> u64 {
    let stages = world.outbox.store().status().await.unwrap();
    stages.iter().map(|status| status.dead_letters).sum()
}

fn numbers(broker: &MemoryBroker, topic: &str, key: &str) -> Vec<i64> {
    let number = |payload: &str| serde_json::from_str::<serde_json::Value>(payload).unwrap()["n"].as_i64();
    let confirmed = broker.confirmed();
    let of = confirmed.iter().filter(|event| event.topic == topic && event.key.as_deref() == Some(key));
    of.filter_map(|event| number(&event.payload)).collect()
}

async fn a_relay_may_decide_otherwise_what_becomes_of_a_poison_event<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let named = |name: &str| RelayConfig { name: name.to_owned(), ..quick_relay() };
    let skips = RelayConfig { on_poison: Some(OnPoison::Skip), ..named("skips") };
    let of_type = [("world.noted".to_owned(), OnPoison::Block)].into();
    let blocks = RelayConfig { on_poison: Some(OnPoison::Skip), on_poison_of: of_type, ..named("blocks") };
    let (skipping, blocking) = (Arc::new(MemoryBroker::default()), Arc::new(MemoryBroker::default()));
    skipping.refuse_key("a");
    blocking.refuse_key("a");
    let runner = world.outbox.runner().settings(quick);
    let runner = runner.relay(skips, skipping.clone()).relay(blocks, blocking.clone()).start().await.unwrap();

    world.enqueue_all(&[noted("a", 0), noted("a", 1), noted("b", 2)]).await;

    eventually("both of the key are skipped", async || {
        status_of(&world, &Stage::relay("skips")).await.is_some_and(|status| status.dead_letters == 2)
    })
    .await;
    eventually("the head is tried again and again", async || blocking.attempts_of("a") > 6).await;
    let (skips, blocks) =
        (status_of(&world, &Stage::relay("skips")).await, status_of(&world, &Stage::relay("blocks")).await);
    assert_eq!(skips.map(|status| (status.parked_keys, status.held)), Some((0, 0)));
    assert_eq!(blocks.map(|status| (status.dead_letters, status.held)), Some((0, 2)));
    blocking.accept_key("a");
    eventually("it goes out in the end", async || blocking.confirmed().len() == 3).await;
    assert_eq!(numbers(&blocking, "world", "a"), [0, 1]);
    runner.stop().await.unwrap();
}

async fn a_topic_that_is_refused_as_a_whole_waits_and_nothing_of_it_is_set_aside<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    for is_refused in [true, false] {
        let broker = Arc::new(MemoryBroker::default());
        if is_refused {
            broker.refuse_topic("failures");
        } else {
            broker.be_unsure_of_topic("failures");
        }
        let name = if is_refused { "refused" } else { "lost" };
        let start = Some(outbox::Start::Latest);
        let config = RelayConfig { name: name.to_owned(), start, ..quick_relay() };
        let runner =
            world.outbox.runner().relay(config, broker.clone()).settings(quick).start().await.unwrap();
        let mut tx = world.outbox.begin().await.unwrap();
        for n in 0..40 {
            world.outbox.enqueue(&mut tx, &noted("a", n)).await.unwrap();
            world.outbox.enqueue(&mut tx, &Placed { key: format!("key-{}", n % 10), n }).await.unwrap();
        }
        tx.commit().await.unwrap();
        eventually("the other topic flows", async || numbers(&broker, "world", "a").len() == 40).await;
        enqueue_placed(&world, 40..60).await;
        eventually("all waits", async || {
            status_of(&world, &Stage::relay(name)).await.is_some_and(|status| status.held == 60)
        })
        .await;
        let tried: u32 = (0..10).map(|key| broker.attempts_of(&format!("key-{key}"))).sum();

        broker.accept_topic("failures");

        assert!(tried < 40, "the topic was tried {tried} times");
        eventually("all is published", async || broker.confirmed().len() == 100).await;
        assert_eq!(dead_letters(&world).await, 0);
        for key in 0..10 {
            let expected: Vec<i64> = (0..60).filter(|n| n % 10 == key).collect();
            assert_eq!(numbers(&broker, "failures", &format!("key-{key}")), expected);
        }
        runner.stop().await.unwrap();
    }
}

async fn one_unsendable_message_stops_nothing<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let broker = Arc::new(MemoryBroker::default());
    broker.refuse_key("bad");
    let mut events: Vec<Noted> = (0..50).map(|n| noted(&format!("key-{}", n % 5), n)).collect();
    events.insert(0, noted("bad", 50));
    world.enqueue_all(&events).await;

    let relay = world.relay(broker.clone()).await;

    eventually("the others are published", async || broker.confirmed().len() == 50).await;
    eventually("it is set aside", async || dead_letters(&world).await == 1).await;
    relay.stop().await.unwrap();
}

async fn a_relay_with_too_many_waiting_keys_reads_no_further_until_one_is_free<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let broker = Arc::new(MemoryBroker::default());
    (0..10).for_each(|n| broker.refuse_key(&format!("bad-{n}")));
    let config = RelayConfig { waiting_keys_max: 4, page_max: 4, ..quick_relay() };
    let relay = world.outbox.runner().relay(config, broker.clone()).settings(quick).start().await.unwrap();

    // Good ones between, so that it is not the topic.
    let events: Vec<Noted> = (0..20)
        .map(|n| noted(&if n % 2 == 0 { format!("bad-{}", n / 2) } else { "good".to_owned() }, n))
        .collect();
    world.enqueue_all(&events).await;

    let stage = Stage::relay("default");
    let parked = async || status_of(&world, &stage).await.map_or(0, |status| status.parked_keys);
    eventually("the limit is reached", async || parked().await == 4 && broker.confirmed().len() == 4).await;
    world.enqueue_each([noted("good", 20)]).await;
    let deadline = Instant::now() + Duration::from_secs(1);
    eventually("time for many looks has passed", async || Instant::now() >= deadline).await;
    assert_eq!((parked().await, broker.confirmed().len()), (4, 4));
    eventually("all is read once they are discarded", async || {
        world.outbox.discard(&DeadLetterFilter::default(), &Terms::new("test", "mended")).await.unwrap();
        status_of(&world, &stage).await.is_some_and(|status| status.lag == Some(0))
    })
    .await;
    eventually("the good ones are published", async || broker.confirmed().len() == 11).await;
    relay.stop().await.unwrap();
}

async fn a_consumer_with_too_many_waiting_keys_takes_nothing_new_until_one_is_free<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let runner = world.runner().consume_locally().settings(|settings| {
        settings.waiting_keys_max = 4;
        settings.in_flight_max = 2;
    });
    let runner = runner.start().await.unwrap();
    let events: Vec<Noted> = (0..20).map(|n| planned(&format!("bad-{n}"), n, Plan::FailForGood)).collect();
    world.enqueue_all(&events).await;
    let stage = Stage::consumer(S::CONSUMER);
    let parked = async || status_of(&world, &stage).await.map_or(0, |status| status.parked_keys);

    eventually("the limit is reached", async || parked().await >= 4).await;
    // Eight at work and two in memory may have come on top; then there is time for many looks around.
    let deadline = Instant::now() + Duration::from_secs(1);
    eventually("time has passed", async || Instant::now() >= deadline).await;
    let parked_keys = parked().await;
    assert!(parked_keys <= 4 + 8 + 2, "it took more and more: {parked_keys}");

    eventually("all is handled once they are discarded", async || {
        world.outbox.discard(&DeadLetterFilter::default(), &Terms::new("test", "mended")).await.unwrap();
        let status = status_of(&world, &stage).await;
        status.is_some_and(|status| status.lag == Some(0) && status.parked_keys == 0)
    })
    .await;
    runner.stop().await.unwrap();
}

async fn a_partition_that_the_broker_refuses_stops_no_other<S: TestStore>() {
    // Of four partitions, `a` is on the first and `key-0` on another.
    let Some(nats) = Nats::private().await else { return };
    let Some(world) = World::<S>::start().await else { return };
    let broker = Arc::new(SelectiveBroker::refusing(nats_broker(&nats.url(), None), "0"));
    let relay = world.relay(broker.clone()).await;
    let consumer = world.runner().consume_from(broker.clone()).start().await.unwrap();
    eventually("it is refused again and again", async || broker.refusals() >= 3).await;

    world.enqueue_each((0..20).map(|n| noted(if n % 2 == 0 { "a" } else { "key-0" }, n))).await;

    let odd: Vec<i64> = (0..20).filter(|n| n % 2 == 1).collect();
    assert_eq!(numbers_of(&world.effects_of(10).await, "key-0"), odd);
    broker.accept();
    let effects = world.effects_of(20).await;
    assert_eq!(numbers_of(&effects, "a"), (0..20).filter(|n| n % 2 == 0).collect::<Vec<_>>());
    consumer.stop().await.unwrap();
    relay.stop().await.unwrap();
}

async fn the_retries_of_an_event_do_not_grow_with_the_number_of_relays<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let (mut relays, mut brokers) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        let broker = Arc::new(MemoryBroker::default());
        broker.refuse_key("bad");
        let config = RelayConfig { on_poison: Some(OnPoison::Block), ..quick_relay() };
        let relay = world.outbox.runner().relay(config, broker.clone()).settings(quick);
        relays.push(relay.start().await.unwrap());
        brokers.push(broker);
    }

    world.enqueue_all(&[noted("bad", 0), noted("good", 1)]).await;

    let tried = |least: u32| brokers.iter().filter(|broker| broker.attempts_of("bad") > least).count();
    eventually("it is tried often", async || tried(20) == 1).await;
    assert_eq!(tried(0), 1, "a relay that stands by has published");
    for relay in relays {
        relay.stop().await.unwrap();
    }
}

/// What is done is told by the event's own name, never by what it says.
async fn events_of_equal_payload_are_each_published_and_handled<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let broker = Arc::new(MemoryBroker::default());
    broker.be_unsure_of("a", 1);
    let (relay, consumer) = (world.relay(broker.clone()).await, world.consume().await);

    world.enqueue_all(&[noted("b", 0), noted("a", 1), noted("a", 1), noted("a", 1)]).await;

    assert_eq!(numbers_of(&world.effects_of(4).await, "a"), [1, 1, 1]);
    eventually("all are published", async || numbers(&broker, "world", "a").len() == 3).await;
    relay.stop().await.unwrap();
    consumer.stop().await.unwrap();
}

/// The most memory that the process has had, in bytes.
fn memory_peak(process: &Process) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0 kB");
    peak.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

async fn a_backlog_of_100_000_is_never_in_memory_as_a_whole<S: TestStore>() {
    const COUNT: i64 = 100_000;
    const MOST: u64 = 100_000_000;
    let Some(world) = World::<S>::start().await else { return };
    let events: Vec<Noted> = (0..COUNT).map(|n| noted(&format!("key-{}", n % 1_000), n)).collect();
    world.enqueue_all(&events).await;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("published");
    let relay = |pause_ms: &str| {
        let more = ["--file", path.to_str().unwrap(), "--pause-ms", pause_ms];
        actor(env!("CARGO_BIN_EXE_actor"), &[&["relay", "--db", &world.url], &more[..]].concat())
    };

    // As good as down: it never answers.
    let mut silent = relay("3600000");
    eventually("it has opened the log", async || {
        status_of(&world, &Stage::relay("default")).await.is_some_and(|status| status.lag == Some(100_000))
    })
    .await;
    // There is time to read far more than it should.
    let read = Instant::now() + Duration::from_secs(2);
    eventually("time has passed", async || Instant::now() >= read).await;
    let peak = memory_peak(&silent);
    assert!((1_000_000..MOST).contains(&peak), "{peak} bytes while the broker was silent");
    silent.kill();
    let drains = relay("0");
    eventually("all is published", async || {
        status_of(&world, &Stage::relay("default")).await.is_some_and(|status| status.lag == Some(0))
    })
    .await;

    let peak = memory_peak(&drains);
    assert!((1_000_000..MOST).contains(&peak), "{peak} bytes in the drain");
    let seqs: std::collections::HashSet<i64> = FileBroker::lines(&path).iter().map(|line| line.seq).collect();
    assert_eq!((seqs.len(), dead_letters(&world).await), (100_000, 0));
}

#[test]
fn errors_are_told_apart_by_their_kind_and_never_by_their_text() {
    let texts = [
        "permission denied",
        "connection reset, try again later",
        "deadlock detected",
        "",
        "Zeitüberschreitung",
    ];
    for text in texts {
        let away = BrokerError::Unavailable { broker: "b", action: "publish", source: text.into() };
        let refusal =
            BrokerError::Refused { broker: "b", action: "publish", problem: text.to_owned(), source: None };
        assert!(away.is_transient() && !refusal.is_transient(), "{text}");
        for transient in [true, false] {
            let error = StoreError::Database { action: "read", transient, source: text.into() };
            assert_eq!(error.is_transient(), transient, "{text}");
        }
    }
}

/// Long without the broker, in virtual time: the clock moves only when this test moves it, by a second for each `real`.
/// A database that is no part of this process must answer meanwhile, else its own time limits would pass.
async fn a_broker_that_is_down_costs_no_attempt_and_a_handful_of_lines<S: TestStore>(
    down_secs: u32,
    real: Duration,
) {
    let Some(world) = World::<S>::start().await else { return };
    let (warnings, _listening) = Warnings::listen();
    let broker = Arc::new(MemoryBroker::default());
    broker.set_down(true);
    world.enqueue_all(&(0..2_500).map(|n| noted(&format!("key-{n}"), n)).collect::<Vec<_>>()).await;
    let relay = world.relay(broker.clone()).await;
    eventually("it is tried", async || broker.calls() > 0).await;
    // A runtime that is never idle does not move the clock by itself.
    let busy = tokio::spawn(async {
        loop {
            tokio::task::yield_now().await;
        }
    });
    tokio::time::pause();
    for _ in 0..down_secs {
        tokio::time::advance(Duration::from_secs(1)).await;
        let moment = Instant::now();
        while moment.elapsed() < real {
            tokio::task::yield_now().await;
        }
    }
    tokio::time::resume();
    busy.abort();

    let (calls, lines) = (broker.calls(), warnings.lines());
    let expected = down_secs / 12..down_secs + 400;
    assert!(expected.contains(&calls), "the broker was called {calls} times in {down_secs} s");
    assert!(lines.len() <= 5, "{lines:?}");
    assert_eq!((dead_letters(&world).await, broker.confirmed().len()), (0, 0));
    let status = status_of(&world, &Stage::relay("default")).await.unwrap();
    assert_eq!((status.held, status.lag), (0, Some(2_500)));
    broker.set_down(false);
    eventually("all is published", async || broker.confirmed().len() == 2_500).await;
    // No herd: a page at a time, each event once.
    assert_eq!(broker.batch_max(), 1_000);
    assert_eq!((0..2_500).map(|n| broker.attempts_of(&format!("key-{n}"))).max(), Some(1));
    relay.stop().await.unwrap();
}

#[tokio::test]
async fn a_broker_that_is_down_for_an_hour_costs_no_attempt_and_a_handful_of_lines_on_sqlite() {
    a_broker_that_is_down_costs_no_attempt_and_a_handful_of_lines::<outbox::sqlite::SqliteStore>(
        3_600,
        Duration::from_millis(1),
    )
    .await;
}

#[tokio::test]
async fn a_broker_that_is_down_for_ten_minutes_costs_no_attempt_and_a_handful_of_lines_on_postgres() {
    a_broker_that_is_down_costs_no_attempt_and_a_handful_of_lines::<outbox::postgres::PostgresStore>(
        600,
        Duration::from_millis(20),
    )
    .await;
}
