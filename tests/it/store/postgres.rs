//! PostgreSQL: the rules of a store, and the promises that need a look at this database.

mod draining;
mod fencing;
mod gaps;
mod migrating;
mod numbering;
mod producing;
mod requests;
mod ring;
mod roles;
mod scheduling;
mod statements;
mod sweeping;

use outbox::{
    OnPoison, conformance,
    cursor::{Filter, LogCursor, Page, Settled, Start},
    envelope::{EventId, Headers, NewEvent},
    held::{Share, Stage},
    lease::{Fence, Owner},
    postgres::{PostgresConfig, PostgresLog, PostgresStore},
    scheduled::NewScheduled,
    store::{HandlerToken, Store, StoreError},
};
use outbox_tests::servers::Postgres;
use sqlx::{AssertSqlSafe, PgConnection, PgPool};
use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};
use time::OffsetDateTime;

/// Longer than any test runs.
const LONG: Duration = Duration::from_secs(600);

/// How long a test waits before it fails.
const PATIENCE: Duration = Duration::from_secs(20);

#[tokio::test]
async fn postgres_keeps_the_rules_of_a_store() {
    let Some(postgres) = Postgres::shared().await else { return };
    let pool = PgPool::connect(&postgres.fresh_database().await).await.unwrap();
    let stores = AtomicU32::new(0);
    conformance::store::check(async || {
        // A schema each is made faster than a database each, and its name needs every kind of quoting.
        let schema = format!("Schema \"{}\" '\\", stores.fetch_add(1, Ordering::Relaxed));
        let config = PostgresConfig { schema, prefix: "Ab c_".to_owned(), ..PostgresConfig::default() };
        let store = PostgresStore::with_pool(pool.clone(), config).unwrap();
        store.migrate().await.unwrap();
        store
    })
    .await;
}

/// The end of a handler's transaction, as the consumer's step makes it.
async fn prove_and_commit(
    store: &PostgresStore,
    mut tx: <PostgresStore as Store>::Tx,
    fence: &Fence,
    token: &HandlerToken,
) -> Result<(), StoreError> {
    store.prove_handler(&mut tx, fence, token).await?;
    store.commit_proven(tx).await
}

/// A store with its tables in a database of its own, and the leader of one stage.
struct World {
    store: PostgresStore,
    fence: Fence,
    url: String,
}

impl World {
    /// `None` is a skip that was printed.
    async fn start() -> Option<Self> {
        Some(Self::on(Postgres::shared().await?).await)
    }

    async fn on(postgres: &Postgres) -> Self {
        let url = postgres.fresh_database().await;
        PostgresStore::connect(&url).await.unwrap().migrate().await.unwrap();
        Self::at(&url).await
    }

    /// A world on tables that stand already.
    async fn at(url: &str) -> Self {
        let store = PostgresStore::connect(url).await.unwrap();
        let fence = lead(&store, &Stage::relay("r"), LONG).await;
        Self { store, fence, url: url.to_owned() }
    }

    /// The log from its first event on.
    async fn open(&self) -> PostgresLog {
        self.store.open_log(&self.fence, Filter::default(), Start::Earliest).await.unwrap()
    }

    async fn publish(&self, key: &str) -> NewEvent {
        let event = event(key);
        let mut tx = self.store.begin().await.unwrap();
        self.store.insert(&mut tx, std::slice::from_ref(&event)).await.unwrap();
        self.store.commit(tx).await.unwrap();
        event
    }

    /// Schedules an event that is due so many seconds from now.
    async fn schedule(&self, key: &str, secs: i64) -> NewEvent {
        let due = OffsetDateTime::now_utc() + time::Duration::seconds(secs);
        let event = event(key);
        let mut tx = self.store.begin().await.unwrap();
        self.store.schedule(&mut tx, &[NewScheduled { due, event: event.clone() }]).await.unwrap();
        self.store.commit(tx).await.unwrap();
        event
    }

