//! Enqueue in a transaction with a state change, and in batches, against the same statements by hand.

use super::{Row, Wanted};
use crate::servers::Postgres;
use crate::world::{Noted, noted};
use outbox::postgres::PostgresStore;
use outbox::{Event, EventId, Outbox, Store, draft};
use sqlx::PgPool;
use std::time::Instant;
use tokio::task::JoinSet;

const CONNECTIONS: i64 = 8;
const TRANSACTIONS: i64 = 150;
const BATCH: i64 = 1_000;
const BATCHES: i64 = 5;

/// The columns that both write; a raw loop writes the same ones with the same values.
pub(super) const INSERT: &str = "INSERT INTO outbox_log (id, topic, key, event_type, event_version, payload, source, \
     dataschema, headers, traceparent, tracestate, twin_id, twin_version, on_poison) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";

pub(super) async fn outbox_on(server: &Postgres) -> Outbox<PostgresStore> {
    let store = PostgresStore::connect(&server.fresh_database().await).await.unwrap();
    store.migrate().await.unwrap();
    Outbox::builder(store).source("/bench").build()
}

/// One event for each transaction, 8 connections at once.
pub(super) async fn single(server: &Postgres, rounds: usize) -> Row {
    let outbox = outbox_on(server).await;
    let pool = outbox.store().pool().clone();
    sqlx::query("CREATE TABLE account (id bigint, n bigint)").execute(&pool).await.unwrap();
    let (mut raw, mut ours) = (Vec::new(), Vec::new());
    for round in 0..=rounds {
        let by_hand = timed(|task| raw_transactions(pool.clone(), task)).await;
        let with_outbox = timed(|task| our_transactions(outbox.clone(), task)).await;
        // The first round only warms connections and plans.
        if round > 0 {
            raw.push(by_hand);
            ours.push(with_outbox);
        }
    }
    Row {
        name: "enqueue in a transaction".into(),
        unit: "transactions/s",
        raw,
        ours,
        wanted: Wanted::RatioAtLeast(0.9),
    }
}

async fn timed<F: Future<Output = ()> + Send + 'static>(work: impl Fn(i64) -> F) -> f64 {
    let mut tasks = JoinSet::new();
    let begun = Instant::now();
    for task in 0..CONNECTIONS {
        tasks.spawn(work(task));
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    (CONNECTIONS * TRANSACTIONS) as f64 / begun.elapsed().as_secs_f64()
}

async fn raw_transactions(pool: PgPool, task: i64) {
    for n in 0..TRANSACTIONS {
        let mut tx = pool.begin().await.unwrap();
        change_state(&mut tx, task, n).await;
        bind(sqlx::query(INSERT), &noted("key", n)).execute(&mut *tx).await.unwrap();
        tx.commit().await.unwrap();
    }
}

async fn our_transactions(outbox: Outbox<PostgresStore>, task: i64) {
    for n in 0..TRANSACTIONS {
        let mut tx = outbox.begin().await.unwrap();
        change_state(&mut tx, task, n).await;
        outbox.enqueue(&mut tx, &noted("key", n)).await.unwrap();
        tx.commit().await.unwrap();
    }
}

async fn change_state(connection: &mut sqlx::PgConnection, task: i64, n: i64) {
    let query = sqlx::query("INSERT INTO account (id, n) VALUES ($1, $2)").bind(task).bind(n);
    query.execute(connection).await.unwrap();
}

/// The payload as anybody would write it by hand.
fn payload(note: &Noted) -> String {
    let body = serde_json::to_string(note).unwrap();
    format!("{{\"eventType\":\"{}\",\"eventVersion\":{},{}", Noted::TYPE, Noted::VERSION, &body[1..])
}

type PgQuery<'q> = sqlx::query::Query<'q, sqlx::Postgres, sqlx::postgres::PgArguments>;

fn bind<'q>(query: PgQuery<'q>, note: &Noted) -> PgQuery<'q> {
    query
        .bind(EventId::now().0)
        .bind(Noted::TOPIC)
        .bind(note.key.clone())
        .bind(Noted::TYPE)
        .bind(Noted::VERSION.cast_signed())
        .bind(payload(note))
        .bind("/bench")
        .bind("urn:outbox:world.noted:1")
        .bind(None::<String>)
        .bind(None::<String>)
        .bind(None::<String>)
        .bind(None::<uuid::Uuid>)
        .bind(None::<i32>)
        .bind(Noted::ON_POISON.as_str())
}

/// A thousand events in one statement.
pub(super) async fn batch(server: &Postgres, rounds: usize) -> Row {
    let outbox = outbox_on(server).await;
    let pool = outbox.store().pool().clone();
    let (mut raw, mut ours) = (Vec::new(), Vec::new());
    for round in 0..=rounds {
        let begun = Instant::now();
        for _ in 0..BATCHES {
            raw_batch(&pool).await;
        }
        let by_hand = begun.elapsed();
        let begun = Instant::now();
        for _ in 0..BATCHES {
            let notes: Vec<Noted> = (0..BATCH).map(|n| noted("key", n)).collect();
            let mut tx = outbox.begin().await.unwrap();
            outbox.enqueue_batch(&mut tx, notes.iter().map(draft)).await.unwrap();
            tx.commit().await.unwrap();
        }
        if round > 0 {
            raw.push((BATCH * BATCHES) as f64 / by_hand.as_secs_f64());
            ours.push((BATCH * BATCHES) as f64 / begun.elapsed().as_secs_f64());
        }
    }
    Row {
        name: "batch enqueue of 1,000".into(),
        unit: "events/s",
        raw,
        ours,
        wanted: Wanted::RatioAtLeast(0.85),
    }
}

/// As a careful engineer would write it: constant columns as one value, the rest as arrays.
async fn raw_batch(pool: &PgPool) {
    let notes: Vec<Noted> = (0..BATCH).map(|n| noted("key", n)).collect();
    let ids: Vec<_> = notes.iter().map(|_| EventId::now().0).collect();
    let constant = |text: &str| vec![text.to_owned(); notes.len()];
    let nothing = vec![None::<String>; notes.len()];
    let mut tx = pool.begin().await.unwrap();
    sqlx::query(
        "INSERT INTO outbox_log (id, topic, key, event_type, event_version, payload, source, dataschema, headers, \
         traceparent, tracestate, twin_id, twin_version, on_poison) \
         SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::int4[], $6::text[], $7::text[], \
         $8::text[], $9::text[], $10::text[], $11::text[], $12::uuid[], $13::int4[], $14::text[])",
    )
    .bind(ids)
    .bind(constant(Noted::TOPIC))
    .bind(notes.iter().map(|note| note.key.clone()).collect::<Vec<_>>())
    .bind(constant(Noted::TYPE))
    .bind(vec![Noted::VERSION.cast_signed(); notes.len()])
    .bind(notes.iter().map(payload).collect::<Vec<_>>())
    .bind(constant("/bench"))
    .bind(constant("urn:outbox:world.noted:1"))
    .bind(nothing.clone())
    .bind(nothing.clone())
    .bind(nothing)
    .bind(vec![None::<uuid::Uuid>; notes.len()])
    .bind(vec![None::<i32>; notes.len()])
    .bind(constant(Noted::ON_POISON.as_str()))
    .execute(&mut *tx)
    .await
    .unwrap();
    tx.commit().await.unwrap();
}
