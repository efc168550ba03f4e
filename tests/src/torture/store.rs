//! The application's own tables, and what stands in them at the end.
//!
//! ```text
//! state (key, version)          one row a key; its lock orders the transactions of the key
//! ledger (tx)                   one row a transaction that committed
//! tally (consumer, key, place)  one row a consumer and key; its lock orders the handlers' commits
//! effect (…, place, at)         one row an effect of a handler
//! ```

use crate::history::{EventName, TxId};
use outbox::postgres::{PostgresConfig, PostgresStore};
use outbox::sqlite::SqliteStore;
use outbox::{Event, Store, StoreError};
use sqlx::{PgConnection, SqliteConnection};
use std::future::Future;
use std::time::Duration;

const TABLES: [&str; 4] = [
    "CREATE TABLE state (key text PRIMARY KEY, version bigint NOT NULL)",
    "CREATE TABLE ledger (tx bigint PRIMARY KEY)",
    "CREATE TABLE tally (consumer text, key text, place bigint NOT NULL, PRIMARY KEY (consumer, key))",
    "CREATE TABLE effect (consumer text, key text, n bigint, place bigint, at bigint)",
];

const LOCK_KEY: &str = "INSERT INTO state (key, version) VALUES ($1, 1)
    ON CONFLICT (key) DO UPDATE SET version = state.version + 1 RETURNING version";

const COUNT_EFFECT: &str = "INSERT INTO tally (consumer, key, place) VALUES ($1, $2, 1)
    ON CONFLICT (consumer, key) DO UPDATE SET place = tally.place + 1 RETURNING place";

const WRITE_EFFECT: &str = "INSERT INTO effect (consumer, key, n, place, at) VALUES ($1, $2, $3, $4, $5)";

/// How long the log keeps what is settled: so short that it is swept while everything breaks.
pub(super) const RETENTION: Duration = Duration::from_secs(12);

/// An effect of a handler that committed.
#[derive(Debug, Clone)]
pub(super) struct Effect {
    pub(super) consumer: String,
    pub(super) event: EventName,
    /// When it was written.
    pub(super) at: u64,
}

/// A transaction that stays open.
#[derive(Debug)]
pub(super) struct Hold {
    pub(super) name: &'static str,
    pub(super) statements: &'static [&'static str],
    pub(super) secs_max: f64,
}

/// A store, and the tables of the application beside it.
pub(super) trait TortureStore: Store {
    /// The consumer whose handler takes this store's transaction.
    const CONSUMER: &'static str;

    /// Transactions that are held open.
    const HOLDS: &'static [Hold];

    /// Opens the store at `url`.
    fn open(url: &str) -> impl Future<Output = Result<Self, StoreError>> + Send;
    /// Makes the tables of the application.
    fn create_tables(&self) -> impl Future<Output = Result<(), sqlx::Error>> + Send;
    /// Locks a key and gives its version if this transaction commits.
    fn lock_key(
        connection: &mut Self::Connection,
        key: &str,
    ) -> impl Future<Output = Result<i64, sqlx::Error>> + Send;
    /// Enters a transaction into the ledger.
    fn enter(
        connection: &mut Self::Connection,
        tx: TxId,
    ) -> impl Future<Output = Result<(), sqlx::Error>> + Send;
    /// Writes an effect; those of one key one after the other.
    fn write_effect(
        connection: &mut Self::Connection,
        consumer: &str,
        event: &EventName,
    ) -> impl Future<Output = Result<(), sqlx::Error>> + Send;
    /// Makes an error that ends the transaction, and ignores it.
    fn swallow_an_error(connection: &mut Self::Connection) -> impl Future<Output = ()> + Send;
    /// Runs these statements, keeps the transaction open during `rest`, and rolls it back.
    fn hold(
        &self,
        statements: &'static [&'static str],
        rest: impl Future<Output = bool> + Send,
    ) -> impl Future<Output = Result<(), sqlx::Error>> + Send;
    /// Lets every lease run out so many seconds later.
    fn move_leases(&self, secs: i64) -> impl Future<Output = Result<(), sqlx::Error>> + Send;
    /// How many events the log holds.
    fn log_size(&self) -> impl Future<Output = Result<i64, sqlx::Error>> + Send;
    /// The transactions that committed.
    fn ledger(&self) -> impl Future<Output = Result<Vec<TxId>, sqlx::Error>> + Send;
    /// All effects.
    fn effects(&self) -> impl Future<Output = Result<Vec<Effect>, sqlx::Error>> + Send;
}

