//! SQLite as a store: one writer, so seq order is commit order and a plain cursor is exact.
//!
//! Every write begins with `BEGIN IMMEDIATE`: a deferred transaction that read first fails at once (code 517) when
//! another writes in between. Handlers run one at a time, each in one transaction with the progress of its stage.

mod dead_letter;
mod examine;
mod forget;
mod gate;
mod log;
mod migrate;
mod range;
mod record;
mod row;
mod scheduled;
mod statements;
mod store;
mod transaction;

pub use log::SqliteLog;

use crate::store::StoreError;
use gate::Gate;
use sqlx::{
    SqlitePool,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use statements::Statements;
use std::{str::FromStr, sync::Arc, time::Duration};

/// How long a writer waits for another one unless the pool says otherwise. Handlers must take less.
const BUSY_TIMEOUT: Duration = Duration::from_secs(45);

/// The events of one SQLite database. Cheap to clone.
#[derive(Debug, Clone)]
pub struct SqliteStore {
    pool: SqlitePool,
    statements: Arc<Statements>,
    gate: Arc<Gate>,
}

impl SqliteStore {
    /// Opens the database file of `url` (`sqlite://shop.db`), creating it if it is missing, with a write-ahead log that
    /// is synced at each commit, and creates or updates the tables.
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be opened, or its tables need a newer program.
    ///
    /// # Cancel safety
    /// If dropped, call it again.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        Self::open_with_prefix(url, "outbox_").await
    }

    /// As [`SqliteStore::open`], with `prefix` before the name of each table.
    ///
    /// # Errors
    /// As [`SqliteStore::open`].
    ///
    /// # Cancel safety
    /// If dropped, call it again.
    pub async fn open_with_prefix(url: &str, prefix: &str) -> Result<Self, StoreError> {
        let options = SqliteConnectOptions::from_str(url)
            .map_err(row::database("read the database url"))?
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            // Below FULL a power cut may take back a commit whose event was published already.
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(BUSY_TIMEOUT)
            .foreign_keys(true);
        let pool = SqlitePoolOptions::new()
            .max_connections(8)
            .connect_with(options)
            .await
            .map_err(row::database("open the database"))?;
        Self::with_pool(pool, prefix).await
    }

    /// Uses the application's pool and puts `prefix` before the name of each table. The pool should use a write-ahead
    /// log, a busy timeout above the longest handler, and have a connection for each consumer and one more.
    ///
    /// # Errors
    /// As [`SqliteStore::open`].
    ///
    /// # Cancel safety
    /// If dropped, call it again.
    pub async fn with_pool(pool: SqlitePool, prefix: &str) -> Result<Self, StoreError> {
        let store = Self { pool, statements: Arc::new(Statements::new(prefix)), gate: Arc::default() };
        migrate::migrate(&store).await?;
        Ok(store)
    }

    /// The pool.
    #[must_use]
    pub fn pool(&self) -> &SqlitePool {
        &self.pool
    }
}
