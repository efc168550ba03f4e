//! What a test needs of each store beside its promises.

use crate::servers::Postgres;
use outbox::Store;
use outbox::postgres::PostgresStore;
use outbox::sqlite::SqliteStore;
use outbox::store::{Statement, StatementValue};
use sqlx::{AssertSqlSafe, PgConnection, SqliteConnection};
use std::future::Future;
use tempfile::TempDir;

/// A store under test and the few statements that a test needs of it.
pub trait TestStore: Store {
    /// The name of the consumer that notes, whose handler takes this store's transaction.
    const CONSUMER: &'static str;
    /// The name of the consumer that spreads what it is told.
    const SPREADER: &'static str;
    /// The name of the consumer that follows moves.
    const FOLLOWER: &'static str;

    /// Opens the store at `url`.
    fn open(url: &str) -> impl Future<Output = Self> + Send;
    /// The address of a fresh database, kept as long as the guard; `None` is a skip that has been printed.
    fn fresh_url() -> impl Future<Output = Option<(String, Option<TempDir>)>>;
    /// Makes the table of effects.
    fn create_effects(&self) -> impl Future<Output = ()> + Send;
    /// The effects, as (key, n), in the order in which they were written.
    fn effects(&self) -> impl Future<Output = Vec<(String, i64)>> + Send;
    /// How many effects were written; an error when the database does not answer.
    fn try_effect_count(&self) -> impl Future<Output = Result<usize, sqlx::Error>> + Send;
    /// How many effects were written.
    fn effect_count(&self) -> impl Future<Output = usize> + Send {
        async { self.try_effect_count().await.unwrap() }
    }
    /// The processes that wrote effects since the one with this number, in order.
    fn workers_since(&self, effect: usize) -> impl Future<Output = Vec<u32>> + Send;
    /// Writes one effect, and the process that did.
    fn write_effect(
        connection: &mut Self::Connection,
        key: &str,
        n: i64,
    ) -> impl Future<Output = Result<(), sqlx::Error>> + Send;
    /// Lets every lease run out so many seconds later, or earlier: what a jump of the database's clock amounts to.
    fn move_leases(&self, secs: i64) -> impl Future<Output = ()> + Send;
    /// Makes what was asked for at a limited rate so many seconds late: what a time without a leader amounts to.
    fn age_requests(&self, secs: i64) -> impl Future<Output = ()> + Send;
    /// Takes the consumer's progress back to the beginning of the log, as after a crash before the settle.
    fn forget_progress(&self) -> impl Future<Output = ()> + Send;
    /// The payloads in the log, in order.
    fn payloads(&self) -> impl Future<Output = Vec<String>> + Send;
    /// Runs a statement that was made for other drivers.
    fn run(&self, statement: &Statement) -> impl Future<Output = ()> + Send;
    /// Makes an error that ends the transaction, and ignores it.
    fn swallow_an_error(connection: &mut Self::Connection) -> impl Future<Output = ()> + Send;
    /// Commits the transaction that somebody else is to end.
    fn commit_early(connection: &mut Self::Connection) -> impl Future<Output = ()> + Send;
}

impl TestStore for SqliteStore {
    const CONSUMER: &'static str = "world.note-sqlite";
    const SPREADER: &'static str = "world.spread-sqlite";
    const FOLLOWER: &'static str = "world.follow-sqlite";

    async fn open(url: &str) -> Self {
        Self::open(url).await.unwrap()
    }

    async fn fresh_url() -> Option<(String, Option<TempDir>)> {
        let dir = tempfile::tempdir().unwrap();
        Some((format!("sqlite://{}/world.db", dir.path().display()), Some(dir)))
    }

