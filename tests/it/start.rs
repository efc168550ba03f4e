//! What a runner refuses to start with: each is one clear error, and nothing is left running.

use futures_util::future::BoxFuture;
use outbox::broker::{Broker, BrokerError, Capabilities, Outgoing, Published};
use outbox::postgres::{PostgresConfig, PostgresStore};
use outbox::sqlite::SqliteStore;
use outbox::{Catalog, Event, Outbox, RunError, StoreError, consumer};
use outbox_tests::warnings::Warnings;
use outbox_tests::world::World;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

async fn refusal(
    build: impl FnOnce(outbox::RunnerBuilder<SqliteStore>) -> outbox::RunnerBuilder<SqliteStore>,
) -> String {
    let world = World::<SqliteStore>::start().await.expect("SQLite is always here");
    let error = build(world.outbox.runner()).start().await.expect_err("the runner must not start");
    assert!(matches!(error, RunError::Consumers(_) | RunError::Nothing), "{error:?}");
    error.to_string()
}

fn all_but(left_out: &[&str]) -> Vec<&'static str> {
    let catalog = Catalog::collect().unwrap();
    let names = catalog.consumers().iter().map(|consumer| consumer.name);
    names.filter(|name| !left_out.contains(name)).collect()
}

#[tokio::test]
async fn a_consumer_that_is_linked_but_neither_run_nor_run_elsewhere_is_named_with_its_line() {
    let text = refusal(|runner| {
        let left_out = ["world.note-sqlite", "world.note-postgres"];
        runner.consume_locally().only(["world.note-sqlite"]).elsewhere(all_but(&left_out))
    })
    .await;
    assert!(text.contains("consumer `world.note-postgres` at"), "{text}");
    assert!(text.contains("consumer.rs:"), "{text}");
    assert!(text.contains("`elsewhere`"), "{text}");
}

#[tokio::test]
async fn a_handler_that_takes_another_databases_transaction_is_named_with_its_line() {
    let text = refusal(|runner| {
        let elsewhere = all_but(&["world.note-postgres"]);
        runner.consume_locally().only(["world.note-postgres"]).elsewhere(elsewhere)
    })
    .await;
    assert!(text.contains("consumer `world.note-postgres` at"), "{text}");
    assert!(text.contains("sqlite"), "{text}");
}

#[tokio::test]
async fn a_state_that_nobody_gave_is_named_with_the_handlers_line() {
    let text = refusal(|runner| {
        let elsewhere = all_but(&["world.note-sqlite"]);
        runner.consume_locally().only(["world.note-sqlite"]).elsewhere(elsewhere)
    })
    .await;
    assert!(text.contains("consumer `world.note-sqlite` at"), "{text}");
    assert!(text.contains("AtomicBool"), "{text}");
    assert!(text.contains("`.state("), "{text}");
}

#[tokio::test]
async fn a_name_that_no_consumer_has_is_refused() {
    let text = refusal(|runner| runner.consume_locally().only(["world.note-sqlight"])).await;
    assert!(text.contains("no consumer `world.note-sqlight`"), "{text}");
}

#[tokio::test]
async fn a_runner_with_nothing_to_run_says_so() {
    let text = refusal(|runner| runner).await;
    assert!(text.contains("consume_locally"), "{text}");
}

#[tokio::test]
async fn a_database_that_cannot_be_reached_is_waited_for_as_long_as_configured() {
    let url = "postgres://postgres@127.0.0.1:1/shop?sslmode=disable";
    let patience = Duration::from_secs(1);
    let begun = Instant::now();

    let config = PostgresConfig { patience, ..PostgresConfig::default() };
    let error = PostgresStore::connect_with(url, config).await.expect_err("nobody listens there");

    assert!(begun.elapsed() >= patience && begun.elapsed() < 25 * patience, "{:?}", begun.elapsed());
    assert!(error.is_transient());
    assert!(error.source().unwrap().to_string().contains("refused"), "{error:?}");
}

