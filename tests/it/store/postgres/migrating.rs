//! Creating and updating the tables beside a living application.

use super::World;
use outbox::{
    Outbox, RelayConfig,
    postgres::{PostgresConfig, PostgresStore},
    store::{Store, StoreError},
};
use outbox_tests::{memory_broker::MemoryBroker, servers::Postgres, world::noted};
use sqlx::{AssertSqlSafe, Connection, PgConnection, PgPool, postgres::PgPoolOptions};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

fn text_of(error: &StoreError) -> String {
    match error {
        StoreError::Schema { problem, fix } => format!("{problem}; {fix}"),
        other => panic!("not refused for its version: {other:?}"),
    }
}

#[tokio::test]
async fn a_database_without_tables_is_refused_with_the_command_to_run() {
    let Some(postgres) = Postgres::shared().await else { return };
    let store = PostgresStore::connect(&postgres.fresh_database().await).await.unwrap();
    let refused = text_of(&store.check().await.unwrap_err());
    assert!(refused.contains("missing") && refused.contains("`outbox migrate`"), "{refused}");
    store.migrate().await.unwrap();
    store.migrate().await.unwrap();
    store.check().await.unwrap();
}

#[tokio::test]
async fn older_tables_are_refused_and_newer_ones_only_by_their_minimum() {
    let Some(world) = World::start().await else { return };
    let current = world.number("SELECT version::bigint FROM outbox_version").await;

    world.execute("UPDATE outbox_version SET version = 1").await;
    let refused = text_of(&world.store.check().await.unwrap_err());
    assert!(refused.contains("version 1,") && refused.contains(&format!("version {current}")), "{refused}");
    assert!(refused.contains("`outbox migrate`"), "{refused}");

    world.execute("UPDATE outbox_version SET version = 70").await;
    world.store.check().await.unwrap();
    world.store.migrate().await.unwrap();
    assert_eq!(world.number("SELECT version::bigint FROM outbox_version").await, 70);
    world.publish("k").await;
    assert_eq!(world.relay(&mut world.open().await).await, ["k"]);

    world.execute("UPDATE outbox_version SET build_version_min = 69").await;
    for refused in [world.store.check().await, world.store.migrate().await] {
        let refused = text_of(&refused.unwrap_err());
        assert!(
            refused.contains("70") && refused.contains("69") && refused.contains(&current.to_string()),
            "{refused}"
        );
    }
}

/// An application whose own migrations are sqlx's, with a role that has short time-outs.
#[tokio::test]
async fn five_migrators_at_once_beside_an_index_that_is_built_concurrently() {
    let Some(postgres) = Postgres::shared().await else { return };
    let url = postgres.fresh_database().await;
    let mut app = PgConnection::connect(&url).await.unwrap();
    let prepare = "CREATE TABLE _sqlx_migrations (version bigint PRIMARY KEY);
                   CREATE TABLE app (n int);
                   INSERT INTO app SELECT generate_series(1, 100000);";
    sqlx::raw_sql(prepare).execute(&mut app).await.unwrap();
    let started = Instant::now();
    // One is dropped half-way, and must leave nothing that stops the others.
    let cut_short = tokio::time::timeout(Duration::from_millis(5), patient(&url, None));
    let index = sqlx::raw_sql("CREATE INDEX CONCURRENTLY app_n ON app (n)").execute(&mut app);
    let migrators: Vec<_> = (0..5)
        .map(|_| {
            let url = url.clone();
            tokio::spawn(async move { patient(&url, None).await })
        })
        .collect();
    let (_, index) = tokio::join!(cut_short, index);
    index.unwrap();
    for migrator in migrators {
        migrator.await.unwrap().unwrap();
    }
    assert!(started.elapsed() < Duration::from_secs(30));
    let valid = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'app_n'::regclass";
    assert!(sqlx::query_scalar::<_, bool>(valid).fetch_one(&mut app).await.unwrap());
    PostgresStore::connect(&url).await.unwrap().check().await.unwrap();
}

