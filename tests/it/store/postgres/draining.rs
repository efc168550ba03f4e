//! What it costs to work through the log.

use super::{World, event};
use outbox::{cursor::LogCursor, store::Store};
use outbox_tests::servers::Postgres;
use sqlx::{AssertSqlSafe, Connection, PgConnection, Row};
use std::time::Instant;

const EVENTS: i64 = 20_000;
const PAGE: u32 = 1_000;

#[tokio::test]
async fn a_drain_writes_eight_bytes_of_wal_an_event_and_leaves_nothing_dead() {
    // Alone on its server, else others write to the same WAL.
    let Some(postgres) = Postgres::private_with(&["autovacuum=off"]).await else { return };
    let world = World::on(&postgres).await;
    for _ in 0..EVENTS / 1_000 {
        let mut tx = world.store.begin().await.unwrap();
        let events: Vec<_> = (0..1_000).map(|_| event("k")).collect();
        world.store.insert(&mut tx, &events).await.unwrap();
        world.store.commit(tx).await.unwrap();
    }
    let mut log = world.open().await;
    let wal = "SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint";
    let before = world.number(wal).await;
    let mut pages = 0;
    let mut events = 0;
    while events < EVENTS {
        let page = log.read(PAGE).await.unwrap();
        events += page.events.len() as i64;
        log.settle(&world.fence, &super::all_of(&page), &[]).await.unwrap();
        pages += 1;
    }
    let written = world.number(wal).await - before;

    assert!(written <= 8 * EVENTS, "{written} bytes of WAL for {EVENTS} events");
    assert_eq!(pages, EVENTS / i64::from(PAGE));
    assert_eq!(world.number("SELECT count(*) FROM outbox_progress").await, 1 + pages);
    let widest = "SELECT max(pg_column_size(p.*))::bigint FROM outbox_progress p";
    assert!(world.number(widest).await <= 96, "a row of progress is to be short");
    // A session reports its statistics at its end, and the rows that were appended show that it has.
    drop(log);
    let started = Instant::now();
    let appended = "SELECT n_tup_ins FROM pg_stat_user_tables WHERE relname = 'outbox_progress'";
    while world.number(appended).await < 1 + pages {
        assert!(started.elapsed() < super::PATIENCE, "the statistics did not come");
    }
    let changed = "SELECT sum(n_tup_upd + n_tup_del + n_dead_tup)::bigint FROM pg_stat_user_tables
                    WHERE relname LIKE 'outbox_log%' OR relname IN ('outbox_progress', 'outbox_hole', 'outbox_leader')";
    assert_eq!(world.number(changed).await, 0);
    println!("{} bytes of WAL an event", written as f64 / EVENTS as f64);
}

#[tokio::test]
async fn a_page_is_read_by_the_key_and_an_idle_look_touches_next_to_nothing() {
    let Some(world) = World::start().await else { return };
    let mut tx = world.store.begin().await.unwrap();
    for _ in 0..20 {
        let events: Vec<_> = (0..1_000).map(|_| event("k")).collect();
        world.store.insert(&mut tx, &events).await.unwrap();
    }
    world.store.commit(tx).await.unwrap();
    let last = world.number("SELECT max(seq) FROM outbox_log").await;
    let blocks = async |from: i64| world.blocks("read_log", &[&from.to_string(), "100"]).await;
    let (middle, idle) = (blocks(last - 10_000).await, blocks(last).await);
    // One descent for each leaf of the ring, and the rows of the page.
    assert!(middle <= 8 * 3 + 100 + 16, "a page of 100 rows touched {middle} blocks");
    assert!(idle <= 8 * 3 + 4, "a look that found nothing touched {idle} blocks");
}

/// Read in the order of the log until enough is found, a log without late events is read to its end, for each hole.
#[tokio::test]
async fn what_appears_in_holes_is_looked_up_and_the_log_is_not_searched_for_it() {
    let Some(world) = World::start().await else { return };
    let mut tx = world.store.begin().await.unwrap();
    for _ in 0..20 {
        let events: Vec<_> = (0..1_000).map(|_| event("k")).collect();
        world.store.insert(&mut tx, &events).await.unwrap();
    }
    world.store.commit(tx).await.unwrap();
    let texts = world.store.statement_texts();
    let text = |wanted: &str| &texts.iter().find(|(name, _)| *name == wanted).unwrap().1;
    let mut session = PgConnection::connect(&world.url).await.unwrap();
    let set = sqlx::query(AssertSqlSafe(text("set_session").clone())).bind("0").bind("0").bind("0");
    set.execute(&mut session).await.unwrap();
    let prepare =
        format!("SET plan_cache_mode = force_generic_plan; PREPARE holes AS {}", text("read_holes"));
    sqlx::raw_sql(AssertSqlSafe(prepare)).execute(&mut session).await.unwrap();

    let explain = "EXPLAIN (COSTS OFF) EXECUTE holes ('{}', '{}', 1000, '{}', '{}', '{}', '{}')";
    let plan = sqlx::raw_sql(explain).fetch_all(&mut session).await.unwrap();

    let plan: Vec<String> = plan.iter().map(|line| line.get(0)).collect();
    let looks_up =
        |line: &&String| line.contains("Index Cond: ((seq >= hole.first_seq) AND (seq <= hole.last_seq))");
    assert_eq!(plan.iter().filter(looks_up).count(), 8, "{plan:#?}");
}