/// Both databases take the same statements; only the driver's types differ.
macro_rules! torture_store {
    ($store:ty, $connection:ty, $consumer:literal, $holds:expr, $move_leases:literal, $open:item, $swallow:item) => {
        impl TortureStore for $store {
            const CONSUMER: &'static str = $consumer;
            const HOLDS: &'static [Hold] = $holds;

            $open
            $swallow

            async fn hold(
                &self,
                statements: &'static [&'static str],
                rest: impl Future<Output = bool> + Send,
            ) -> Result<(), sqlx::Error> {
                // Detached: whatever comes of it, the pool does not get it back.
                let mut connection = self.pool().acquire().await?.detach();
                for statement in statements {
                    sqlx::query(*statement).execute(&mut connection).await?;
                }
                rest.await;
                sqlx::query("ROLLBACK").execute(&mut connection).await.map(|_| ())
            }

            async fn move_leases(&self, secs: i64) -> Result<(), sqlx::Error> {
                sqlx::query($move_leases).bind(secs).execute(self.pool()).await.map(|_| ())
            }

            async fn log_size(&self) -> Result<i64, sqlx::Error> {
                sqlx::query_scalar("SELECT count(*) FROM outbox_log").fetch_one(self.pool()).await
            }

            async fn create_tables(&self) -> Result<(), sqlx::Error> {
                for table in TABLES {
                    sqlx::query(table).execute(self.pool()).await?;
                }
                Ok(())
            }

            async fn lock_key(connection: &mut $connection, key: &str) -> Result<i64, sqlx::Error> {
                sqlx::query_scalar(LOCK_KEY).bind(key).fetch_one(connection).await
            }

            async fn enter(connection: &mut $connection, tx: TxId) -> Result<(), sqlx::Error> {
                let insert = sqlx::query("INSERT INTO ledger (tx) VALUES ($1)");
                insert.bind(tx.0.cast_signed()).execute(connection).await.map(|_| ())
            }

            async fn write_effect(
                connection: &mut $connection,
                consumer: &str,
                event: &EventName,
            ) -> Result<(), sqlx::Error> {
                let key = event.key.as_deref().unwrap_or_default();
                let place: i64 = match event.key {
                    Some(_) => {
                        let count = sqlx::query_scalar(COUNT_EFFECT).bind(consumer).bind(key);
                        count.fetch_one(&mut *connection).await?
                    }
                    None => 0,
                };
                let insert = sqlx::query(WRITE_EFFECT).bind(consumer).bind(key).bind(event.n).bind(place);
                insert.bind(super::record::now().cast_signed()).execute(connection).await.map(|_| ())
            }

            async fn ledger(&self) -> Result<Vec<TxId>, sqlx::Error> {
                let all: Vec<i64> = sqlx::query_scalar("SELECT tx FROM ledger").fetch_all(self.pool()).await?;
                Ok(all.into_iter().map(|tx| TxId(tx.cast_unsigned())).collect())
            }

            async fn effects(&self) -> Result<Vec<Effect>, sqlx::Error> {
                let query = sqlx::query_as("SELECT consumer, key, n, at FROM effect ORDER BY place");
                let all: Vec<(String, String, i64, i64)> = query.fetch_all(self.pool()).await?;
                Ok(all.into_iter().map(effect).collect())
            }
        }
    };
}

fn effect((consumer, key, n, at): (String, String, i64, i64)) -> Effect {
    let key = Some(key.as_str()).filter(|key| !key.is_empty());
    let event = EventName::new(super::event::Told::TOPIC, key, n);
    Effect { consumer, event, at: at.cast_unsigned() }
}

torture_store!(
    PostgresStore,
    PgConnection,
    "torture.book-postgres",
    &[
        Hold {
            name: "transaction with a write held open",
            statements: &["BEGIN", "SELECT pg_current_xact_id()"],
            secs_max: 15.0,
        },
        Hold {
            name: "snapshot held",
            statements: &["BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT count(*) FROM state"],
            secs_max: 15.0,
        },
        Hold {
            name: "key locked",
            statements: &["BEGIN", "UPDATE state SET version = version WHERE key = 'good-1'"],
            secs_max: 4.0,
        },
        Hold {
            name: "heartbeats locked",
            statements: &["BEGIN", "SELECT lease FROM outbox_heartbeat FOR UPDATE"],
            secs_max: 3.0,
        },
    ],
    "UPDATE outbox_heartbeat SET expires_at = expires_at + $1 * interval '1 second'",
    async fn open(url: &str) -> Result<Self, StoreError> {
        Self::connect_with(url, PostgresConfig { retention: Some(RETENTION), ..PostgresConfig::default() })
            .await
    },
    async fn swallow_an_error(connection: &mut PgConnection) {
        let _ = sqlx::query("SELECT 1 / 0").execute(connection).await;
    }
);

torture_store!(
    SqliteStore,
    SqliteConnection,
    "torture.book-sqlite",
    &[
        Hold { name: "write lock held", statements: &["BEGIN IMMEDIATE"], secs_max: 3.0 },
        Hold { name: "snapshot held", statements: &["BEGIN", "SELECT count(*) FROM state"], secs_max: 15.0 },
    ],
    "UPDATE outbox_leader SET expires_at = expires_at + 1000 * $1",
    async fn open(url: &str) -> Result<Self, StoreError> {
        Self::open(url).await
    },
    async fn swallow_an_error(connection: &mut SqliteConnection) {
        let _ = sqlx::query(
            "INSERT OR ROLLBACK INTO state (key, version) SELECT key, version FROM state LIMIT 1",
        )
        .execute(connection)
        .await;
    }
);
