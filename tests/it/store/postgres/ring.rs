//! The ring of leaves: who waits while one is cleared, and what is kept when none can be.

use super::{LONG, World};
use outbox::{
    Tolerance,
    lease::Owner,
    postgres::{PostgresConfig, PostgresStore},
    store::{Retention, Store},
};
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use std::time::{Duration, Instant};

/// Rows older than a minute go, and a stage that lags is waited for.
const MINUTE: Retention =
    Retention { log: Duration::from_secs(60), inbox: LONG, wait_max: LONG, dead_letters: LONG, audit: LONG };

impl World {
    /// Writes rows into that leaf as they were written so many seconds ago.
    async fn fill(&self, slot: i16, age_secs: i64, keys: &[&str]) {
        for key in keys {
            self.execute(&format!(
                "INSERT INTO outbox_log (slot, id, topic, key, event_type, event_version, payload, source, dataschema,
                                         on_poison, occurred_at)
                 VALUES ({slot}, gen_random_uuid(), 't', '{key}', 't', 1, '{{}}', '/', 'urn:t', 'park',
                         clock_timestamp() - {age_secs} * interval '1 s')"
            ))
            .await;
        }
    }

    async fn rows_in(&self, slot: i16) -> i64 {
        self.number(&format!("SELECT count(*) FROM outbox_log_{slot}")).await
    }

    /// Reads and settles everything there is.
    async fn settle_all(&self) -> Vec<String> {
        let mut log = self.open().await;
        self.relay_what_is_there(&mut log).await
    }

    async fn sweep_once(&self) -> Duration {
        self.store.sweep(Owner::new(), &MINUTE).await.unwrap()
    }

    /// Sweeps until those leaves are empty. For a moment the server's own vacuum may be at work in one.
    async fn sweep_until_empty(&self, store: &PostgresStore, retention: &Retention, leaves: &[i16]) {
        let started = Instant::now();
        for &leaf in leaves {
            while self.rows_in(leaf).await > 0 {
                assert!(started.elapsed() < super::PATIENCE, "leaf {leaf} is not cleared");
                store.sweep(Owner::new(), retention).await.unwrap();
            }
        }
    }

    /// How often `doctor` finds that nobody has ever read the log.
    async fn unread(&self) -> usize {
        let tolerance = Tolerance { wait: Duration::from_secs(60), ..Tolerance::default() };
        let findings = self.store.examine(&tolerance).await.unwrap();
        findings.iter().filter(|finding| finding.code == "log-unread").count()
    }

    /// Two leaves other than the one that takes rows now, and other than the next one.
    async fn idle_leaves(&self) -> [i16; 2] {
        let now =
            self.number("SELECT floor(extract(epoch FROM clock_timestamp()) / 100800)::bigint % 8").await;
        [3, 5].map(|behind| i16::try_from((now + behind) % 8).unwrap())
    }
}

/// A session that gives up after a wait for a lock of 100 ms.
async fn impatient(world: &World) -> PgConnection {
    let mut connection = PgConnection::connect(&world.url).await.unwrap();
    sqlx::query("SET lock_timeout = 100").execute(&mut connection).await.unwrap();
    connection
}

#[tokio::test]
async fn beside_a_dump_and_an_open_producer_nobody_waits_for_a_leaf_that_cannot_be_cleared() {
    let Some(world) = World::start().await else { return };
    let [one, other] = world.idle_leaves().await;
    world.fill(one, 120, &["a", "b"]).await;
    world.fill(other, 120, &["c"]).await;
    world.settle_all().await;
    // As pg_dump does: every table is locked from the beginning, in one snapshot.
    let mut dump = PgConnection::connect(&world.url).await.unwrap();
    let mut dump = dump.begin().await.unwrap();
    sqlx::query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        .execute(&mut *dump)
        .await
        .unwrap();
    sqlx::query("LOCK TABLE outbox_log IN ACCESS SHARE MODE").execute(&mut *dump).await.unwrap();
    // A producer that wrote into the old leaf, and one that goes on.
    let mut open = world.store.pool().begin().await.unwrap();
    let late = format!("INSERT INTO outbox_log_{one} SELECT * FROM outbox_log_{one} WHERE false");
    sqlx::query(AssertSqlSafe(late)).execute(&mut *open).await.unwrap();
    let (mut producer, mut reader) = (impatient(&world).await, impatient(&world).await);
    let insert = format!(
        "INSERT INTO outbox_log (slot, id, topic, key, event_type, event_version, payload, source, dataschema, on_poison)
         VALUES ({other}, gen_random_uuid(), 't', 'new', 't', 1, '{{}}', '/', 'urn:t', 'park')"
    );
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let produce = async {
        let mut count = 0;
        while !*stopped.borrow() {
            // Rolled back, else the leaf were not old any more.
            let mut tx = producer.begin().await.unwrap();
            sqlx::query(AssertSqlSafe(insert.clone())).execute(&mut *tx).await.expect("an insert waited");
            tx.rollback().await.unwrap();
            count += 1;
        }
        count
    };
    let read = async {
        let mut count = 0;
        while !*stopped.borrow() {
            let page = "SELECT count(*) FROM (SELECT * FROM outbox_log WHERE seq > 0 ORDER BY seq LIMIT 100) AS page";
            sqlx::query(page).execute(&mut reader).await.expect("a read waited");
            count += 1;
        }
        count
    };
    let sweep = async {
        for _ in 0..20 {
            let pause = world.sweep_once().await;
            assert!(pause >= Duration::from_secs(1), "the next try comes after {pause:?}");
        }
        stop.send_replace(true);
    };

    let (produced, read, ()) = tokio::join!(produce, read, sweep);

    assert!(produced > 20 && read > 20, "{produced} inserts and {read} reads");
    assert_eq!((world.rows_in(one).await, world.rows_in(other).await), (2, 1));
    dump.rollback().await.unwrap();
    open.rollback().await.unwrap();
    world.sweep_until_empty(&world.store, &MINUTE, &[one, other]).await;
}

