//! The drain of a relay under what hurts other outboxes, against the same drain without it.

use super::drain::{EVENTS, drain_by_relay, fill};
use super::{Row, Wanted, enqueue::outbox_on};
use crate::servers::Postgres;
use outbox::Outbox;
use outbox::postgres::PostgresStore;
use sqlx::PgPool;
use std::time::Instant;

/// A key that waits for a person, with many events behind it.
const PARK: &str = "
    INSERT INTO outbox_waiting (stage, lane, share, parked) VALUES ($1, 'world/parked', '', true)
";
const PARKED_EVENTS: &str = "
    INSERT INTO outbox_held (stage, lane, seq, source, id, topic, key, event_type, event_version, payload, dataschema,
                             on_poison, occurred_at)
    SELECT $1, 'world/parked', seq, source, id, topic, 'parked', event_type, event_version, payload, dataschema, on_poison,
           occurred_at
      FROM outbox_log ORDER BY seq LIMIT 100000
";

/// So many settles as rows that were replaced and swept, and the newest.
const SETTLES: &str = "
    INSERT INTO outbox_progress (stage, epoch, settled_seq)
    SELECT $1, 1, 999999999999999999 FROM generate_series(1, 100000)
";
const SWEPT: &str = "
    DELETE FROM outbox_progress
     WHERE stage = $1 AND id < (SELECT max(id) FROM outbox_progress WHERE stage = $1)
";

pub(super) async fn rows(server: &Postgres, rounds: usize) -> Vec<Row> {
    let outbox = outbox_on(server).await;
    let pool = outbox.store().pool().clone();
    fill(&outbox).await;
    drain(&outbox, "warm").await;
    vec![parked(&outbox, &pool, rounds).await, snapshot(&outbox, &pool, rounds).await]
}

/// Events a second.
async fn drain(outbox: &Outbox<PostgresStore>, name: &str) -> f64 {
    let begun = Instant::now();
    drain_by_relay(outbox, name).await;
    EVENTS as f64 / begun.elapsed().as_secs_f64()
}

async fn parked(outbox: &Outbox<PostgresStore>, pool: &PgPool, rounds: usize) -> Row {
    sqlx::query(PARK).bind("relay/parked").execute(pool).await.unwrap();
    sqlx::query(PARKED_EVENTS).bind("relay/parked").execute(pool).await.unwrap();
    sqlx::query("ANALYZE outbox_held").execute(pool).await.unwrap();
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        without.push(drain(outbox, &format!("free-{round}")).await);
        sqlx::query("DELETE FROM outbox_progress WHERE stage = 'relay/parked'").execute(pool).await.unwrap();
        with.push(drain(outbox, "parked").await);
    }
    Row {
        name: "drain beside a parked key of 100,000".into(),
        unit: "events/s",
        raw: without,
        ours: with,
        wanted: Wanted::RatioAtLeast(0.9),
    }
}

async fn snapshot(outbox: &Outbox<PostgresStore>, pool: &PgPool, rounds: usize) -> Row {
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        without.push(drain(outbox, &format!("alone-{round}")).await);
        let mut old = pool.begin().await.unwrap();
        sqlx::query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ").execute(&mut *old).await.unwrap();
        sqlx::query("SELECT count(*) FROM outbox_progress").execute(&mut *old).await.unwrap();
        let stage = format!("relay/old-{round}");
        sqlx::query(SETTLES).bind(&stage).execute(pool).await.unwrap();
        sqlx::query(SWEPT).bind(&stage).execute(pool).await.unwrap();
        with.push(drain(outbox, &format!("old-{round}")).await);
        old.rollback().await.unwrap();
    }
    Row {
        name: "drain under an old snapshot, after 100,000 settles".into(),
        unit: "events/s",
        raw: without,
        ours: with,
        wanted: Wanted::RatioAtLeast(0.8),
    }
}
