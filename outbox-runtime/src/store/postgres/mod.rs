//! PostgreSQL as a store: an append-only log, read by a cursor that knows its gaps.
//!
//! Numbers are taken before commits, so a lower one may become visible after a higher one was read. The cursor keeps
//! such numbers as holes until it is proven that nothing comes any more; see [`PostgresLog`].
//!
//! Every write of a leader is fenced: it locks the epoch row of its lease first, and a take-over changes that row.
//!
//! A process that relays or consumes needs sessions of its own (settings, LISTEN): it connects to the server itself, or to a
//! pooler in session mode. A process that only enqueues may use a pooler in transaction mode.

mod config;
mod cursor;
mod dead_letter;
mod debezium;
mod error;
mod examine;
mod forget;
mod grant;
mod inbox;
mod insert;
mod lease;
mod migrate;
mod notify;
mod precondition;
mod progress;
mod range;
mod record;
mod repair;
mod row;
mod scheduled;
mod statements;
mod status;
mod store;
mod sweep;
mod transaction;

pub use config::PostgresConfig;
pub use cursor::{PostgresLog, PostgresSession};
pub use debezium::{Debezium, DebeziumConfig};
pub use grant::Role;
pub use repair::Repaired;

use crate::{pause::Pauses, store::StoreError};
use error::during;
use notify::Listener;
use sqlx::{
    Connection, PgConnection, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use statements::Statements;
use std::{str::FromStr, sync::Arc};
use tokio::time::{Instant, sleep, timeout};

/// The connections of a pool that the store makes itself.
const CONNECTIONS_MAX: u32 = 16;

/// The connections for leases: one may wait for a leader that is being replaced.
const LEASE_CONNECTIONS_MAX: u32 = 2;

/// The events of one PostgreSQL database. Cheap to clone.
#[derive(Debug, Clone)]
pub struct PostgresStore {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    pool: PgPool,
    /// For leases alone: where many handlers wait for a connection of the pool, a lease would run out in that queue.
    lease_pool: PgPool,
    config: PostgresConfig,
    sql: Statements,
    listener: Listener,
}

impl PostgresStore {
    /// Connects to the database of `url` (`postgres://user@host/database`) with at most 16 connections. A server that
    /// cannot be reached is waited for, 30 seconds at most.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be reached.
    ///
    /// # Cancel safety
    /// If dropped, call it again.
    pub async fn connect(url: &str) -> Result<Self, StoreError> {
        Self::connect_with(url, PostgresConfig::default()).await
    }

    /// As [`PostgresStore::connect`], with another configuration.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be reached, or the schema or the prefix cannot be names.
    ///
    /// # Cancel safety
    /// If dropped, call it again.
    pub async fn connect_with(url: &str, config: PostgresConfig) -> Result<Self, StoreError> {
        let options = PgConnectOptions::from_str(url).map_err(during("read the database url"))?;
        reach(&options, &config).await?;
        Self::with_pool(
            PgPoolOptions::new().max_connections(CONNECTIONS_MAX).connect_lazy_with(options),
            config,
        )
    }

    /// Uses the application's pool. Besides it, each open log has a connection of its own, the listener has one, and
    /// leases have two.
    ///
    /// # Errors
    /// [`StoreError::Schema`] when the schema or the prefix cannot be names.
    pub fn with_pool(pool: PgPool, config: PostgresConfig) -> Result<Self, StoreError> {
        config.check()?;
        let sql = Statements::new(&config);
        let listener = Listener::new(config.channel());
        let lease_pool = pool
            .options()
            .clone()
            .min_connections(0)
            .max_connections(LEASE_CONNECTIONS_MAX)
            .connect_lazy_with((*pool.connect_options()).clone());
        Ok(Self { inner: Arc::new(Inner { pool, lease_pool, config, sql, listener }) })
    }

    /// The pool.
    #[must_use]
    pub fn pool(&self) -> &PgPool {
        &self.inner.pool
    }

    /// The name and the text of every statement, for tests that prepare them.
    #[doc(hidden)]
    #[must_use]
    pub fn statement_texts(&self) -> Vec<(&'static str, String)> {
        self.sql().texts()
    }

    fn lease_pool(&self) -> &PgPool {
        &self.inner.lease_pool
    }

    fn config(&self) -> &PostgresConfig {
        &self.inner.config
    }

    fn sql(&self) -> &Statements {
        &self.inner.sql
    }

    fn listener(&self) -> &Listener {
        &self.inner.listener
    }
}

/// Makes a first connection, as often as patience allows, and closes it.
///
/// A pool waits for a server that refuses connections too, but then says only that it waited; this error says why.
async fn reach(options: &PgConnectOptions, config: &PostgresConfig) -> Result<(), StoreError> {
    const ACTION: &str = "connect to the database";
    let deadline = Instant::now() + config.patience;
    let mut pauses = Pauses::default();
    loop {
        let once = async { PgConnection::connect_with(options).await?.close().await };
        let reached = match timeout(config.statement_max, once).await {
            Ok(reached) => reached.map_err(during(ACTION)),
            Err(elapsed) => {
                Err(StoreError::Database { action: ACTION, transient: true, source: Box::new(elapsed) })
            }
        };
        match reached {
            Err(error) if error.is_transient() && Instant::now() < deadline => {
                let left = deadline.saturating_duration_since(Instant::now());
                sleep(pauses.next().min(left)).await;
            }
            reached => return reached,
        }
    }
}
