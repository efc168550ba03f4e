//! `outbox debezium-config`: what it prints fits the database, tells no secret, and warns of what would be in its way.

use super::{Relay, Shop, failed, stderr, succeeded};
use outbox::postgres::{PostgresConfig, PostgresStore};
use outbox::{RelayConfig, Store};
use outbox_tests::memory_broker::MemoryBroker;
use outbox_tests::programs;
use outbox_tests::servers::Postgres;
use outbox_tests::world::{TestStore, World, eventually, noted, quick};
use serde_json::Value;
use std::process::Output;
use std::sync::Arc;
use std::time::Duration;

fn run(url: &str, args: &[&str]) -> Output {
    let mut command = programs::outbox();
    command.arg("debezium-config").args(args).env("OUTBOX_DATABASE_URL", url).output().unwrap()
}

fn settings(url: &str, args: &[&str]) -> Value {
    let answer = succeeded(&run(url, &[args, &["--json"]].concat()));
    serde_json::from_str::<Value>(&answer).unwrap()["connector"]["config"].clone()
}

#[tokio::test]
async fn a_connector_is_for_this_database_and_has_no_password() {
    let Some(server) = Postgres::shared().await else { return };
    let url = server.fresh_database().await;
    let config = PostgresConfig { schema: "Shop".into(), prefix: "ev_".into(), ..PostgresConfig::default() };
    PostgresStore::connect_with(&url, config).await.unwrap().migrate().await.unwrap();
    let url = url.replace("postgres@", "postgres:s3cret@");
    let names = ["--schema", "Shop", "--prefix", "ev_", "--name", "shop_1", "--role", "d'\"b"];

    let text = succeeded(&run(&url, &names));

    for line in [
        r#"CREATE PUBLICATION "shop_1" FOR TABLE "Shop"."ev_log""#,
        r#"GRANT SELECT ON "Shop"."ev_log" TO "d'""b";"#,
        "name=shop_1",
        &format!("database.port={}", server.port()),
        "database.sslmode=disable",
        "table.include.list=Shop.ev_log",
        r#"snapshot.select.statement.overrides.Shop.ev_log=SELECT * FROM "Shop"."ev_log" WHERE seq > 999999999999999999 ORDER BY seq"#,
        "topic.creation.default.partitions=16",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is not in:\n{text}");
    }
    assert!(!text.contains("s3cret"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connector_begins_where_the_relay_stands_that_it_takes_over_from() {
    let Some(world) = World::<PostgresStore>::start().await else { return };
    let broker = Arc::new(MemoryBroker::default());
    broker.refuse_key("bad");
    // The second is set aside, and the third waits behind it.
    world.enqueue_each([noted("good", 1), noted("bad", 2), noted("bad", 3)]).await;
    let relay = world.outbox.runner().relay(RelayConfig::named("first"), broker).settings(quick);
    let relay = relay.start().await.unwrap();
    eventually("all is settled", async || {
        let status = world.outbox.store().status().await.unwrap();
        status.iter().any(|stage| stage.lag == Some(0) && stage.held == 1)
    })
    .await;
    relay.stop().await.unwrap();

    let select = |args: &[&str]| {
        settings(&world.url, args)["snapshot.select.statement.overrides.public.outbox_log"].to_string()
    };
    assert!(select(&[]).contains(" seq > 999999999999999999 "));
    assert!(select(&["--relay", "first"]).contains(" seq > 1000000000000000002 "));
    let warned = stderr(&run(&world.url, &["--relay", "first"]));
    assert!(warned.contains("the relay holds events"), "{warned}");
}

#[tokio::test]
async fn what_cannot_be_is_refused_and_what_is_in_the_way_is_told() {
    let shop = Shop::migrated();
    let error = failed(&shop.run(&["debezium-config"]), 2);
    assert!(error.contains("PostgreSQL only"), "{error}");

    let Some(server) = Postgres::private_with(&["wal_level=replica"]).await else { return };
    let url = server.fresh_database().await;
    PostgresStore::connect(&url).await.unwrap().migrate().await.unwrap();
    let error = failed(&run(&url, &["--name", "Shop"]), 1);
    assert!(error.contains("is no name for a replication slot"), "{error}");
    let told = stderr(&run(&url, &[]));
    assert!(told.contains("`wal_level` is not `logical`"), "{told}");
}

// Several threads: the process works on while this test waits for it.
#[tokio::test(flavor = "multi_thread")]
async fn a_scheduled_event_enters_the_log_though_no_relay_runs() {
    let Some(world) = World::<PostgresStore>::start().await else { return };
    let due = time::OffsetDateTime::now_utc() + Duration::from_secs(2);
    let mut tx = world.outbox.begin().await.unwrap();
    world.outbox.enqueue(&mut tx, outbox::draft(&noted("a", 1)).at(due)).await.unwrap();
    tx.commit().await.unwrap();
    let mut command = programs::outbox();
    command.args(["upkeep", "--json"]).env("OUTBOX_DATABASE_URL", &world.url);
    let upkeep = Relay::start(command);

    eventually("it is in the log", async || world.outbox.store().payloads().await.len() == 1).await;

    assert_eq!(upkeep.stopped().await, "{\"stopped\":true,\"upkeep\":true}\n");
}
