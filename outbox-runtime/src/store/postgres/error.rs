//! What a PostgreSQL error means to the caller: whether trying again helps, and which ones have a name of their own.

use super::PostgresStore;
use crate::store::StoreError;

/// The transaction is aborted: an earlier error was swallowed.
const IN_FAILED_TRANSACTION: &str = "25P02";
/// COMMIT AND CHAIN outside of a transaction.
const NO_ACTIVE_TRANSACTION: &str = "25P01";
/// A lock was not had in time.
const LOCK_NOT_AVAILABLE: &str = "55P03";
/// A table or a schema is missing.
const UNDEFINED: [&str; 2] = ["42P01", "3F000"];
/// A new name is taken by another table.
const DUPLICATE_TABLE: &str = "42P07";

/// Errors that pass by themselves, by SQLSTATE or its class: a lost connection, a conflict of transactions, a lack of
/// connections or memory, a lock or idle time-out, an operator's stop or cancel, a standby that is not yet promoted,
/// and an I/O error of the server.
const TRANSIENT: [&str; 10] =
    ["08", "40", "53", "57", "58", "25P03", "25006", LOCK_NOT_AVAILABLE, "55006", NO_ACTIVE_TRANSACTION];

/// Adapts a driver's error for `map_err`; `action` completes "the database failed while it was to …".
pub(super) fn during(action: &'static str) -> impl Fn(sqlx::Error) -> StoreError {
    move |error| name(action, error)
}

fn name(action: &'static str, error: sqlx::Error) -> StoreError {
    let code = error.as_database_error().and_then(|error| error.code()).unwrap_or_default();
    match &*code {
        IN_FAILED_TRANSACTION => StoreError::Aborted { source: Some(Box::new(error)) },
        code if UNDEFINED.contains(&code) => StoreError::Schema {
            problem: format!("a table of the outbox is missing ({error})"),
            fix: "run `outbox migrate` under the role that owns the tables, and compare schema and prefix"
                .into(),
        },
        DUPLICATE_TABLE => StoreError::Schema {
            problem: format!("a name that the outbox needs is taken ({error})"),
            fix: "set another schema or prefix".into(),
        },
        code => {
            StoreError::Database { action, transient: is_transient(&error, code), source: Box::new(error) }
        }
    }
}

fn is_transient(error: &sqlx::Error, code: &str) -> bool {
    match error {
        sqlx::Error::Database(_) => TRANSIENT.iter().any(|prefix| code.starts_with(prefix)),
        // A connection that got out of step is closed, and the next one starts afresh.
        sqlx::Error::Io(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::WorkerCrashed
        | sqlx::Error::BeginFailed => true,
        _ => false,
    }
}

/// Whether the wait for a lock was given up.
pub(super) fn is_lock_timeout(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(|error| error.code()).is_some_and(|code| code == LOCK_NOT_AVAILABLE)
}

/// Whether an error of ours is that a lock was not had in time.
pub(super) fn waited_for_lock(error: &StoreError) -> bool {
    let StoreError::Database { source, .. } = error else { return false };
    source.downcast_ref().is_some_and(is_lock_timeout)
}

/// Whether the transaction had ended before it was to be committed.
pub(super) fn is_no_transaction(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(|error| error.code()).is_some_and(|code| code == NO_ACTIVE_TRANSACTION)
}

/// Waits for `work` no longer than the longest statement may take: a connection that answers nothing is given up.
pub(super) async fn within<T>(
    store: &PostgresStore,
    action: &'static str,
    work: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    match tokio::time::timeout(store.config().statement_max, work).await {
        Ok(outcome) => outcome,
        Err(elapsed) => Err(StoreError::Database { action, transient: true, source: Box::new(elapsed) }),
    }
}
