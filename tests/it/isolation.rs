//! One bad event, or one bad set-up, harms no other.

use outbox::sqlite::SqliteStore;
use outbox::{DeadLetterFilter, RelayConfig, RunError, Start};
use outbox_tests::memory_broker::MemoryBroker;
use outbox_tests::world::{World, eventually, noted, numbers_of};
use std::sync::Arc;

#[tokio::test(flavor = "multi_thread")]
async fn an_event_alone_that_is_never_confirmed_delays_no_other() {
    let world = World::<SqliteStore>::start().await.expect("SQLite is always here");
    let broker = Arc::new(MemoryBroker::default());
    broker.be_unsure_of("bad", u32::MAX);
    let relay = world.relay(broker.clone()).await;
    world.enqueue_each([noted("bad", 1)]).await;
    eventually("it is tried", async || broker.attempts_of("bad") >= 1).await;

    world.enqueue_each([noted("good", 2)]).await;

    eventually("the other is published", async || broker.attempts_of("good") == 1).await;
    broker.be_unsure_of("bad", 0);
    eventually("it goes out in the end", async || broker.confirmed().len() == 2).await;
    let dead = world.outbox.dead_letters(&DeadLetterFilter::default(), 10).await.unwrap();
    assert!(dead.is_empty(), "nothing was said against the event itself: {dead:?}");
    relay.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_consumer_of_the_newest_events_misses_none_after_the_start() {
    let world = World::<SqliteStore>::start().await.expect("SQLite is always here");
    world.enqueue_each([noted("a", 1)]).await;
    let consumer = world.runner().start_at(Start::Latest).consume_locally().start().await.unwrap();

    world.enqueue_each([noted("a", 2)]).await;

    let effects = world.effects_of(1).await;
    assert_eq!(numbers_of(&effects, "a"), [2]);
    consumer.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn two_relays_of_one_name_are_refused_because_they_would_share_one_progress() {
    let world = World::<SqliteStore>::start().await.expect("SQLite is always here");
    let relay = || (RelayConfig::named("out"), Arc::new(MemoryBroker::default()));
    let ((first, one), (second, other)) = (relay(), relay());

    let refused = world.outbox.runner().relay(first, one).relay(second, other).start().await.unwrap_err();

    assert!(matches!(refused, RunError::RelayTwice { ref name } if name == "out"), "{refused}");
}