#[tokio::test]
async fn a_ring_that_laps_without_being_cleared_loses_nothing() {
    let Some(world) = World::start().await else { return };
    let [leaf, _] = world.idle_leaves().await;
    let mut log = world.open().await;
    world.fill(leaf, 120, &["old"]).await;
    assert_eq!(world.relay(&mut log).await, ["old"]);
    let mut reader = world.store.begin().await.unwrap();
    sqlx::query("SELECT count(*) FROM outbox_log").execute(&mut *reader).await.unwrap();
    world.sweep_once().await;

    // The ring comes round, and the leaf takes rows though it was not cleared.
    world.fill(leaf, 0, &["new"]).await;
    world.store.rollback(reader).await;
    while world.sweep_once().await.is_zero() {}

    assert_eq!(world.rows_in(leaf).await, 2, "the old row waits for the new one");
    assert_eq!(world.relay(&mut log).await, ["new"]);
    world
        .execute(&format!("UPDATE outbox_log_{leaf} SET occurred_at = occurred_at - interval '2 min'"))
        .await;
    world.sweep_until_empty(&world.store, &MINUTE, &[leaf]).await;
}

#[tokio::test]
async fn a_row_that_comes_after_the_look_at_a_leaf_keeps_it() {
    let Some(world) = World::start().await else { return };
    let [leaf, _] = world.idle_leaves().await;
    world.fill(leaf, 120, &["old"]).await;
    world.settle_all().await;
    // Its writer commits while the sweep waits for the leaf, within the moment that it waits.
    let mut watcher = PgConnection::connect(&world.url).await.unwrap();
    let mut tries = 0;
    loop {
        let mut open = world.store.pool().begin().await.unwrap();
        let late = format!(
            "INSERT INTO outbox_log (slot, id, topic, key, event_type, event_version, payload, source, dataschema, on_poison)
             VALUES ({leaf}, gen_random_uuid(), 't', 'late', 't', 1, '{{}}', '/', 'urn:t', 'park')"
        );
        sqlx::query(AssertSqlSafe(late)).execute(&mut *open).await.unwrap();
        let commit = async {
            let waits = "SELECT count(*) FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'";
            let begun = Instant::now();
            while sqlx::query_scalar::<_, i64>(waits).fetch_one(&mut watcher).await.unwrap() == 0 {
                if begun.elapsed() > Duration::from_secs(2) {
                    break;
                }
            }
            open.commit().await.unwrap();
        };
        let (pause, ()) = tokio::join!(world.sweep_once(), commit);
        assert!(!pause.is_zero(), "a leaf with a row of now was cleared");
        tries += 1;
        if tries == 3 {
            break;
        }
        world.execute(&format!("DELETE FROM outbox_log_{leaf} WHERE key = 'late'")).await;
    }
    assert_eq!(world.rows_in(leaf).await, 2);
}

#[tokio::test]
async fn a_leaf_that_somebody_keeps_in_use_holds_up_no_other() {
    let Some(world) = World::start().await else { return };
    let [used, free] = world.idle_leaves().await;
    // The one in use is the older one.
    world.fill(used, 240, &["a"]).await;
    world.fill(free, 120, &["b"]).await;
    world.settle_all().await;
    let mut reader = world.store.pool().begin().await.unwrap();
    let look = format!("SELECT count(*) FROM outbox_log_{used}");
    sqlx::query(AssertSqlSafe(look)).execute(&mut *reader).await.unwrap();

    let started = Instant::now();
    while world.rows_in(free).await > 0 {
        assert!(started.elapsed() < super::PATIENCE, "the free leaf waits for the other");
        world.sweep_once().await;
    }

    assert_eq!(world.rows_in(used).await, 1);
    reader.rollback().await.unwrap();
}

