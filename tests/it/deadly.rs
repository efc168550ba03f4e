//! A payload that kills the process which works on it: found among a thousand, set aside alone, by processes that die.

use outbox::{DeadLetter, DeadLetterFilter, Store, Terms};
use outbox_tests::actor::actor;
use outbox_tests::file_broker::FileBroker;
use outbox_tests::on_each_store;
use outbox_tests::servers::{Nats, Process};
use outbox_tests::world::{
    Noted, Plan, TestStore, World, eventually, nats_broker, noted, numbers_of, planned,
};
use std::collections::HashSet;
use std::time::{Duration, Instant};

const ACTOR: &str = env!("CARGO_BIN_EXE_actor");

/// The attempts of the world's relays and consumers.
const ATTEMPTS: u32 = 4;

/// The deaths until a culprit is alone and charged for the next one: in ordinary work, and in a lot of suspects.
const SEARCH: u32 = 2;

/// Long enough for two dozen processes that start, die and leave a lease behind.
const PATIENCE: Duration = Duration::from_secs(240);

on_each_store! {
    a_payload_that_kills_the_relay_is_alone_set_aside_out_of_a_page_of_1000,
    a_payload_that_kills_the_consumer_is_alone_set_aside_and_its_key_waits,
    a_payload_that_kills_two_stages_of_one_process_costs_each_its_own_deaths_alone,
    two_payloads_that_kill_are_each_set_aside_at_a_cost_of_its_own,
    what_killed_a_process_is_tried_alone_when_it_is_replayed,
    heads_that_are_due_all_the_time_hide_no_payload_that_kills,
    processes_that_are_killed_for_other_reasons_charge_nobody,
}

/// A thousand notes; the one at `at` is `other`.
fn thousand(at: usize, other: Noted) -> Vec<Noted> {
    let mut events: Vec<Noted> = (0..1_000).map(|n| noted(&format!("key-{}", n % 100), n)).collect();
    events[at] = other;
    events
}

/// Starts processes, one after the other, until `is_done`; gives how many died, and the last one.
async fn deaths(start: impl Fn() -> Process, mut is_done: impl AsyncFnMut() -> bool) -> (u32, Process) {
    let deadline = Instant::now() + PATIENCE;
    let (mut process, mut deaths) = (start(), 0);
    while !is_done().await {
        assert!(Instant::now() < deadline, "not done after {deaths} deaths");
        if !process.is_running() {
            deaths += 1;
            process = start();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    (deaths, process)
}

async fn dead_letters<S: TestStore>(world: &World<S>) -> Vec<DeadLetter> {
    world.outbox.dead_letters(&DeadLetterFilter::default(), 100).await.unwrap()
}

async fn dead_keys<S: TestStore>(world: &World<S>) -> Vec<(String, String, u32)> {
    let of = |dead: DeadLetter| (dead.stage.to_string(), dead.envelope.key.clone().unwrap(), dead.attempts);
    let mut found: Vec<_> = dead_letters(world).await.into_iter().map(of).collect();
    found.sort();
    found
}

fn assert_alone_and_charged(dead: &[DeadLetter]) {
    let found: Vec<_> =
        dead.iter().map(|dead| (dead.envelope.key.as_deref(), dead.reason.as_str(), dead.attempts)).collect();
    assert_eq!(found, [(Some("deadly"), "process-ended", ATTEMPTS)]);
}

async fn a_payload_that_kills_the_relay_is_alone_set_aside_out_of_a_page_of_1000<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("published");
    world.enqueue_all(&thousand(613, noted("deadly", 613))).await;
    world.enqueue_each([noted("deadly", 1_000)]).await;
    let relay = || {
        let file = file.to_str().unwrap();
        let more = ["--file", file, "--die-of", "deadly", "--takeover-ms", "300"];
        actor(ACTOR, &[&["relay", "--db", &world.url], &more[..]].concat())
    };
    let published = || FileBroker::lines(&file).iter().map(|line| line.seq).collect::<HashSet<_>>().len();

    let (deaths, _last) =
        deaths(relay, async || published() == 999 && !dead_letters(&world).await.is_empty()).await;

    println!("{deaths} deaths");
    assert!(deaths <= SEARCH + ATTEMPTS, "{deaths} deaths");
    assert_alone_and_charged(&dead_letters(&world).await);
    let status = world.outbox.store().status().await.unwrap();
    assert_eq!((status[0].held, status[0].parked_keys), (1, 1), "the next of its key waits for a person");
}

async fn a_payload_that_kills_the_consumer_is_alone_set_aside_and_its_key_waits<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    world.enqueue_all(&thousand(613, planned("deadly", 613, Plan::KillProcess))).await;
    world.enqueue_each([noted("deadly", 1_000)]).await;
    let consumer = || actor(ACTOR, &["consume", "--db", &world.url, "--takeover-ms", "300"]);

    let (deaths, _last) = deaths(consumer, async || {
        world.outbox.store().effect_count().await == 999 && !dead_letters(&world).await.is_empty()
    })
    .await;

    println!("{deaths} deaths");
    assert!(deaths <= SEARCH + ATTEMPTS, "{deaths} deaths");
    assert_alone_and_charged(&dead_letters(&world).await);
    let effects = world.outbox.store().effects().await;
    assert_eq!(numbers_of(&effects, "deadly"), Vec::<i64>::new());
    assert!((0..100).all(|key| numbers_of(&effects, &format!("key-{key}")).is_sorted()));
}

