//! A drain of 200,000 events by a relay whose broker does nothing, against a cursor loop by hand over the same rows.

use super::{Row, Wanted, enqueue::outbox_on};
use crate::servers::Postgres;
use crate::world::{Noted, noted};
use futures_util::future::BoxFuture;
use outbox::broker::{Broker, BrokerError, Capabilities, Outgoing, Published};
use outbox::postgres::PostgresStore;
use outbox::{Outbox, RelayConfig, draft};
use sqlx::{PgPool, Row as _};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::watch;

pub(super) const EVENTS: i64 = 200_000;
const PAGE: i64 = 1_000;
const KEYS: i64 = 5_000;

/// Confirms everything at once and counts.
#[derive(Debug)]
pub(super) struct NullBroker(pub(super) watch::Sender<i64>);

impl Broker for NullBroker {
    fn capabilities(&self) -> Capabilities {
        Capabilities::least("null")
    }

    fn publish<'a>(
        &'a self,
        batch: &'a [Outgoing<'a>],
    ) -> BoxFuture<'a, Result<Vec<Published>, BrokerError>> {
        self.0.send_modify(|count| *count += batch.len() as i64);
        let confirmed = batch.iter().map(|_| Published::Confirmed { duplicate: false }).collect();
        Box::pin(std::future::ready(Ok(confirmed)))
    }
}

/// The drain, and what it costs in WAL, dead rows and rows of progress.
pub(super) async fn rows(server: &Postgres, rounds: usize) -> Vec<Row> {
    let outbox = outbox_on(server).await;
    let pool = outbox.store().pool().clone();
    fill(&outbox).await;
    sqlx::query("CREATE TABLE raw_progress (id bigserial PRIMARY KEY, settled bigint)")
        .execute(&pool)
        .await
        .unwrap();
    let (mut raw, mut ours, mut wal, mut progress) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for round in 0..=rounds {
        let begun = Instant::now();
        by_hand(&pool, EVENTS).await;
        let raw_time = begun.elapsed();
        let wal_before = wal_bytes(&pool).await;
        let rows_before = progress_rows(&pool).await;
        let begun = Instant::now();
        drain_by_relay(&outbox, &format!("round-{round}")).await;
        let with_relay = begun.elapsed();
        if round > 0 {
            raw.push(EVENTS as f64 / raw_time.as_secs_f64());
            ours.push(EVENTS as f64 / with_relay.as_secs_f64());
            wal.push((wal_bytes(&pool).await - wal_before) as f64 / EVENTS as f64);
            progress.push((progress_rows(&pool).await - rows_before) as f64 / (EVENTS / PAGE) as f64);
        }
    }
    let told = |name: &str, unit, ours, most| Row {
        name: name.into(),
        unit,
        raw: Vec::new(),
        ours,
        wanted: Wanted::AtMost(most),
    };
    vec![
        Row {
            name: "no-op drain of 200,000".into(),
            unit: "events/s",
            raw,
            ours,
            wanted: Wanted::RatioAtLeast(0.6),
        },
        told("  WAL of that drain", "bytes/event", wal, 8.0),
        // One row a page, and the one that registers the stage.
        told("  rows of progress", "rows/page", progress, 1.02),
        told("  dead rows in the log", "rows", vec![dead_rows(&pool).await], 0.0),
    ]
}

pub(super) async fn fill(outbox: &Outbox<PostgresStore>) {
    for first in (0..EVENTS).step_by(PAGE as usize) {
        let notes: Vec<Noted> =
            (first..first + PAGE).map(|n| noted(&format!("key-{}", n % KEYS), n)).collect();
        let mut tx = outbox.begin().await.unwrap();
        outbox.enqueue_batch(&mut tx, notes.iter().map(draft)).await.unwrap();
        tx.commit().await.unwrap();
    }
    sqlx::query("VACUUM ANALYZE outbox_log").execute(outbox.store().pool()).await.unwrap();
}

/// What anybody would write: read a page, take its columns, record how far.
pub(super) async fn by_hand(pool: &PgPool, events: i64) {
    let mut connection = pool.acquire().await.unwrap();
    let (mut settled, mut count) = (0_i64, 0_i64);
    while count < events {
        let rows = sqlx::query("SELECT * FROM outbox_log WHERE seq > $1 ORDER BY seq LIMIT $2")
            .bind(settled)
            .bind(PAGE)
            .fetch_all(&mut *connection)
            .await
            .unwrap();
        for row in &rows {
            settled = row.get("seq");
            let (topic, key, payload): (String, Option<String>, String) =
                (row.get("topic"), row.get("key"), row.get("payload"));
            std::hint::black_box((topic, key, payload));
        }
        count += rows.len() as i64;
        let record = sqlx::query("INSERT INTO raw_progress (settled) VALUES ($1)").bind(settled);
        record.execute(&mut *connection).await.unwrap();
    }
}

pub(super) async fn drain_by_relay(outbox: &Outbox<PostgresStore>, name: &str) {
    let (sender, mut count) = watch::channel(0);
    let relay = outbox.runner().relay(RelayConfig::named(name), Arc::new(NullBroker(sender)));
    let runner = relay.start().await.unwrap();
    count.wait_for(|count| *count >= EVENTS).await.unwrap();
    runner.stop().await.unwrap();
}

async fn wal_bytes(pool: &PgPool) -> i64 {
    let query = sqlx::query_scalar("SELECT (pg_current_wal_lsn() - '0/0')::bigint");
    query.fetch_one(pool).await.unwrap()
}

/// Rows of progress that were ever written: old ones are swept meanwhile.
async fn progress_rows(pool: &PgPool) -> i64 {
    sqlx::query_scalar("SELECT last_value FROM outbox_progress_id_seq").fetch_one(pool).await.unwrap()
}

async fn dead_rows(pool: &PgPool) -> f64 {
    sqlx::query("SELECT pg_stat_force_next_flush()").execute(pool).await.unwrap();
    let query = "SELECT coalesce(sum(n_dead_tup), 0)::float8 FROM pg_stat_user_tables WHERE relname LIKE 'outbox_log%'";
    sqlx::query_scalar(query).fetch_one(pool).await.unwrap()
}