#[tokio::test]
async fn nobody_keeps_the_log_longer_than_its_ring_was_made_for() {
    let Some(world) = World::start().await else { return };
    let config = PostgresConfig { retention: Some(Duration::from_secs(60)), ..PostgresConfig::default() };
    let store = PostgresStore::connect_with(&world.url, config).await.unwrap();
    store.migrate().await.unwrap();
    let [leaf, young] = world.idle_leaves().await;
    world.fill(leaf, 90, &["old"]).await;
    world.fill(young, 30, &["young"]).await;
    world.settle_all().await;

    // The process that sweeps was told of days.
    world.sweep_until_empty(&store, &Retention::default(), &[leaf]).await;

    assert_eq!(world.rows_in(young).await, 1);
}

/// What is counted of a stage that lags is told in the log; what goes is bounded by nothing but the leaf.
#[tokio::test]
async fn a_leaf_goes_after_the_longest_wait_though_a_stage_has_holes_in_it() {
    let Some(world) = World::start().await else { return };
    let [leaf, _] = world.idle_leaves().await;
    world.fill(leaf, 120, &["a", "b", "c"]).await;
    world.settle_all().await;
    let first = world.number("SELECT min(seq) FROM outbox_log").await;
    world.execute(&format!("INSERT INTO outbox_hole VALUES ('relay/r', {first}, {first})")).await;
    assert!(!world.sweep_once().await.is_zero());
    assert_eq!(world.rows_in(leaf).await, 3, "a hole of a stage stands in it");
    let no_wait = Retention { wait_max: Duration::ZERO, ..MINUTE };
    world.sweep_until_empty(&world.store, &no_wait, &[leaf]).await;
}

/// Debezium reads the WAL, which has what the log had.
#[tokio::test]
async fn a_leaf_that_is_published_and_read_by_a_slot_alone_goes_after_its_retention() {
    let Some(world) = World::start().await else { return };
    let [leaf, _] = world.idle_leaves().await;
    world.fill(leaf, 120, &["a"]).await;
    world.execute("CREATE PUBLICATION published FOR TABLE outbox_log").await;
    assert!(!world.sweep_once().await.is_zero());
    assert_eq!(world.rows_in(leaf).await, 1, "nobody has ever read it");
    assert_eq!(world.unread().await, 1);

    let database = world.url.rsplit('/').next().unwrap().split('?').next().unwrap().to_owned();
    let slot = format!("reads_{database}");
    world.execute(&format!("SELECT pg_create_logical_replication_slot('{slot}', 'pgoutput')")).await;
    assert_eq!(world.unread().await, 0);
    world.sweep_until_empty(&world.store, &MINUTE, &[leaf]).await;
    world.execute(&format!("SELECT pg_drop_replication_slot('{slot}')")).await;
}

#[tokio::test]
async fn a_cleanup_of_huge_tables_touches_a_page_of_them_and_waits_for_nobody() {
    let Some(world) = World::start().await else { return };
    let mut log = world.open().await;
    world.publish("k").await;
    world.relay(&mut log).await;
    world
        .execute(
            "INSERT INTO outbox_inbox (stage, id, source, handled_at)
             SELECT 'consumer/c', gen_random_uuid(), '/', clock_timestamp() - i * interval '10 ms'
               FROM generate_series(1, 100000) AS i;
             INSERT INTO outbox_progress (stage, epoch, settled_seq)
             SELECT 'relay/' || i % 3, 1, 1000000000000000000 FROM generate_series(1, 100000) AS i;
             ANALYZE outbox_inbox; ANALYZE outbox_progress;",
        )
        .await;
    // Nothing is past its window: one look at the front of the index.
    assert!(world.blocks("delete_inbox", &["3600", "10000"]).await <= 8);
    let look = world.blocks("select_old_leaf", &["3600", "3600"]).await;
    assert!(look <= 150, "a look at the leaves touched {look} blocks");
    let page = world.blocks("delete_progress", &["100"]).await;
    assert!(page <= 100 * 8 + 100, "a page of 100 rows of progress touched {page} blocks");

    // A row that a transaction keeps locked is passed over, and the steps are small.
    let mut open = world.store.begin().await.unwrap();
    let oldest = "SELECT id FROM outbox_inbox ORDER BY handled_at LIMIT 1 FOR UPDATE";
    sqlx::query(oldest).execute(&mut *open).await.unwrap();
    let none = Retention { log: LONG, inbox: Duration::ZERO, wait_max: LONG, ..MINUTE };
    let rows = "SELECT count(*) FROM outbox_inbox";
    let mut before = world.number(rows).await;
    let mut steps = 0;
    while world.store.sweep(Owner::new(), &none).await.unwrap().is_zero() {
        let after = world.number(rows).await;
        assert!(before - after <= 10_000, "one step removed {} rows", before - after);
        (before, steps) = (after, steps + 1);
    }
    assert!(steps >= 9, "{steps} steps");
    assert_eq!(world.number(rows).await, 1);
    assert_eq!(world.number("SELECT count(*) FROM outbox_progress").await, 4);
    world.store.rollback(open).await;
}
