//! What people ask of dead letters, beside live traffic, twice, at a limited rate, and when processes die half-way.

use outbox::{DeadLetter, DeadLetterFilter, Terms};
use outbox_tests::actor::actor;
use outbox_tests::on_each_store;
use outbox_tests::world::{Plan, TestStore, World, eventually, noted, numbers_of, planned};
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

on_each_store! {
    a_rate_that_nobody_kept_for_a_while_is_not_made_up_for,
    a_replay_whose_leaders_are_killed_half_way_is_finished_by_the_next,
    a_replay_beside_live_traffic_keeps_the_order_of_each_key,
    a_replay_asked_for_twice_has_one_effect,
    a_replay_that_fails_has_all_its_attempts_again,
}

fn all() -> DeadLetterFilter {
    DeadLetterFilter::default()
}

fn terms() -> Terms {
    Terms::new("test", "mended")
}

/// A world in which this store's consumer has given up one event of each of `count` keys, all mended since.
async fn given_up<S: TestStore>(count: u32) -> Option<World<S>> {
    let world = World::<S>::start().await?;
    let events = (0..count).map(|n| planned(&format!("key-{n}"), n.into(), Plan::FailUntilMended));
    world.enqueue_all(&events.collect::<Vec<_>>()).await;
    let consumer = world.consume().await;
    eventually("all are set aside", async || count_of(&world).await == u64::from(count)).await;
    consumer.stop().await.unwrap();
    world.mend();
    Some(world)
}

async fn count_of<S: TestStore>(world: &World<S>) -> u64 {
    world.outbox.count_dead_letters(&all()).await.unwrap().iter().map(|group| group.count).sum()
}

async fn a_rate_that_nobody_kept_for_a_while_is_not_made_up_for<S: TestStore>() {
    let Some(world) = given_up::<S>(21).await else { return };
    let ten_a_second = terms().per_second(NonZeroU32::new(10).unwrap());
    assert_eq!(world.outbox.replay(&all(), &ten_a_second).await.unwrap(), 21);
    world.outbox.store().age_requests(3_600).await;

    let started = Instant::now();
    let consumer = world.consume().await;

    world.effects_of(21).await;
    assert!(started.elapsed() > Duration::from_millis(1_900), "all came after {:?}", started.elapsed());
    consumer.stop().await.unwrap();
}

async fn a_replay_whose_leaders_are_killed_half_way_is_finished_by_the_next<S: TestStore>() {
    let Some(world) = given_up::<S>(150).await else { return };
    assert_eq!(world.outbox.replay(&all(), &terms()).await.unwrap(), 150);
    for part in [1, 40, 80] {
        let mut consumer = actor(
            env!("CARGO_BIN_EXE_actor"),
            &["consume", "--mended", "--db", &world.url, "--file", "none"],
        );
        let enough = async || world.outbox.store().effect_count().await >= part;
        eventually("a part of the replay is done", enough).await;
        consumer.kill();
    }

    let consumer = world.consume().await;

    let effects = world.effects_of(150).await;
    eventually("no dead letter is left", async || count_of(&world).await == 0).await;
    let mut numbers: Vec<i64> = effects.iter().map(|(_, n)| *n).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..150).collect::<Vec<_>>());
    consumer.stop().await.unwrap();
}

async fn a_replay_beside_live_traffic_keeps_the_order_of_each_key<S: TestStore>() {
    let Some(world) = given_up::<S>(5).await else { return };
    let consumer = world.consume().await;
    let live = async |numbers: std::ops::Range<i64>| {
        world.enqueue_each(numbers.map(|n| noted(&format!("key-{}", n % 5), n))).await;
    };
    live(5..50).await;

    let (all, terms) = (all(), terms());
    let (asked, ()) = tokio::join!(world.outbox.replay(&all, &terms), live(50..150));

    assert_eq!(asked.unwrap(), 5);
    let effects = world.effects_of(150).await;
    for key in 0..5 {
        let expected: Vec<i64> = (0..150).filter(|n| n % 5 == key).collect();
        assert_eq!(numbers_of(&effects, &format!("key-{key}")), expected);
    }
    consumer.stop().await.unwrap();
}

async fn a_replay_asked_for_twice_has_one_effect<S: TestStore>() {
    let Some(world) = given_up::<S>(20).await else { return };
    let (terms, all) = (terms(), all());
    let (one, other) = tokio::join!(world.outbox.replay(&all, &terms), world.outbox.replay(&all, &terms));
    assert_eq!(one.unwrap() + other.unwrap(), 20);

    let consumer = world.consume().await;
    eventually("no dead letter is left", async || count_of(&world).await == 0).await;
    assert_eq!(world.outbox.replay(&all, &terms).await.unwrap(), 0);

    assert_eq!(world.effects_of(20).await.len(), 20);
    consumer.stop().await.unwrap();
}

async fn a_replay_that_fails_has_all_its_attempts_again<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    world.enqueue_each([planned("a", 0, Plan::FailUntilMended), noted("a", 1)]).await;
    let consumer = world.consume().await;
    let only = async || world.outbox.dead_letters(&all(), 1).await.unwrap().pop();
    eventually("it is set aside", async || only().await.is_some()).await;
    let first = only().await.unwrap();

    world.outbox.replay(&all(), &terms()).await.unwrap();
    let is_set_aside_again = |dead: DeadLetter| !dead.replaying && dead.attempts > first.attempts;
    eventually("it is set aside again", async || only().await.is_some_and(is_set_aside_again)).await;

    let second = only().await.unwrap();
    assert_eq!((second.id, second.attempts), (first.id, 2 * first.attempts), "its history stays");
    assert_eq!(second.first_failed_at, first.first_failed_at);
    assert!(second.last_failed_at > first.last_failed_at);
    assert_eq!(world.outbox.store().effect_count().await, 0, "its key still waits");
    world.mend();
    assert_eq!(world.outbox.replay(&all(), &terms()).await.unwrap(), 1);
    assert_eq!(numbers_of(&world.effects_of(2).await, "a"), [0, 1]);
    consumer.stop().await.unwrap();
}
