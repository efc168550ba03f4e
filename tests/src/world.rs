//! A world: a fresh database with an outbox, a table of effects, and consumers that do what their events plan.

use crate::servers::Postgres;
use outbox::postgres::PostgresStore;
use outbox::sqlite::SqliteStore;
use outbox::store::{Statement, StatementValue};
use outbox::{
    Catalog, Context, Event, Outbox, RelayConfig, RetryPolicy, Runner, RunnerBuilder, Settings, Start, State,
    Store, broker::Broker, consumer, permanent,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlx::{AssertSqlSafe, PgConnection, PgTransaction, SqliteConnection, SqliteTransaction};
use std::error::Error;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a condition may take to come true on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Something to be noted by a handler, and how the handler is to fare.
#[derive(Debug, Clone, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "world.noted", version = 1, topic = "world")]
pub struct Noted {
    /// Notes of one key keep their order.
    #[event(key)]
    pub key: String,
    /// Tells notes apart.
    pub n: i64,
    /// How the handler is to fare.
    pub plan: Plan,
}

/// How a handler is to fare. Whatever the plan, it first writes its effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Plan {
    /// Well.
    Succeed,
    /// It fails in that many attempts, then goes well.
    FailFirst(u32),
    /// It fails until [`World::mend`].
    FailUntilMended,
    /// It fails and says that no retry can help.
    FailForGood,
    /// It panics in that many attempts.
    PanicFirst(u32),
    /// It ignores an error that ended its transaction, in that many attempts, and returns Ok.
    SwallowFirst(u32),
    /// It takes longer than it may, in the first attempt.
    HangFirst,
}

/// Makes a note that goes well.
#[must_use]
pub fn noted(key: &str, n: i64) -> Noted {
    planned(key, n, Plan::Succeed)
}

/// Makes a note with a plan.
#[must_use]
pub fn planned(key: &str, n: i64, plan: Plan) -> Noted {
    Noted { key: key.to_owned(), n, plan }
}

/// A store under test and the few statements that a test needs of it.
pub trait TestStore: Store {
    /// The name of the consumer whose handler takes this store's transaction.
    const CONSUMER: &'static str;

    /// Opens the store at `url`.
    fn open(url: &str) -> impl Future<Output = Self> + Send;
    /// The address of a fresh database, kept as long as the guard; `None` is a skip that has been printed.
    fn fresh_url() -> impl Future<Output = Option<(String, Option<TempDir>)>>;
    /// Makes the table of effects.
    fn create_effects(&self) -> impl Future<Output = ()> + Send;
    /// The effects, as (key, n), in the order in which they were written.
    fn effects(&self) -> impl Future<Output = Vec<(String, i64)>> + Send;
    /// Writes one effect.
    fn write_effect(
        connection: &mut Self::Connection,
        key: &str,
        n: i64,
    ) -> impl Future<Output = Result<(), sqlx::Error>> + Send;
    /// Takes the consumer's progress back to the beginning of the log, as after a crash before the settle.
    fn forget_progress(&self) -> impl Future<Output = ()> + Send;
    /// The payloads in the log, in order.
    fn payloads(&self) -> impl Future<Output = Vec<String>> + Send;
    /// Runs a statement that was made for other drivers.
    fn run(&self, statement: &Statement) -> impl Future<Output = ()> + Send;
    /// Makes an error that ends the transaction, and ignores it.
    fn swallow_an_error(connection: &mut Self::Connection) -> impl Future<Output = ()> + Send;
}

impl TestStore for SqliteStore {
    const CONSUMER: &'static str = "world.note-sqlite";

    async fn open(url: &str) -> Self {
        Self::open(url).await.unwrap()
    }

    async fn fresh_url() -> Option<(String, Option<TempDir>)> {
        let dir = tempfile::tempdir().unwrap();
        Some((format!("sqlite://{}/world.db", dir.path().display()), Some(dir)))
    }

    async fn create_effects(&self) {
        let table =
            "CREATE TABLE IF NOT EXISTS effect (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT, n INTEGER)";
        sqlx::query(table).execute(self.pool()).await.unwrap();
    }

    async fn effects(&self) -> Vec<(String, i64)> {
        sqlx::query_as("SELECT key, n FROM effect ORDER BY id").fetch_all(self.pool()).await.unwrap()
    }

