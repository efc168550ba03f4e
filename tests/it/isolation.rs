//! One bad event, or one bad set-up, harms no other.

use outbox::held::{Share, Stage};
use outbox::lease::{LeaseName, Owner};
use outbox::postgres::{PostgresConfig, PostgresStore};
use outbox::sqlite::SqliteStore;
use outbox::store::StatementValue;
use outbox::{
    Catalog, DeadLetterFilter, EnqueueError, Event, Outbox, RelayConfig, RunError, Start, State, Store,
    Terms, consumer, draft,
};
use outbox_tests::memory_broker::MemoryBroker;
use outbox_tests::world::{Plan, TestStore, World, eventually, noted, numbers_of, planned};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlx::PgTransaction;
use sqlx::postgres::PgPoolOptions;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

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

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_can_never_be_handled_does_not_park_those_before_it() {
    let world = World::<SqliteStore>::start().await.expect("SQLite is always here");
    world.enqueue_each([planned("a", 0, Plan::FailFirst(3))]).await;
    let (_, mut unreadable) = world.outbox.statement(&noted("a", 1)).unwrap();
    for value in &mut unreadable.values {
        if matches!(value, StatementValue::Text(Some(text)) if text.starts_with('{') && text.len() > 2) {
            *value = StatementValue::Text(Some("no JSON".to_owned()));
        }
    }
    world.outbox.store().run(&unreadable).await;
    world.enqueue_each([noted("a", 2)]).await;

    let consumer = world.consume().await;

    assert_eq!(world.effects_of(1).await, [("a".to_owned(), 0)], "it was tried again");
    eventually("the unreadable one is set aside", async || {
        let dead = world.outbox.dead_letters(&DeadLetterFilter::default(), 10).await.unwrap();
        dead.iter().map(|dead| dead.reason.as_str()).eq(["undecodable"])
    })
    .await;
    world.outbox.discard(&DeadLetterFilter::default(), &Terms::new("test", "mended")).await.unwrap();
    assert_eq!(world.effects_of(2).await, [("a".to_owned(), 0), ("a".to_owned(), 2)]);
    consumer.stop().await.unwrap();
}

/// Keeps its handler busy for a while.
#[derive(Debug, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "isolation.slow", version = 1, topic = "isolation")]
struct Slow {
    #[event(key)]
    key: String,
    lasts: Duration,
}

/// How often a slow handler began.
type Begun = Arc<AtomicU32>;

