//! A handler that writes on a connection of its own: nobody can take that back, and nobody but the handler can count it.

use outbox::postgres::PostgresStore;
use outbox::sqlite::SqliteStore;
use outbox::{Catalog, Context, DeadLetterFilter, Event, Runner, Start, State, consumer};
use outbox_tests::world::{TestStore, World, eventually};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlx::postgres::PgPool;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions};
use sqlx::{PgTransaction, SqliteTransaction};
use std::error::Error;
use std::str::FromStr;
use std::time::Duration;

/// Something to write down twice: in the handler's transaction, and elsewhere if it says so.
#[derive(Debug, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "elsewhere.sent", version = 1, topic = "elsewhere")]
struct Sent {
    #[event(key)]
    key: String,
    n: i64,
    is_elsewhere: bool,
}

type Failed = Box<dyn Error + Send + Sync>;

const WRITE: &str = "INSERT INTO elsewhere (n) VALUES ($1)";

#[consumer(name = "elsewhere.postgres", retry(attempts = 3, base = "10ms", max = "20ms"))]
async fn send_postgres(
    event: Sent,
    tx: &mut PgTransaction<'_>,
    ctx: &Context,
    own: State<PgPool>,
) -> Result<(), Failed> {
    PostgresStore::write_effect(tx, &event.key, event.n).await?;
    if event.is_elsewhere {
        sqlx::query(WRITE).bind(event.n).execute(&*own).await?;
    }
    if ctx.attempt() == 1 { Err("the first attempt fails".into()) } else { Ok(()) }
}

#[consumer(name = "elsewhere.sqlite", retry(attempts = 3, base = "10ms", max = "20ms"))]
async fn send_sqlite(
    event: Sent,
    tx: &mut SqliteTransaction<'_>,
    own: State<SqlitePool>,
) -> Result<(), Failed> {
    SqliteStore::write_effect(tx, &event.key, event.n).await?;
    if event.is_elsewhere {
        sqlx::query(WRITE).bind(event.n).execute(&*own).await?;
    }
    Ok(())
}

async fn run<S: TestStore>(world: &World<S>, name: &'static str, own: impl Send + Sync + 'static) -> Runner {
    let catalog = Catalog::collect().unwrap();
    let others = catalog.consumers().iter().map(|consumer| consumer.name).filter(|other| *other != name);
    let runner = world.outbox.runner().only([name]).elsewhere(others).state(own);
    let runner = runner.start_at(Start::Earliest).consume_locally();
    runner.settings(|settings| settings.poll = Duration::from_millis(20)).start().await.unwrap()
}

async fn enqueue<S: TestStore>(world: &World<S>, events: &[Sent]) {
    let mut tx = world.outbox.begin().await.unwrap();
    world.outbox.enqueue_batch(&mut tx, events).await.unwrap();
    tx.commit().await.unwrap();
}

fn sent(key: &str, n: i64, is_elsewhere: bool) -> Sent {
    Sent { key: key.to_owned(), n, is_elsewhere }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_handler_writes_on_a_connection_of_its_own_is_there_once_for_each_attempt() {
    let Some(world) = World::<PostgresStore>::start().await else { return };
    let own = PgPool::connect(&world.url).await.unwrap();
    sqlx::query("CREATE TABLE elsewhere (n bigint)").execute(&own).await.unwrap();
    enqueue(&world, &[sent("a", 0, true), sent("a", 1, true)]).await;

    let runner = run(&world, "elsewhere.postgres", own.clone()).await;

    assert_eq!(world.effects_of(2).await, [("a".to_owned(), 0), ("a".to_owned(), 1)]);
    let written: Vec<i64> =
        sqlx::query_scalar("SELECT n FROM elsewhere ORDER BY n").fetch_all(&own).await.unwrap();
    assert_eq!(written, [0, 0, 1, 1]);
    runner.stop().await.unwrap();
}

/// SQLite has one writer, and while a handler runs that is its transaction. What waits for it there waits for itself.
#[tokio::test(flavor = "multi_thread")]
async fn a_handler_that_waits_for_its_own_write_lock_on_sqlite_fails_and_its_event_is_set_aside() {
    let world = World::<SqliteStore>::start().await.expect("SQLite is always here");
    let options = SqliteConnectOptions::from_str(&world.url).unwrap();
    let options = options.busy_timeout(Duration::from_millis(50));
    let own = SqlitePoolOptions::new().connect_with(options).await.unwrap();
    sqlx::query("CREATE TABLE elsewhere (n bigint)").execute(&own).await.unwrap();
    enqueue(&world, &[sent("a", 0, true), sent("b", 1, false)]).await;

    let runner = run(&world, "elsewhere.sqlite", own.clone()).await;

    assert_eq!(world.effects_of(1).await, [("b".to_owned(), 1)]);
    let dead = async || world.outbox.dead_letters(&DeadLetterFilter::default(), 2).await.unwrap();
    eventually("the event is set aside", async || !dead().await.is_empty()).await;
    let dead = dead().await;
    assert_eq!((dead.len(), dead[0].reason.as_str(), dead[0].attempts), (1, "handler-error", 3));
    assert!(dead[0].error_chain.contains("locked"), "{}", dead[0].error_chain);
    let written: Vec<i64> = sqlx::query_scalar("SELECT n FROM elsewhere").fetch_all(&own).await.unwrap();
    assert!(written.is_empty());
    runner.stop().await.unwrap();
}