async fn a_payload_that_kills_two_stages_of_one_process_costs_each_its_own_deaths_alone<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("published");
    world.enqueue_all(&thousand(613, planned("deadly", 613, Plan::KillProcess))).await;
    let process = || {
        let file = file.to_str().unwrap();
        let more = ["--file", file, "--die-of", "deadly", "--takeover-ms", "300"];
        actor(ACTOR, &[&["work", "--db", &world.url], &more[..]].concat())
    };
    let published = || FileBroker::lines(&file).iter().map(|line| line.seq).collect::<HashSet<_>>().len();

    let (deaths, _last) = deaths(process, async || {
        dead_letters(&world).await.len() == 2
            && published() == 999
            && world.outbox.store().effect_count().await == 999
    })
    .await;

    println!("{deaths} deaths");
    // What one stage has found out of its suspects may be lost in a death by the other.
    assert!(deaths <= 2 * (SEARCH + ATTEMPTS) + SEARCH, "{deaths} deaths");
    let stages = [format!("consumer/{}", S::CONSUMER), "relay/default".to_owned()];
    assert_eq!(dead_keys(&world).await, stages.map(|stage| (stage, "deadly".to_owned(), ATTEMPTS)));
}

async fn two_payloads_that_kill_are_each_set_aside_at_a_cost_of_its_own<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let mut events = thousand(613, planned("deadly-1", 613, Plan::KillProcess));
    events[200] = planned("deadly-0", 200, Plan::KillProcess);
    world.enqueue_all(&events).await;
    let consumer = || actor(ACTOR, &["consume", "--db", &world.url, "--takeover-ms", "300"]);

    let (deaths, _last) = deaths(consumer, async || {
        world.outbox.store().effect_count().await == 998 && dead_letters(&world).await.len() == 2
    })
    .await;

    println!("{deaths} deaths");
    assert!(deaths <= 2 * (SEARCH + ATTEMPTS), "{deaths} deaths");
    let stage = format!("consumer/{}", S::CONSUMER);
    let keys = ["deadly-0", "deadly-1"];
    assert_eq!(dead_keys(&world).await, keys.map(|key| (stage.clone(), key.to_owned(), ATTEMPTS)));
}

async fn what_killed_a_process_is_tried_alone_when_it_is_replayed<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    world.enqueue_all(&[planned("deadly", 0, Plan::KillProcess)]).await;
    let consumer = || actor(ACTOR, &["consume", "--db", &world.url, "--takeover-ms", "300"]);
    let (_, mut last) = deaths(consumer, async || !dead_letters(&world).await.is_empty()).await;
    last.kill();
    world.outbox.replay(&DeadLetterFilter::default(), &Terms::new("test", "once more")).await.unwrap();

    let (again, _last) =
        deaths(consumer, async || dead_letters(&world).await.iter().any(|dead| dead.attempts > ATTEMPTS))
            .await;

    println!("{again} deaths");
    assert!(again <= ATTEMPTS, "{again} deaths");
}