    async fn create_effects(&self) {
        let table = "CREATE TABLE IF NOT EXISTS effect (
            id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT, n INTEGER, process INTEGER
        )";
        sqlx::query(table).execute(self.pool()).await.unwrap();
    }

    async fn effects(&self) -> Vec<(String, i64)> {
        sqlx::query_as("SELECT key, n FROM effect ORDER BY id").fetch_all(self.pool()).await.unwrap()
    }

    async fn try_effect_count(&self) -> Result<usize, sqlx::Error> {
        let count: i64 = sqlx::query_scalar("SELECT count(*) FROM effect").fetch_one(self.pool()).await?;
        Ok(usize::try_from(count).unwrap())
    }

    async fn workers_since(&self, effect: usize) -> Vec<u32> {
        let query = sqlx::query_scalar("SELECT process FROM effect ORDER BY id");
        let all: Vec<i64> = query.fetch_all(self.pool()).await.unwrap();
        all[effect..].iter().map(|process| u32::try_from(*process).unwrap()).collect()
    }

    async fn write_effect(connection: &mut SqliteConnection, key: &str, n: i64) -> Result<(), sqlx::Error> {
        let query = sqlx::query("INSERT INTO effect (key, n, process) VALUES (?, ?, ?)");
        query.bind(key).bind(n).bind(this_process()).execute(connection).await.map(|_| ())
    }

    async fn move_leases(&self, secs: i64) {
        let update = sqlx::query("UPDATE outbox_leader SET expires_at = expires_at + 1000 * ?").bind(secs);
        update.execute(self.pool()).await.unwrap();
    }

    async fn age_requests(&self, secs: i64) {
        let update = sqlx::query("UPDATE outbox_request SET due_at = due_at - 1000 * ?").bind(secs);
        update.execute(self.pool()).await.unwrap();
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

    async fn commit_early(connection: &mut SqliteConnection) {
        sqlx::raw_sql("COMMIT").execute(connection).await.unwrap();
    }

    async fn swallow_an_error(connection: &mut SqliteConnection) {
        let query = sqlx::query("INSERT OR ROLLBACK INTO effect (id, key, n) SELECT id, key, n FROM effect");
        query.execute(connection).await.unwrap_err();
    }
}

impl TestStore for PostgresStore {
    const CONSUMER: &'static str = "world.note-postgres";
    const SPREADER: &'static str = "world.spread-postgres";
    const FOLLOWER: &'static str = "world.follow-postgres";

    async fn open(url: &str) -> Self {
        let store = Self::connect(url).await.unwrap();
        store.migrate().await.unwrap();
        store
    }

    async fn fresh_url() -> Option<(String, Option<TempDir>)> {
        Some((Postgres::shared().await?.fresh_database().await, None))
    }

    async fn create_effects(&self) {
        let table = "CREATE TABLE IF NOT EXISTS effect (
            id bigserial PRIMARY KEY, key text, n bigint, process bigint
        )";
        sqlx::query(table).execute(self.pool()).await.unwrap();
    }

    async fn effects(&self) -> Vec<(String, i64)> {
        sqlx::query_as("SELECT key, n FROM effect ORDER BY id").fetch_all(self.pool()).await.unwrap()
    }

    async fn try_effect_count(&self) -> Result<usize, sqlx::Error> {
        let count: i64 = sqlx::query_scalar("SELECT count(*) FROM effect").fetch_one(self.pool()).await?;
        Ok(usize::try_from(count).unwrap())
    }

    async fn workers_since(&self, effect: usize) -> Vec<u32> {
        let query = sqlx::query_scalar("SELECT process FROM effect ORDER BY id");
        let all: Vec<i64> = query.fetch_all(self.pool()).await.unwrap();
        all[effect..].iter().map(|process| u32::try_from(*process).unwrap()).collect()
    }

    async fn write_effect(connection: &mut PgConnection, key: &str, n: i64) -> Result<(), sqlx::Error> {
        let query = sqlx::query("INSERT INTO effect (key, n, process) VALUES ($1, $2, $3)");
        query.bind(key).bind(n).bind(this_process()).execute(connection).await.map(|_| ())
    }

    async fn move_leases(&self, secs: i64) {
        let update = "UPDATE outbox_heartbeat SET expires_at = expires_at + make_interval(secs => $1)";
        sqlx::query(update).bind(secs as f64).execute(self.pool()).await.unwrap();
    }

    async fn age_requests(&self, secs: i64) {
        let update = "UPDATE outbox_request SET due_at = due_at - $1 * interval '1 second'";
        sqlx::query(update).bind(secs).execute(self.pool()).await.unwrap();
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

    async fn commit_early(connection: &mut PgConnection) {
        sqlx::raw_sql("COMMIT").execute(connection).await.unwrap();
    }

    async fn swallow_an_error(connection: &mut PgConnection) {
        sqlx::query("SELECT 1 / 0").execute(connection).await.unwrap_err();
    }
}

fn this_process() -> i64 {
    i64::from(std::process::id())
}