    /// The blocks that a statement of ours touches with these values in the place of its parameters.
    async fn blocks(&self, name: &str, values: &[&str]) -> i64 {
        let texts = self.store.statement_texts();
        let mut sql = texts.iter().find(|(known, _)| *known == name).unwrap().1.clone();
        for (at, value) in values.iter().enumerate() {
            sql = sql.replace(&format!("${}", at + 1), value);
        }
        let plan = format!("EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) {sql}");
        let plan: Vec<String> =
            sqlx::query_scalar(AssertSqlSafe(plan)).fetch_all(self.store.pool()).await.unwrap();
        // The first line of buffers is that of the whole plan.
        let buffers = plan.iter().find_map(|line| line.trim().strip_prefix("Buffers: shared "));
        let count = |part: &str| part.split_once('=').unwrap().1.parse::<i64>().unwrap();
        let parts = buffers.unwrap_or_default().split(' ');
        parts.filter(|part| part.starts_with("hit=") || part.starts_with("read=")).map(count).sum()
    }

    /// Reads until something is there, and settles it.
    async fn relay(&self, log: &mut PostgresLog) -> Vec<String> {
        let started = Instant::now();
        loop {
            let keys = self.relay_what_is_there(log).await;
            if !keys.is_empty() {
                return keys;
            }
            assert!(started.elapsed() < PATIENCE, "nothing came");
        }
    }

    /// Reads once and settles what is there; gives the keys.
    async fn relay_what_is_there(&self, log: &mut PostgresLog) -> Vec<String> {
        let page = log.read(100).await.unwrap();
        log.settle(&self.fence, &all_of(&page), &[]).await.unwrap();
        keys_of(&page)
    }

    /// Runs statements as the owner of the tables.
    async fn execute(&self, sql: &str) {
        sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(self.store.pool()).await.unwrap();
    }

    async fn number(&self, sql: &str) -> i64 {
        sqlx::query_scalar(AssertSqlSafe(sql.to_owned())).fetch_one(self.store.pool()).await.unwrap()
    }

    /// The holes that stand in the database, the young ones and the old.
    async fn recorded_holes(&self) -> i64 {
        self.number(
            "SELECT (SELECT count(*) FROM outbox_hole) + coalesce(
                 (SELECT cardinality(holes) / 2 FROM outbox_progress ORDER BY id DESC LIMIT 1), 0)",
        )
        .await
    }
}

fn all_of(page: &Page) -> Settled {
    let late = page.events.iter().filter(|read| read.late).map(|read| read.envelope.seq);
    Settled { through: page.through, late: late.chain(page.late_unmatched.iter().copied()).collect() }
}

fn keys_of(page: &Page) -> Vec<String> {
    page.events.iter().map(|read| read.envelope.key.clone().unwrap()).collect()
}

fn event(key: &str) -> NewEvent {
    NewEvent {
        id: EventId::now(),
        source: "/tests".to_owned(),
        topic: "orders".to_owned(),
        key: Some(key.to_owned()),
        event_type: "orders.placed".to_owned(),
        event_version: 1,
        payload: r#"{"eventType":"orders.placed","eventVersion":1}"#.to_owned(),
        dataschema: "urn:outbox:orders.placed:1".to_owned(),
        headers: Headers::new(),
        traceparent: None,
        tracestate: None,
        twin: None,
        on_poison: OnPoison::Park,
    }
}

async fn lead(store: &PostgresStore, stage: &Stage, ttl: Duration) -> Fence {
    let fence = Fence { stage: stage.clone(), share: Share::default(), owner: Owner::new(), epoch: 0 };
    let epoch = store.acquire(&fence.lease(), fence.owner, ttl).await.unwrap().expect("the lease is free");
    Fence { epoch, ..fence }
}

/// Waits until that many sessions wait for a lock.
async fn until_waiting(watcher: &mut PgConnection, sessions: i64) {
    let waiting = "SELECT count(*) FROM pg_stat_activity
                    WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let started = Instant::now();
    while sqlx::query_scalar::<_, i64>(waiting).fetch_one(&mut *watcher).await.unwrap() < sessions {
        assert!(started.elapsed() < PATIENCE, "fewer than {sessions} sessions wait for a lock");
    }
}
