//! A consumer and the application share a pool: a connection is kept while there is work, and not for long.

use outbox::postgres::{PostgresConfig, PostgresStore};
use outbox::{Catalog, Event, Outbox, Runner, Start, consumer};
use outbox_tests::world::{TestStore, World, eventually, quick};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlx::PgTransaction;
use sqlx::postgres::PgPoolOptions;
use std::time::Duration;

const NAME: &str = "pool.writes";

/// Something that takes a handler some time, or fails it.
#[derive(Debug, Clone, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "pool.noted", version = 1, topic = "pool")]
struct Noted {
    #[event(key)]
    key: String,
    n: i64,
    lasts: Duration,
    fails: bool,
}

/// A version that the consumer does not know.
#[derive(Debug, Clone, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "pool.noted", version = 2, topic = "pool")]
struct NewerNoted {
    #[event(key)]
    key: String,
}

#[consumer(name = "pool.writes", retry(attempts = 2, base = "10ms", max = "50ms"))]
async fn writes(
    event: Noted,
    tx: &mut PgTransaction<'_>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    PostgresStore::write_effect(&mut *tx, &event.key, event.n).await?;
    tokio::time::sleep(event.lasts).await;
    if event.fails { Err("it is to fail".into()) } else { Ok(()) }
}

fn noted(n: i64, lasts: Duration) -> Noted {
    Noted { key: format!("key-{n}"), n, lasts, fails: false }
}

/// An application with a pool of so many connections, each of which is waited for no longer than that.
async fn application(url: &str, connections: u32, patience: Duration) -> Outbox<PostgresStore> {
    let pool = PgPoolOptions::new().max_connections(connections).acquire_timeout(patience);
    let pool = pool.connect(url).await.unwrap();
    let store = PostgresStore::with_pool(pool, PostgresConfig::default()).unwrap();
    Outbox::builder(store).source("/pool").build()
}

async fn consume(outbox: &Outbox<PostgresStore>) -> Runner {
    let catalog = Catalog::collect().unwrap();
    let others = catalog.consumers().iter().map(|consumer| consumer.name).filter(|other| *other != NAME);
    let runner = outbox.runner().only([NAME]).elsewhere(others).start_at(Start::Earliest).consume_locally();
    let runner = runner.settings(|settings| {
        quick(settings);
        // All of a backlog is in memory at once.
        settings.in_flight_max = 2_000;
    });
    runner.start().await.unwrap()
}

async fn enqueue_all<E: Event>(outbox: &Outbox<PostgresStore>, events: &[E]) {
    let mut tx = outbox.begin().await.unwrap();
    outbox.enqueue_batch(&mut tx, events).await.unwrap();
    tx.commit().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn others_get_a_connection_while_a_consumer_works_off_a_backlog() {
    const COUNT: usize = 1_600;
    let Some(world) = World::<PostgresStore>::start().await else { return };
    let lasts = Duration::from_millis(10);
    let events: Vec<Noted> = (0..COUNT as i64).map(|n| noted(n, lasts)).collect();
    enqueue_all(&world.outbox, &events).await;
    // On two connections the backlog takes longer than the patience.
    let outbox = application(&world.url, 2, Duration::from_secs(5)).await;
    let runner = consume(&outbox).await;
    eventually("it works", async || world.outbox.store().effect_count().await > 0).await;

    let mut meanwhile = 0;
    while world.outbox.store().effect_count().await < COUNT {
        let tx = outbox.begin().await.expect("the application gets a connection in time");
        tx.commit().await.unwrap();
        meanwhile += 1;
    }

    assert!(meanwhile > 10, "{meanwhile} transactions of the application came between");
    runner.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pool_of_one_connection_is_enough_whatever_becomes_of_the_events() {
    let Some(world) = World::<PostgresStore>::start().await else { return };
    let outbox = application(&world.url, 1, Duration::from_secs(20)).await;
    for n in (0..300).step_by(3) {
        let failing = Noted { fails: true, ..noted(n + 1, Duration::ZERO) };
        enqueue_all(&world.outbox, &[noted(n, Duration::ZERO), failing]).await;
        enqueue_all(&world.outbox, &[NewerNoted { key: format!("key-{}", n + 2) }]).await;
    }

    let runner = consume(&outbox).await;

    let (mut handled, mut set_aside, mut waiting) = (0, 0, 0);
    // The key of a dead letter waits too.
    eventually("each comes to its end", async || {
        handled = world.outbox.store().effect_count().await;
        let count = "SELECT (SELECT count(*) FROM outbox_dead_letter), (SELECT count(*) FROM outbox_waiting)";
        let counted: (i64, i64) = sqlx::query_as(count).fetch_one(world.outbox.store().pool()).await.unwrap();
        (set_aside, waiting) = counted;
        (handled, set_aside, waiting) == (100, 100, 200)
    })
    .await;
    runner.stop().await.unwrap();
}

/// G2, G4: a commit that is refused is known before the next event, though it begins that one's transaction too.
#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_a_constraint_refuses_in_the_middle_of_a_backlog_fails_its_event_alone() {
    const COUNT: i64 = 400;
    let Some(world) = World::<PostgresStore>::start().await else { return };
    let deferred = "
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF NEW.n % 10 = 3 THEN RAISE EXCEPTION 'the order is not paid'; END IF;
            RETURN NULL;
        END $$;
        CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON effect DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION refuse()";
    sqlx::raw_sql(deferred).execute(world.outbox.store().pool()).await.unwrap();
    let events: Vec<Noted> = (0..COUNT).map(|n| noted(n, Duration::ZERO)).collect();
    enqueue_all(&world.outbox, &events).await;
    let outbox = application(&world.url, 4, Duration::from_secs(20)).await;

    let runner = consume(&outbox).await;

    let (mut handled, mut reasons): (Vec<i64>, Vec<String>) = (Vec::new(), Vec::new());
    eventually("each comes to its end", async || {
        let pool = world.outbox.store().pool();
        handled = sqlx::query_scalar("SELECT n FROM effect ORDER BY n").fetch_all(pool).await.unwrap();
        reasons = sqlx::query_scalar("SELECT reason FROM outbox_dead_letter").fetch_all(pool).await.unwrap();
        handled.len() + reasons.len() >= events.len()
    })
    .await;
    runner.stop().await.unwrap();
    assert_eq!(handled, (0..COUNT).filter(|n| n % 10 != 3).collect::<Vec<i64>>());
    assert_eq!(reasons, vec!["commit-refused".to_owned(); 40]);
}
