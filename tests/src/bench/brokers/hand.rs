//! What every client by hand does alike: the messages, and how they are handled.

use crate::world::Noted;
use futures_util::future::try_join_all;
use outbox::broker::partition;
use outbox::{Event, EventId};
use sqlx::PgPool;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use tokio::task::JoinSet;

/// As many events side by side in a partition as our handler works on.
const CONCURRENCY: usize = 8;

/// A message with what an event of ours carries.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) id: String,
    pub(super) partition: u16,
    pub(super) key: String,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) payload: String,
}

impl Message {
    pub(super) fn new(note: &Noted) -> Self {
        let id = EventId::now().to_string();
        let headers = vec![
            ("content-type", "application/json".to_owned()),
            ("ce_specversion", "1.0".to_owned()),
            ("ce_id", id.clone()),
            ("ce_source", "/bench".to_owned()),
            ("ce_type", Noted::TYPE.to_owned()),
            ("ce_time", "2026-01-01T12:00:00.123456Z".to_owned()),
            ("ce_dataschema", "urn:outbox:world.noted:1".to_owned()),
            ("ce_sequence", "1000000000000000000".to_owned()),
            ("ce_outboxonpoison", "park".to_owned()),
            ("ce_partitionkey", note.key.clone()),
        ];
        let payload = serde_json::to_string(note).unwrap();
        let payload = format!("{{\"eventType\":\"world.noted\",\"eventVersion\":1,{}", &payload[1..]);
        let partition = partition::of_key(&note.key, super::PARTITIONS);
        Self { id, partition, key: note.key.clone(), headers, payload }
    }
}

/// What is handled of a message: its id and its payload.
pub(super) type Taken = (String, Vec<u8>);

/// A broker's client, used by hand as a careful engineer would.
pub(super) trait Hand {
    /// Makes a topic for what is published by hand.
    async fn declare(&self, topic: &str, partitions: u16);

    /// Makes a group of consumers known to a topic of ours.
    async fn introduce(&self, topic: &str, partitions: u16);

    /// Publishes all at once and waits until each is confirmed to be stored.
    async fn publish(&self, topic: &str, messages: &[Message]);

    /// Reads one partition of a topic of ours for the group.
    async fn read(&self, topic: &str, partition: u16) -> Box<dyn Reader>;
}

/// Reads a partition.
pub(super) trait Reader: Send {
    /// Waits for messages and takes at most `max`.
    fn take(&mut self, max: usize) -> futures_util::future::BoxFuture<'_, Vec<Taken>>;

    /// Acks all that was taken last.
    fn ack(&mut self) -> futures_util::future::BoxFuture<'_, ()>;
}

/// The tables of what is handled by hand, and those of our handler.
pub(super) async fn create_tables(pool: &PgPool) {
    for table in ["effect", "raw_effect"] {
        let create = format!("CREATE TABLE {table} (key text NOT NULL, n bigint NOT NULL)");
        sqlx::query(sqlx::AssertSqlSafe(create)).execute(pool).await.unwrap();
    }
    let inbox = "CREATE TABLE raw_inbox (consumer text, source text, id uuid, handled_at timestamptz NOT NULL DEFAULT now(), \
                 PRIMARY KEY (consumer, source, id))";
    sqlx::query(inbox).execute(pool).await.unwrap();
    sqlx::query("CREATE TABLE raw_progress (id bigserial PRIMARY KEY, settled bigint)")
        .execute(pool)
        .await
        .unwrap();
}

/// Handles the events of a round, each in a transaction with the row that drops duplicates; events a second.
pub(super) async fn handle_all(hand: &impl Hand, pool: &PgPool) -> f64 {
    let handled = Arc::new(AtomicI64::new(0));
    let (first, last) = (Arc::new(OnceLock::new()), Arc::new(OnceLock::new()));
    let mut tasks = JoinSet::new();
    for partition in 0..super::PARTITIONS {
        let mut reader = hand.read(super::TOPIC, partition).await;
        let (pool, handled) = (pool.clone(), Arc::clone(&handled));
        let (first, last) = (Arc::clone(&first), Arc::clone(&last));
        tasks.spawn(async move {
            while handled.load(Ordering::SeqCst) < super::EVENTS {
                let taken = reader.take(100).await;
                if !taken.is_empty() {
                    first.get_or_init(Instant::now);
                }
                let lanes = (0..CONCURRENCY).map(|lane| handle_lane(&pool, &taken, lane));
                try_join_all(lanes).await.unwrap();
                reader.ack().await;
                let count = taken.len() as i64;
                // The others may wait for more a while longer.
                if handled.fetch_add(count, Ordering::SeqCst) + count >= super::EVENTS {
                    last.get_or_init(Instant::now);
                }
            }
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended.unwrap();
    }
    let (first, last) = (first.get().expect("a message came"), last.get().expect("all were handled"));
    super::EVENTS as f64 / last.duration_since(*first).as_secs_f64()
}

/// One of the lanes of what was taken, so that a key stays in one.
async fn handle_lane(pool: &PgPool, taken: &[Taken], lane: usize) -> sqlx::Result<()> {
    for (id, payload) in taken {
        let note: Noted = serde_json::from_slice(payload).unwrap();
        let number: usize = note.key[4..].parse().unwrap();
        if number % CONCURRENCY != lane {
            continue;
        }
        let mut tx = pool.begin().await?;
        let claim = "INSERT INTO raw_inbox (consumer, source, id) VALUES ('raw', '/bench', $1) ON CONFLICT DO NOTHING";
        let id: uuid::Uuid = id.parse().unwrap();
        if sqlx::query(claim).bind(id).execute(&mut *tx).await?.rows_affected() == 1 {
            let write = "INSERT INTO raw_effect (key, n) VALUES ($1, $2)";
            sqlx::query(write).bind(&note.key).bind(note.n).execute(&mut *tx).await?;
        }
        tx.commit().await?;
    }
    Ok(())
}