    async fn write_effect(connection: &mut SqliteConnection, key: &str, n: i64) -> Result<(), sqlx::Error> {
        let query = sqlx::query("INSERT INTO effect (key, n) VALUES (?, ?)").bind(key).bind(n);
        query.execute(connection).await.map(|_| ())
    }

    async fn forget_progress(&self) {
        sqlx::query("DELETE FROM outbox_progress").execute(self.pool()).await.unwrap();
    }

    async fn payloads(&self) -> Vec<String> {
        sqlx::query_scalar("SELECT payload FROM outbox_log ORDER BY seq")
            .fetch_all(self.pool())
            .await
            .unwrap()
    }

    async fn run(&self, statement: &Statement) {
        let mut query = sqlx::query(AssertSqlSafe(statement.sql.clone()));
        for value in &statement.values {
            query = match value.clone() {
                StatementValue::Text(text) => query.bind(text),
                StatementValue::Integer(number) => query.bind(number),
                other => panic!("SQLite has no {other:?}"),
            };
        }
        query.execute(self.pool()).await.unwrap();
    }

    async fn swallow_an_error(connection: &mut SqliteConnection) {
        let query = sqlx::query("INSERT OR ROLLBACK INTO effect (id, key, n) SELECT id, key, n FROM effect");
        query.execute(connection).await.unwrap_err();
    }
}

impl TestStore for PostgresStore {
    const CONSUMER: &'static str = "world.note-postgres";

    async fn open(url: &str) -> Self {
        let store = Self::connect(url).await.unwrap();
        store.migrate().await.unwrap();
        store
    }

    async fn fresh_url() -> Option<(String, Option<TempDir>)> {
        Some((Postgres::shared().await?.fresh_database().await, None))
    }

    async fn create_effects(&self) {
        let table = "CREATE TABLE IF NOT EXISTS effect (id bigserial PRIMARY KEY, key text, n bigint)";
        sqlx::query(table).execute(self.pool()).await.unwrap();
    }

    async fn effects(&self) -> Vec<(String, i64)> {
        sqlx::query_as("SELECT key, n FROM effect ORDER BY id").fetch_all(self.pool()).await.unwrap()
    }

    async fn write_effect(connection: &mut PgConnection, key: &str, n: i64) -> Result<(), sqlx::Error> {
        let query = sqlx::query("INSERT INTO effect (key, n) VALUES ($1, $2)").bind(key).bind(n);
        query.execute(connection).await.map(|_| ())
    }

    async fn forget_progress(&self) {
        sqlx::query("DELETE FROM outbox_progress").execute(self.pool()).await.unwrap();
    }

    async fn payloads(&self) -> Vec<String> {
        sqlx::query_scalar("SELECT payload FROM outbox_log ORDER BY seq")
            .fetch_all(self.pool())
            .await
            .unwrap()
    }

    async fn run(&self, statement: &Statement) {
        let mut query = sqlx::query(AssertSqlSafe(statement.sql.clone()));
        for value in &statement.values {
            query = match value.clone() {
                StatementValue::Uuid(id) => query.bind(id),
                StatementValue::Text(text) => query.bind(text),
                StatementValue::Integer(number) => query.bind(number),
                other => panic!("PostgreSQL has no {other:?}"),
            };
        }
        query.execute(self.pool()).await.unwrap();
    }

    async fn swallow_an_error(connection: &mut PgConnection) {
        sqlx::query("SELECT 1 / 0").execute(connection).await.unwrap_err();
    }
}

#[consumer(
    name = "world.note-sqlite",
    retry(attempts = 4, base = "10ms", max = "50ms"),
    timeout = "2s",
    concurrency = 8
)]
async fn note_sqlite(
    event: Noted,
    tx: &mut SqliteTransaction<'_>,
    ctx: &Context,
    mended: State<Arc<AtomicBool>>,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    note::<SqliteStore>(&event, tx, ctx, &mended).await
}

#[consumer(
    name = "world.note-postgres",
    retry(attempts = 4, base = "10ms", max = "50ms"),
    timeout = "2s",
    concurrency = 8
)]
async fn note_postgres(
    event: Noted,
    tx: &mut PgTransaction<'_>,
    ctx: &Context,
    mended: State<Arc<AtomicBool>>,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    note::<PostgresStore>(&event, tx, ctx, &mended).await
}