#[tokio::test]
async fn sqlite_tables_that_need_a_newer_program_are_refused_and_newer_ones_that_do_not_are_used() {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}/store.db", dir.path().display());
    let store = SqliteStore::open(&url).await.unwrap();
    let set = async |version: i64, minimum: i64| {
        let update =
            sqlx::query("UPDATE outbox_meta SET version = ?, build_minimum = ?").bind(version).bind(minimum);
        update.execute(store.pool()).await.unwrap();
    };

    set(900, 1).await;
    SqliteStore::open(&url).await.unwrap();

    set(900, 900).await;
    let error = SqliteStore::open(&url).await.unwrap_err();
    assert!(matches!(error, StoreError::Schema { .. }), "{error:?}");
    assert!(error.to_string().contains("900"), "{error}");
    assert!(!error.is_transient());
}

#[tokio::test]
async fn a_deferred_transaction_that_was_overtaken_is_a_transient_error_that_names_the_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&format!("sqlite://{}/store.db", dir.path().display())).await.unwrap();
    let outbox = Outbox::builder(store).source("/start").build();
    let pool = outbox.store().pool();
    let note = outbox_tests::world::noted("a", 1);
    let mut deferred = pool.begin().await.unwrap();
    sqlx::query("SELECT count(*) FROM outbox_log").execute(&mut *deferred).await.unwrap();
    let mut tx = outbox.begin().await.unwrap();
    outbox.enqueue(&mut tx, &note).await.unwrap();
    tx.commit().await.unwrap();

    let error = outbox.enqueue(&mut deferred, &note).await.unwrap_err();

    assert!(error.is_transient());
    assert!(error.source().unwrap().to_string().contains("outbox.begin()"), "{error:?}");
}

#[tokio::test]
async fn sqlite_tables_that_are_up_to_date_are_opened_beside_a_writer() {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}/store.db", dir.path().display());
    let outbox = Outbox::builder(SqliteStore::open(&url).await.unwrap()).build();
    let writer = outbox.begin().await.unwrap();

    let opened = tokio::time::timeout(std::time::Duration::from_secs(10), SqliteStore::open(&url)).await;

    opened.expect("it waits for nobody").unwrap();
    writer.rollback().await;
}

#[derive(Debug, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "start.loose", version = 1, topic = "start", unordered)]
struct Loose {}

#[consumer(name = "start.take-loose")]
async fn take_loose(_event: Loose) -> Result<(), Infallible> {
    Ok(())
}

/// A broker to consume from, whose topics have nothing to take.
struct Empty {
    ordered: bool,
}

impl Broker for Empty {
    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::least("empty");
        capabilities.ordered = self.ordered;
        capabilities
    }

    fn publish<'a>(&'a self, _: &'a [Outgoing<'a>]) -> BoxFuture<'a, Result<Vec<Published>, BrokerError>> {
        unreachable!("nobody relays")
    }

    fn partitions<'a>(&'a self, _topic: &'a str) -> BoxFuture<'a, Result<Vec<String>, BrokerError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }
}

#[tokio::test]
async fn a_broker_without_an_order_is_told_once_where_a_consumer_takes_events_with_a_key() {
    let world = World::<SqliteStore>::start().await.expect("SQLite is always here");
    let warned = async |consumers: [&'static str; 2], ordered: bool| {
        let (warnings, _listening) = Warnings::listen();
        let runner = world.runner_of(consumers).state(Arc::new(AtomicBool::default()));
        let runner = runner.consume_from(Arc::new(Empty { ordered })).start().await.unwrap();
        let lines = warnings.lines();
        runner.stop().await.unwrap();
        lines
    };

    let lines = warned(["start.take-loose", "world.note-sqlite"], false).await;
    assert_eq!(lines.len(), 1, "{lines:#?}");
    for part in ["WARN the broker gives no order per key", "handled out of order", "`ordered`", "`unordered`"]
    {
        assert!(lines[0].contains(part), "`{part}` is missing in {lines:#?}");
    }
    assert_eq!(warned(["start.take-loose", "world.note-sqlite"], true).await, [""; 0]);
    assert_eq!(warned(["start.take-loose"; 2], false).await, [""; 0]);
}
