//! What is wrong with a database of PostgreSQL and the server around it.

use super::{assert_says, codes, one};
use outbox::{
    Finding, Outbox, Tolerance,
    postgres::{PostgresConfig, PostgresStore, Role},
};
use outbox_tests::memory_broker::MemoryBroker;
use outbox_tests::servers::Postgres;
use outbox_tests::world::{World, eventually, noted};
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use std::sync::Arc;
use std::time::Duration;

/// A tolerance for transactions that have only just begun.
fn no_transactions() -> Tolerance {
    Tolerance { transaction: Duration::ZERO, ..Tolerance::default() }
}

async fn world_on(server: &Postgres) -> World<PostgresStore> {
    World::at(&server.fresh_database().await).await
}

async fn connect(world: &World<PostgresStore>) -> PgConnection {
    PgConnection::connect(&world.url).await.unwrap()
}

async fn execute(connection: &mut PgConnection, statement: &str) {
    sqlx::raw_sql(AssertSqlSafe(statement.to_owned())).execute(connection).await.unwrap();
}

async fn examined(world: &World<PostgresStore>) -> Vec<Finding> {
    world.outbox.examine(&Tolerance::default()).await.unwrap()
}

#[tokio::test]
async fn tables_that_are_missing_or_too_new_are_the_only_finding() {
    let Some(server) = Postgres::shared().await else { return };
    let store = PostgresStore::connect(&server.fresh_database().await).await.unwrap();
    let empty = Outbox::builder(store).build().examine(&Tolerance::default()).await.unwrap();
    assert_eq!(empty.len(), 1, "{empty:#?}");
    assert_says(one(&empty, "tables-unfit"), &["missing", "`outbox migrate`"]);

    let world = world_on(server).await;
    execute(&mut connect(&world).await, "UPDATE outbox_version SET version = 99, build_version_min = 99")
        .await;
    let newer = examined(&world).await;
    assert_eq!(newer.len(), 1, "{newer:#?}");
    assert_says(one(&newer, "tables-unfit"), &["99", "deploy the newer build"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_that_cannot_be_trusted_are_named_all_at_once_and_repaired() {
    let Some(server) = Postgres::shared().await else { return };
    let world = world_on(server).await;
    world.enqueue_each([noted("a", 1), noted("a", 2), noted("a", 3)]).await;
    let mut owner = connect(&world).await;
    execute(&mut owner, "ALTER SEQUENCE outbox_seq CACHE 10 CYCLE").await;
    execute(&mut owner, "SELECT setval('outbox_seq', 1000000000000000000)").await;

    let findings = examined(&world).await;

    assert_eq!(codes(&findings, "log"), ["sequence-unsafe", "sequence-unsafe", "sequence-behind"]);
    assert_says(&findings[0], &["10 numbers at once", "`outbox repair`"]);
    assert_says(one(&findings, "sequence-behind"), &["1000000000000000002", "1000000000000000000"]);
    world.outbox.store().repair().await.unwrap();
    assert_eq!(examined(&world).await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_that_stays_open_is_named_with_its_session() {
    let Some(server) = Postgres::private().await else { return };
    let world = world_on(&server).await;
    let mut session = connect(&world).await;
    execute(&mut session, "SET application_name = 'the shop'").await;
    let mut tx = session.begin().await.unwrap();
    world.outbox.enqueue(&mut tx, &noted("a", 1)).await.unwrap();

    let findings = world.outbox.examine(&no_transactions()).await.unwrap();

    let long = one(&findings, "transaction-long");
    assert_says(
        long,
        &[
            "the shop",
            "`postgres`",
            "idle in transaction",
            "holds numbers of the log",
            "pg_terminate_backend",
        ],
    );
    assert_eq!(examined(&world).await, [], "it is not open for long");
    tx.commit().await.unwrap();
    assert_eq!(world.outbox.examine(&no_transactions()).await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prepared_transaction_that_nobody_ends_is_named() {
    let Some(server) = Postgres::private().await else { return };
    let world = world_on(&server).await;
    let mut session = connect(&world).await;
    execute(
        &mut session,
        "BEGIN; SELECT nextval('outbox_seq'), pg_current_xact_id(); PREPARE TRANSACTION 'it''s'",
    )
    .await;

    let findings = world.outbox.examine(&no_transactions()).await.unwrap();

    let prepared = one(&findings, "transaction-prepared");
    assert_eq!(prepared.about, "it's");
    assert_says(prepared, &["ROLLBACK PREPARED 'it''s'"]);
    execute(&mut session, "ROLLBACK PREPARED 'it''s'").await;
    assert_eq!(world.outbox.examine(&no_transactions()).await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slot_that_holds_the_log_of_the_server_is_named() {
    let Some(server) = Postgres::private_with(&["max_slot_wal_keep_size=64MB", "min_wal_size=32MB"]).await
    else {
        return;
    };
    let world = world_on(&server).await;
    let mut session = connect(&world).await;
    execute(&mut session, "SELECT pg_create_physical_replication_slot('standby', true)").await;
    write_ahead(&mut session, 1).await;
    assert_eq!(examined(&world).await, [], "a little is no matter");

    let tolerance = Tolerance { slot_bytes: 8 << 20, ..Tolerance::default() };
    let findings = world.outbox.examine(&tolerance).await.unwrap();

    let behind = one(&findings, "slot-behind");
    assert_eq!(behind.about, "standby");
    assert_says(behind, &["used by nobody", "MiB of WAL", "pg_drop_replication_slot('standby')"]);

    write_ahead(&mut session, 8).await;
    execute(&mut session, "CHECKPOINT").await;
    assert_eq!(one(&examined(&world).await, "slot-lost").about, "standby");
    execute(&mut session, "SELECT pg_drop_replication_slot('standby')").await;
    assert_eq!(world.outbox.examine(&tolerance).await.unwrap(), []);
}

/// Fills so many segments of 16 MiB.
async fn write_ahead(session: &mut PgConnection, segments: u32) {
    for _ in 0..segments {
        execute(session, "SELECT pg_logical_emit_message(false, 'test', 'x'), pg_switch_wal()").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_that_may_not_read_is_told_so_and_those_that_may_are_not() {
    let Some(server) = Postgres::private().await else { return };
    let world = world_on(&server).await;
    let database = world.url.rsplit('/').next().unwrap().split('?').next().unwrap();
    let mut owner = connect(&world).await;
    for (name, role) in [("writes", Role::Producer), ("relays", Role::Relay), ("handles", Role::Consumer)] {
        execute(&mut owner, &format!("CREATE ROLE {name} LOGIN")).await;
        world.outbox.store().grant(role, name).await.unwrap();
        let url = server.url_as(name, database);
        let store = PostgresStore::connect_with(&url, PostgresConfig::default()).await.unwrap();
        let outbox = Outbox::builder(store).build();

        let findings = outbox.examine(&Tolerance::default()).await.unwrap();

        if role == Role::Producer {
            assert_says(
                one(&findings, "rights-missing"),
                &["outbox_progress", "outbox_log", "the rights of a relay"],
            );
        } else {
            assert_eq!(findings, [], "{name}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn retention_that_somebody_keeps_from_its_work_is_named() {
    let Some(server) = Postgres::private().await else { return };
    let world = world_on(&server).await;
    world.enqueue_each([noted("a", 1)]).await;
    let mut session = connect(&world).await;
    execute(&mut session, "UPDATE outbox_log SET occurred_at = occurred_at - interval '8 days'").await;
    let mut reader = connect(&world).await;
    let mut tx = reader.begin().await.unwrap();
    execute(&mut tx, "SELECT FROM outbox_log").await;
    let broker = Arc::new(MemoryBroker::default());
    let relay = world.relay(broker.clone()).await;
    eventually("the event is published", async || broker.confirmed().len() == 1).await;

    eventually("it is settled, and in the way", async || {
        !codes(&examined(&world).await, "upkeep").is_empty()
    })
    .await;
    let findings = examined(&world).await;

    assert_says(one(&findings, "upkeep-late"), &["rows past retention are there for", "locked"]);
    tx.rollback().await.unwrap();
    eventually("it is removed", async || examined(&world).await.is_empty()).await;
    relay.stop().await.unwrap();
}