/// The same with tables that are in use: a relay reads them, a producer writes them, and the migrators have them changed.
#[tokio::test(flavor = "multi_thread")]
async fn five_migrators_at_once_beside_a_running_relay_and_an_index_that_is_built_concurrently() {
    let Some(world) = outbox_tests::world::World::<PostgresStore>::start().await else { return };
    let broker = Arc::new(MemoryBroker::default());
    let relay = world.relay(broker.clone()).await;
    let mut app = PgConnection::connect(&world.url).await.unwrap();
    let prepare = "CREATE TABLE app (n int); INSERT INTO app SELECT generate_series(1, 100000);";
    sqlx::raw_sql(prepare).execute(&mut app).await.unwrap();
    let stopped = Arc::new(AtomicBool::new(false));
    let (outbox, is_stopped) = (world.outbox.clone(), Arc::clone(&stopped));
    let producer = tokio::spawn(async move {
        let mut count = 0;
        while !is_stopped.load(Ordering::SeqCst) {
            let mut tx = outbox.begin().await.unwrap();
            outbox.enqueue(&mut tx, &noted("k", count)).await.unwrap();
            tx.commit().await.unwrap();
            count += 1;
        }
        count
    });
    until(async || broker.confirmed().len() > 10).await;

    let started = Instant::now();
    let hour = Some(Duration::from_secs(3_600));
    let cut_short = tokio::time::timeout(Duration::from_millis(5), patient(&world.url, hour));
    let index = sqlx::raw_sql("CREATE INDEX CONCURRENTLY app_n ON app (n)").execute(&mut app);
    let migrators: Vec<_> = (0..5)
        .map(|_| {
            let url = world.url.clone();
            tokio::spawn(async move { patient(&url, hour).await })
        })
        .collect();
    let (_, index) = tokio::join!(cut_short, index);
    index.unwrap();
    for migrator in migrators {
        migrator.await.unwrap().unwrap();
    }
    assert!(started.elapsed() < Duration::from_secs(30));
    patient(&world.url, hour).await.unwrap();

    stopped.store(true, Ordering::SeqCst);
    let count = producer.await.unwrap();
    until(async || broker.confirmed().len() >= count as usize).await;
    let published: Vec<i64> =
        broker.confirmed().iter().map(|envelope| outbox_tests::world::name_in(&envelope.payload).n).collect();
    assert_eq!(published, (0..count).collect::<Vec<_>>());
    let number = async |sql: &'static str| -> i64 {
        sqlx::query_scalar(sql).fetch_one(world.outbox.store().pool()).await.unwrap()
    };
    assert_eq!(number("SELECT slot_secs::bigint FROM outbox_version").await, 600);
    assert_eq!(
        number("SELECT indisvalid::int::bigint FROM pg_index WHERE indexrelid = 'app_n'::regclass").await,
        1
    );
    assert_eq!(number("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()").await, 0);
    relay.stop().await.unwrap();
}

/// Migrates as a role that has little patience.
async fn patient(url: &str, retention: Option<Duration>) -> Result<(), StoreError> {
    let options = PgPoolOptions::new().max_connections(2).after_connect(|connection, _| {
        Box::pin(async move {
            let limits = "SET statement_timeout = '2s'; SET lock_timeout = '1s'";
            sqlx::raw_sql(limits).execute(connection).await.map(|_| ())
        })
    });
    let pool = options.connect(url).await.unwrap();
    PostgresStore::with_pool(pool, PostgresConfig { retention, ..PostgresConfig::default() })?.migrate().await
}