/// Behind each head that is done the next of its key is due at once, and more of them than there are suspects.
async fn heads_that_are_due_all_the_time_hide_no_payload_that_kills<S: TestStore>() {
    const KEYS: i64 = 20;
    const HELD: i64 = 100 * KEYS;
    let Some(world) = World::<S>::start().await else { return };
    let consumer = || actor(ACTOR, &["consume", "--db", &world.url, "--takeover-ms", "1000"]);
    let mut first = consumer();
    let key = |n: i64| format!("held-{}", n % KEYS);
    world.enqueue_all(&(0..KEYS).map(|n| planned(&key(n), n, Plan::FailForGood)).collect::<Vec<_>>()).await;
    eventually("their keys wait", async || dead_letters(&world).await.len() == KEYS as usize).await;
    world.enqueue_all(&(0..HELD).map(|n| noted(&key(n), n)).collect::<Vec<_>>()).await;
    let held =
        async || world.outbox.store().status().await.unwrap().iter().map(|stage| stage.held).sum::<u64>();
    eventually("all of these keys are held", async || held().await == HELD.cast_unsigned()).await;
    first.kill();
    world.outbox.discard(&DeadLetterFilter::default(), &Terms::new("test", "mended")).await.unwrap();
    world.enqueue_each([planned("deadly", 0, Plan::KillProcess)]).await;

    let (deaths, _last) = deaths(consumer, async || {
        world.outbox.store().effect_count().await == HELD as usize && dead_letters(&world).await.len() == 1
    })
    .await;

    println!("{deaths} deaths");
    // A lease that is lost on a slow machine has the search begin again.
    assert!(deaths <= 2 * SEARCH + ATTEMPTS, "{deaths} deaths");
    assert_alone_and_charged(&dead_letters(&world).await);
}

async fn processes_that_are_killed_for_other_reasons_charge_nobody<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let consume = || actor(ACTOR, &["consume", "--db", &world.url, "--takeover-ms", "300"]);
    let mut done = 0;
    for round in 0..6 {
        let mut process = consume();
        world.enqueue_each((0..20).map(|n| noted(&format!("key-{}", n % 3), round * 20 + n))).await;
        done += 5;
        eventually("some are handled", async || world.outbox.store().effect_count().await >= done).await;
        process.kill();
    }

    let _process = consume();

    let effects = world.effects_of(120).await;
    assert_eq!(effects.len(), 120);
    assert_eq!(dead_letters(&world).await.len(), 0);
}

/// SQLite handles one event at a time in any case.
#[tokio::test(flavor = "multi_thread")]
async fn after_the_end_of_a_process_events_of_different_keys_are_still_handled_side_by_side() {
    const EVENTS: u32 = 60;
    const EACH: Duration = Duration::from_millis(500);
    let Some(world) = World::<outbox::postgres::PostgresStore>::start().await else { return };
    let plan = Plan::TakeMillis(u32::try_from(EACH.as_millis()).unwrap());
    let event = |n| planned(&format!("key-{n}"), i64::from(n), plan);
    world.enqueue_all(&(0..EVENTS).map(event).collect::<Vec<_>>()).await;
    let consume = || actor(ACTOR, &["consume", "--db", &world.url, "--takeover-ms", "1000"]);
    let mut first = consume();
    eventually("work is under way", async || world.outbox.store().effect_count().await > 0).await;
    first.kill();
    let begun = Instant::now();

    let _second = consume();

    world.effects_of(EVENTS as usize).await;
    // One after the other, those that are left would take almost all of it.
    assert!(begun.elapsed() < EACH * EVENTS / 2, "took {:?}", begun.elapsed());
}

/// Each head that is done makes the next of its key due at once.
#[tokio::test(flavor = "multi_thread")]
async fn after_the_end_of_a_process_heads_that_are_always_due_hold_no_delivery_up() {
    const HELD: i64 = 150;
    const FREE: i64 = 24;
    let Some(world) = World::<outbox::postgres::PostgresStore>::start().await else { return };
    let Some(nats) = Nats::private().await else { return };
    let relay = world.relay(nats_broker(&nats.url(), None)).await;
    let consume = || actor(ACTOR, &["consume", "--db", &world.url, "--broker", &nats.url()]);
    let mut first = consume();
    world.enqueue_each([planned("held", 0, Plan::FailForGood)]).await;
    eventually("its key waits", async || !dead_letters(&world).await.is_empty()).await;
    let event = |n| planned("held", n, Plan::TakeMillis(20));
    world.enqueue_all(&(1..=HELD).map(event).collect::<Vec<_>>()).await;
    let held =
        async || world.outbox.store().status().await.unwrap().iter().map(|stage| stage.held).sum::<u64>();
    eventually("all of its key are held", async || held().await == HELD.cast_unsigned()).await;
    first.kill();
    world.outbox.discard(&DeadLetterFilter::default(), &Terms::new("test", "mended")).await.unwrap();
    world.enqueue_each((0..FREE).map(|n| noted(&format!("free-{n}"), n))).await;
    eventually("all is published", async || world.relay_lag().await == 0).await;

    let _second = consume();

    let effects = world.effects_of(usize::try_from(HELD + FREE).unwrap()).await;
    let last_free = effects.iter().rposition(|(key, _)| key != "held").unwrap();
    assert!(last_free + 20 < effects.len(), "the last of other keys came at place {last_free}");
    relay.stop().await.unwrap();
}
