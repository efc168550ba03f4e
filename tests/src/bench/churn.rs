//! Many events through a short retention: what the tables take, against what retention keeps.
//!
//! Takes as long as it is told: `churn --events 5000000`, the default.

use super::drain::NullBroker;
use super::{Options, Row, Wanted};
use crate::servers::Postgres;
use crate::world::{Noted, noted};
use outbox::postgres::{PostgresConfig, PostgresStore};
use outbox::sqlite::SqliteStore;
use outbox::{Outbox, RelayConfig, Runner, Store, draft};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

const EVENTS: i64 = 5_000_000;
const BATCH: i64 = 1_000;
/// The batches before anybody sweeps, by which a row is measured.
const UNSWEPT: i64 = 50;
/// So short that the ring goes round several times.
const RETENTION: Duration = Duration::from_secs(12);
/// The share of the run before the first measurement: the retention must be full.
const WARM: f64 = 0.3;
const SAMPLES: i64 = 40;

/// All bytes of ours, and the rows that retention keeps: young ones, and those that the relay has not settled, however old they
/// are. Whoever writes without a pause may be as far ahead of it as the retention reaches.
const BYTES: &str = "
    SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c WHERE relkind = 'r' AND relname LIKE 'outbox%'
";
const RETAINED: &str = "
    SELECT count(*) FROM outbox_log
     WHERE occurred_at > clock_timestamp() - interval '12 s'
        OR seq > (SELECT settled_seq FROM outbox_progress ORDER BY id DESC LIMIT 1)
";
const ROWS: &str = "SELECT count(*) FROM outbox_log";
/// Of SQLite the pages in use: its file keeps the size of its fullest moment, and uses the free pages again.
const SQLITE_BYTES: &str = "
    SELECT ((SELECT page_count FROM pragma_page_count()) - (SELECT freelist_count FROM pragma_freelist_count()))
         * (SELECT page_size FROM pragma_page_size())
";
const SQLITE_RETAINED: &str = "
    SELECT count(*) FROM outbox_log
     WHERE occurred_at > CAST(unixepoch('subsec') * 1000 AS INTEGER) - 12000
        OR seq > (SELECT max(settled_seq) FROM outbox_progress)
";

pub(super) async fn rows(server: &Postgres, options: &Options) -> Vec<Row> {
    let events = options.events.unwrap_or(EVENTS);
    let wants = |store: &str| options.store.as_ref().is_none_or(|wanted| wanted == store);
    let mut rows = Vec::new();
    if wants("postgres") {
        rows.push(on_postgres(server, events).await);
    }
    if wants("sqlite") {
        rows.push(on_sqlite(events).await);
    }
    rows
}

async fn on_postgres(server: &Postgres, events: i64) -> Row {
    let config = PostgresConfig { retention: Some(RETENTION), ..PostgresConfig::default() };
    let store = PostgresStore::connect_with(&server.fresh_database().await, config).await.unwrap();
    store.migrate().await.unwrap();
    let pool = store.pool().clone();
    let number = async |sql: &'static str| -> i64 { sqlx::query_scalar(sql).fetch_one(&pool).await.unwrap() };
    let measure = async || (number(BYTES).await, number(RETAINED).await, number(ROWS).await);
    churn("churn, bytes to those retained", Outbox::builder(store).build(), events, measure).await
}

async fn on_sqlite(events: i64) -> Row {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&format!("sqlite://{}/churn.db", folder.path().display())).await.unwrap();
    let pool = store.pool().clone();
    let number = async |sql: &'static str| -> i64 { sqlx::query_scalar(sql).fetch_one(&pool).await.unwrap() };
    let measure = async || (number(SQLITE_BYTES).await, number(SQLITE_RETAINED).await, number(ROWS).await);
    churn("churn, bytes to those retained (sqlite)", Outbox::builder(store).build(), events, measure).await
}

/// Enqueues and relays; at each sample, the bytes of all tables over those that the rows which are kept need. What a row
/// needs is measured before anything was removed.
async fn churn<S: Store>(
    name: &'static str,
    outbox: Outbox<S>,
    events: i64,
    measure: impl AsyncFn() -> (i64, i64, i64),
) -> Row {
    let batches = events / BATCH;
    for batch in 0..UNSWEPT {
        enqueue(&outbox, batch).await;
    }
    let (bytes, _, rows) = measure().await;
    let row_bytes = bytes as f64 / rows as f64;
    let runner = relay(&outbox).await;
    let mut ratios = Vec::new();
    for batch in UNSWEPT..batches {
        enqueue(&outbox, batch).await;
        let written = (batch + 1) * BATCH;
        if (batch + 1) % (batches / SAMPLES).max(1) != 0 || (written as f64) < events as f64 * WARM {
            continue;
        }
        let (bytes, retained, rows) = measure().await;
        // Before the first sweep there is nothing to compare.
        if rows < written {
            ratios.push(bytes as f64 / (retained as f64 * row_bytes));
        }
    }
    runner.stop().await.unwrap();
    assert!(!ratios.is_empty(), "the retention was never full; enqueue more events");
    println!(
        "{name}: {row_bytes:.0} bytes a row, largest of {} samples {:.2}",
        ratios.len(),
        largest(&ratios)
    );
    Row { name: name.into(), unit: "ratio", raw: Vec::new(), ours: ratios, wanted: Wanted::AtMost(1.3) }
}

async fn enqueue<S: Store>(outbox: &Outbox<S>, batch: i64) {
    let notes: Vec<Noted> =
        (0..BATCH).map(|n| noted(&format!("key-{}", n % 500), batch * BATCH + n)).collect();
    let mut tx = outbox.begin().await.unwrap();
    outbox.enqueue_batch(&mut tx, notes.iter().map(draft)).await.unwrap();
    tx.commit().await.unwrap();
}

fn largest(ratios: &[f64]) -> f64 {
    ratios.iter().copied().fold(0.0, f64::max)
}

async fn relay<S: Store>(outbox: &Outbox<S>) -> Runner {
    let (sender, _count) = watch::channel(0);
    let relay = outbox.runner().relay(RelayConfig::default(), Arc::new(NullBroker(sender)));
    relay.settings(|settings| settings.retention.log = RETENTION).start().await.unwrap()
}