/// Blocked migrators hold no snapshot that an index waits for, and the index holds nothing that they wait for.
#[tokio::test]
async fn a_migrator_that_waits_stands_in_nobodys_way() {
    let Some(world) = World::start().await else { return };
    world.execute("CREATE TABLE app (n int)").await;
    let mut first = PgConnection::connect(&world.url).await.unwrap();
    let mut first = first.begin().await.unwrap();
    let all_locks = "SELECT pg_advisory_xact_lock(objid::bigint | (classid::bigint << 32))
                       FROM pg_locks JOIN pg_database ON database = pg_database.oid
                      WHERE locktype = 'advisory' AND datname = current_database()";
    // The lock that migrators try is learned from one that runs.
    let learn = async {
        loop {
            world.store.migrate().await.unwrap();
        }
    };
    let lock = async { while sqlx::query(all_locks).fetch_optional(&mut *first).await.unwrap().is_none() {} };
    tokio::select! {
        () = learn => {}
        () = lock => {}
    }
    let waiting = tokio::spawn({
        let store = world.store.clone();
        async move { store.migrate().await }
    });
    let mut app = PgConnection::connect(&world.url).await.unwrap();
    for _ in 0..3 {
        // It would wait for a snapshot of the migrator, and for ever, if there were one. That of `first` is older than
        // the table's index only until its statement ended.
        sqlx::raw_sql("CREATE INDEX CONCURRENTLY app_n ON app (n)").execute(&mut app).await.unwrap();
        sqlx::raw_sql("DROP INDEX CONCURRENTLY app_n").execute(&mut app).await.unwrap();
    }
    assert!(!waiting.is_finished(), "the migrator was to wait for the other one");
    first.commit().await.unwrap();
    waiting.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_changed_retention_takes_effect_with_the_next_migration() {
    let Some(world) = World::start().await else { return };
    let config = PostgresConfig { retention: Some(Duration::from_secs(60)), ..PostgresConfig::default() };
    let store = PostgresStore::with_pool(world.store.pool().clone(), config).unwrap();
    store.migrate().await.unwrap();
    // One that is told none changes none.
    world.store.migrate().await.unwrap();
    assert_eq!(world.number("SELECT slot_secs FROM outbox_version").await, 10);
    world.publish("k").await;
    let in_its_leaf = "SELECT count(*) FROM outbox_log
                        WHERE slot BETWEEN floor(extract(epoch FROM occurred_at) / 10)::bigint % 8
                                       AND floor(extract(epoch FROM clock_timestamp()) / 10)::bigint % 8
                           OR floor(extract(epoch FROM clock_timestamp()) / 10)::bigint % 8 = 0";
    assert_eq!(world.number(in_its_leaf).await, 1);
}

#[tokio::test]
async fn a_changed_retention_waits_behind_a_dump_and_lets_producers_pass() {
    let Some(world) = World::start().await else { return };
    let mut dump = PgConnection::connect(&world.url).await.unwrap();
    let mut dump = dump.begin().await.unwrap();
    sqlx::query("LOCK TABLE outbox_log IN ACCESS SHARE MODE").execute(&mut *dump).await.unwrap();
    let config = PostgresConfig { retention: Some(Duration::from_secs(3_600)), ..PostgresConfig::default() };
    let changed = PostgresStore::connect_with(&world.url, config).await.unwrap();
    let migration = tokio::spawn(async move { changed.migrate().await });

    let mut producer = PgConnection::connect(&world.url).await.unwrap();
    sqlx::query("SET lock_timeout = 100").execute(&mut producer).await.unwrap();
    let mut watcher = PgConnection::connect(&world.url).await.unwrap();
    let waits = "SELECT count(*) FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'";
    let (started, mut met) = (Instant::now(), 0);
    while met < 3 {
        assert!(started.elapsed() < super::PATIENCE, "the migration never tried");
        met += sqlx::query_scalar::<_, i64>(waits).fetch_one(&mut watcher).await.unwrap();
        let mut tx = producer.begin().await.unwrap();
        world.store.insert(&mut tx, &[super::event("k")]).await.expect("a producer waited");
        tx.commit().await.unwrap();
    }
    assert!(!migration.is_finished());
    dump.rollback().await.unwrap();

    migration.await.unwrap().unwrap();
    assert_eq!(world.number("SELECT slot_secs FROM outbox_version").await, 600);
}

#[tokio::test]
async fn a_rollback_to_this_build_publishes_all_or_names_both_versions() {
    let Some(world) = World::start().await else { return };
    let broker = Arc::new(MemoryBroker::default());
    let outbox = Outbox::builder(PostgresStore::connect(&world.url).await.unwrap()).build();
    let start = async || outbox.runner().relay(RelayConfig::default(), broker.clone()).start().await;
    let enqueue = async |keys: std::ops::Range<i64>| {
        let mut tx = outbox.begin().await.unwrap();
        let notes: Vec<_> = keys.map(|n| noted("k", n)).collect();
        outbox.enqueue_batch(&mut tx, &notes).await.unwrap();
        tx.commit().await.unwrap();
    };
    // A newer build has migrated, and this one may still use the tables.
    world.execute("UPDATE outbox_version SET version = 70").await;
    let relay = start().await.unwrap();
    enqueue(0..500).await;
    until(async || broker.confirmed().len() == 500).await;
    relay.stop().await.unwrap();

    // One after it changed them so that this build must not.
    world.execute("UPDATE outbox_version SET version = 71, build_version_min = 71").await;
    enqueue(500..1_000).await;
    let refused = text_of(&match start().await {
        Err(outbox::RunError::Store(refused)) => refused,
        other => panic!("not refused for its version: {other:?}"),
    });
    assert!(refused.contains("71") && refused.contains("this build has version"), "{refused}");

    world.execute("UPDATE outbox_version SET build_version_min = 1").await;
    let relay = start().await.unwrap();
    until(async || broker.confirmed().len() == 1_000).await;
    relay.stop().await.unwrap();
}

async fn until(mut holds: impl AsyncFnMut() -> bool) {
    let started = Instant::now();
    while !holds().await {
        assert!(started.elapsed() < super::PATIENCE, "waited in vain");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn several_outboxes_share_a_database() {
    let Some(postgres) = Postgres::shared().await else { return };
    let pool = PgPool::connect(&postgres.fresh_database().await).await.unwrap();
    let configs = [("public", "outbox_"), ("public", "other_"), ("shop", "outbox_")];
    for (number, (schema, prefix)) in configs.into_iter().enumerate() {
        let config = PostgresConfig {
            schema: schema.to_owned(),
            prefix: prefix.to_owned(),
            ..PostgresConfig::default()
        };
        let store = PostgresStore::with_pool(pool.clone(), config).unwrap();
        store.migrate().await.unwrap();
        let mut tx = store.begin().await.unwrap();
        store.insert(&mut tx, &vec![super::event("k"); number + 1]).await.unwrap();
        store.commit(tx).await.unwrap();
        let count = format!("SELECT count(*) FROM \"{schema}\".\"{prefix}log\"");
        let count: i64 = sqlx::query_scalar(AssertSqlSafe(count)).fetch_one(&pool).await.unwrap();
        assert_eq!(count, number as i64 + 1);
    }
}

#[tokio::test]
async fn a_name_that_cannot_be_one_is_refused_before_anything_is_made() {
    let Some(world) = World::start().await else { return };
    for (schema, prefix) in [("", "outbox_"), (&*"s".repeat(64), "outbox_"), ("public", &*"p".repeat(41))] {
        let config = PostgresConfig {
            schema: schema.to_owned(),
            prefix: prefix.to_owned(),
            ..PostgresConfig::default()
        };
        let refused = PostgresStore::with_pool(world.store.pool().clone(), config);
        assert!(matches!(refused, Err(StoreError::Schema { .. })), "{schema:?} {prefix:?}");
    }
}