#[consumer(name = "isolation.slow-postgres", timeout = "20s")]
async fn slow_postgres(
    event: Slow,
    _tx: &mut PgTransaction<'_>,
    begun: State<Begun>,
) -> Result<(), Infallible> {
    begun.fetch_add(1, Ordering::SeqCst);
    tokio::time::sleep(event.lasts).await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_outlasts_handlers_that_hold_every_connection() {
    const NAME: &str = "isolation.slow-postgres";
    const COUNT: u32 = 16;
    let Some(world) = World::<PostgresStore>::start().await else { return };
    let pool = PgPoolOptions::new().max_connections(3).connect(&world.url).await.unwrap();
    let store = PostgresStore::with_pool(pool, PostgresConfig::default()).unwrap();
    let outbox = Outbox::builder(store).source("/isolation").build();
    let slow =
        |n: u32| Slow { key: n.to_string(), lasts: Duration::from_millis(900 + 130 * u64::from(n % 5)) };
    let mut tx = outbox.begin().await.unwrap();
    outbox.enqueue_batch(&mut tx, (0..COUNT).map(slow).collect::<Vec<_>>().iter()).await.unwrap();
    tx.commit().await.unwrap();
    let catalog = Catalog::collect().unwrap();
    let others = catalog.consumers().iter().map(|consumer| consumer.name).filter(|other| *other != NAME);
    let begun = Begun::default();
    let runner = outbox.runner().only([NAME]).elsewhere(others).start_at(Start::Earliest).consume_locally();
    let runner = runner.state(Arc::clone(&begun)).settings(|settings| {
        settings.takeover = Duration::from_millis(800);
        settings.poll = Duration::from_millis(50);
    });
    let runner = runner.start().await.unwrap();

    eventually("all is handled", async || {
        let status = world.outbox.store().status().await.unwrap();
        let stage = status.iter().find(|stage| stage.stage.as_str() == format!("consumer/{NAME}"));
        stage.is_some_and(|stage| stage.lag == Some(0))
    })
    .await;

    runner.stop().await.unwrap();
    assert_eq!(begun.load(Ordering::SeqCst), COUNT, "a handler was ended though nobody else had its lease");
}

/// What is counted while it is handled.
#[derive(Debug, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "isolation.counted", version = 1, topic = "isolation-counted")]
struct Counted {
    #[event(key)]
    key: String,
}

/// The handlers that run, and the most that ever did.
#[derive(Debug, Default)]
struct Running {
    now: AtomicU32,
    most: AtomicU32,
}

#[consumer(name = "isolation.counting-postgres", concurrency = 8)]
async fn counting_postgres(
    _event: Counted,
    _tx: &mut PgTransaction<'_>,
    running: State<Arc<Running>>,
) -> Result<(), Infallible> {
    let now = running.now.fetch_add(1, Ordering::SeqCst) + 1;
    running.most.fetch_max(now, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_millis(20)).await;
    running.now.fetch_sub(1, Ordering::SeqCst);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn deliveries_that_handlers_work_on_count_among_those_in_memory() {
    const NAME: &str = "isolation.counting-postgres";
    let Some(world) = World::<PostgresStore>::start().await else { return };
    let mut tx = world.outbox.begin().await.unwrap();
    let counted: Vec<_> = (0..40).map(|n| Counted { key: n.to_string() }).collect();
    world.outbox.enqueue_batch(&mut tx, &counted).await.unwrap();
    tx.commit().await.unwrap();
    let running = Arc::new(Running::default());
    let runner = world.runner_of([NAME]).consume_locally().state(Arc::clone(&running));

    let runner = runner.settings(|settings| settings.in_flight_max = 2).start().await.unwrap();

    eventually("all is handled", async || {
        let status = world.outbox.store().status().await.unwrap();
        let stage = status.iter().find(|stage| stage.stage.as_str() == format!("consumer/{NAME}"));
        stage.is_some_and(|stage| stage.lag == Some(0))
    })
    .await;
    assert_eq!(running.most.load(Ordering::SeqCst), 2, "the most handlers at once");
    runner.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_is_renewed_beside_a_loop_that_takes_the_write_lock_again_and_again() {
    let world = World::<SqliteStore>::start().await.expect("SQLite is always here");
    let outbox = world.outbox.clone();
    let busy = tokio::spawn(async move {
        loop {
            let tx = outbox.begin().await.unwrap();
            tokio::time::sleep(Duration::from_millis(200)).await;
            tx.commit().await.unwrap();
        }
    });
    let (store, owner) = (world.outbox.store(), Owner::new());
    let lease = LeaseName::of(&Stage::relay("out"), &Share::default());
    let ttl = Duration::from_secs(60);
    store.acquire(&lease, owner, ttl).await.unwrap().expect("the lease is free");

    let leases = [lease];
    for _ in 0..5 {
        let renewed = tokio::time::timeout(Duration::from_secs(2), store.renew(&leases, owner, ttl));
        let renewed = renewed.await.expect("it waits for few others").unwrap();
        assert_eq!(renewed, leases);
    }
    busy.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_no_index_takes_is_refused_inside_the_transaction() {
    let world = World::<SqliteStore>::start().await.expect("SQLite is always here");
    let mut tx = world.outbox.begin().await.unwrap();
    for draft in [
        draft(&noted("a", 1)).source(format!("/{}", "s".repeat(3_000))),
        draft(&noted("a", 1)).trace("00-0\0", None),
        draft(&noted(&"k".repeat(3_000), 1)),
    ] {
        let refused = world.outbox.enqueue(&mut tx, draft).await.unwrap_err();
        assert!(matches!(refused, EnqueueError::Refused { .. }), "{refused}");
    }
}