async fn note<S: TestStore>(
    event: &Noted,
    connection: &mut S::Connection,
    ctx: &Context,
    mended: &AtomicBool,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    S::write_effect(connection, &event.key, event.n).await?;
    let attempt = ctx.attempt();
    match event.plan {
        Plan::FailFirst(count) if attempt <= count => Err("the plan says to fail".into()),
        Plan::FailUntilMended if !mended.load(Ordering::SeqCst) => {
            Err("the plan says to fail until mended".into())
        }
        Plan::FailForGood => Err(permanent("the plan says that no retry can help").into()),
        Plan::PanicFirst(count) if attempt <= count => panic!("the plan says to panic"),
        Plan::SwallowFirst(count) if attempt <= count => {
            S::swallow_an_error(connection).await;
            Ok(())
        }
        Plan::HangFirst if attempt == 1 => std::future::pending().await,
        _ => Ok(()),
    }
}

/// A fresh database with an outbox.
#[derive(Debug)]
pub struct World<S: TestStore> {
    /// The outbox.
    pub outbox: Outbox<S>,
    /// The address of the database.
    pub url: String,
    mended: Arc<AtomicBool>,
    _dir: Option<TempDir>,
}

impl<S: TestStore> World<S> {
    /// Makes a world; `None` is a skip that has been printed.
    pub async fn start() -> Option<Self> {
        let (url, dir) = S::fresh_url().await?;
        Some(Self { _dir: dir, ..Self::at(&url).await })
    }

    /// A world on a database that stands already.
    pub async fn at(url: &str) -> Self {
        let store = S::open(url).await;
        store.create_effects().await;
        let outbox = Outbox::builder(store).source("/world").build();
        Self { outbox, url: url.to_owned(), mended: Arc::default(), _dir: None }
    }

    /// Enqueues each event in a transaction of its own.
    pub async fn enqueue_each(&self, events: impl IntoIterator<Item = Noted>) {
        for event in events {
            let mut tx = self.outbox.begin().await.unwrap();
            self.outbox.enqueue(&mut tx, &event).await.unwrap();
            tx.commit().await.unwrap();
        }
    }

    /// A runner of this store's consumer, quick to take over.
    pub fn runner(&self) -> RunnerBuilder<S> {
        let catalog = Catalog::collect().unwrap();
        let others =
            catalog.consumers().iter().map(|consumer| consumer.name).filter(|name| *name != S::CONSUMER);
        let runner = self.outbox.runner().only([S::CONSUMER]).elsewhere(others).start_at(Start::Earliest);
        runner.state(Arc::clone(&self.mended)).settings(quick)
    }

    /// Lets the events that fail until mended go well from now on, as a new build of the handler would.
    pub fn mend(&self) {
        self.mended.store(true, Ordering::SeqCst);
    }

    /// Runs this store's consumer on the log.
    pub async fn consume(&self) -> Runner {
        self.runner().consume_locally().start().await.unwrap()
    }

    /// Relays to `broker`, with quick retries.
    pub async fn relay(&self, broker: Arc<dyn Broker>) -> Runner {
        self.outbox.runner().relay(quick_relay(), broker).settings(quick).start().await.unwrap()
    }

    /// Waits until the effects are these many, and gives them.
    pub async fn effects_of(&self, count: usize) -> Vec<(String, i64)> {
        eventually("the effects are there", async || self.outbox.store().effects().await.len() >= count)
            .await;
        self.outbox.store().effects().await
    }
}

/// A relay whose retries are quick.
#[must_use]
pub fn quick_relay() -> RelayConfig {
    let retry = RetryPolicy { attempts: 4, base: Duration::from_millis(10), max: Duration::from_millis(50) };
    RelayConfig { retry, ..RelayConfig::default() }
}

/// Takes over and looks around quickly.
fn quick(settings: &mut Settings) {
    settings.takeover = Duration::from_secs(2);
    settings.poll = Duration::from_millis(50);
}

/// Waits until `is_true`; fails the test when that takes too long.
pub async fn eventually(what: &str, mut is_true: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_true().await {
        assert!(Instant::now() < deadline, "waited {PATIENCE:?} in vain until {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The numbers of one key, in order.
#[must_use]
pub fn numbers_of(effects: &[(String, i64)], key: &str) -> Vec<i64> {
    effects.iter().filter(|(of, _)| of == key).map(|(_, n)| *n).collect()
}
