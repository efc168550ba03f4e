//! Transactions: begun with the write lock, ended with a proof.

use super::{SqliteStore, row::database};
use crate::{
    lease::Fence,
    store::{Claim, Claimed, HandlerToken, StoreError},
};
use sqlx::{Connection, Sqlite, SqliteConnection, Transaction};

pub(super) type SqliteTx = Transaction<'static, Sqlite>;

/// Takes the write lock.
///
/// An error such as a full disk ends a transaction inside SQLite, and so may a handler. The driver does not notice: it
/// believes the connection in a transaction for ever and refuses to begin another. Such a connection is closed here.
pub(super) async fn begin(store: &SqliteStore) -> Result<SqliteTx, StoreError> {
    let _turn = store.gate.turn().await;
    begin_at_turn(store).await
}

/// As [`begin`], ahead of all that keep no leases.
pub(super) async fn begin_urgent(store: &SqliteStore) -> Result<SqliteTx, StoreError> {
    let _turn = store.gate.urgent_turn().await;
    begin_at_turn(store).await
}

async fn begin_at_turn(store: &SqliteStore) -> Result<SqliteTx, StoreError> {
    let mut tries_left = store.pool.size();
    loop {
        match store.pool.begin_with(store.statements.begin_immediate.clone()).await {
            Err(sqlx::Error::InvalidSavePointStatement) if tries_left > 0 => {
                tries_left -= 1;
                let mut idle = store.pool.acquire().await.map_err(database("begin a transaction"))?;
                if idle.is_in_transaction() {
                    idle.close_on_drop();
                }
            }
            begun => return begun.map_err(database("begin a transaction")),
        }
    }
}

/// Rolls back; see [`begin`] for why a transaction is begun first.
pub(super) async fn rollback(store: &SqliteStore, mut tx: SqliteTx) {
    // Fails where the transaction still stands; where it does not, the driver's rollback needs one.
    let _ = sqlx::query(store.statements.begin_immediate.clone()).execute(&mut *tx).await;
    if let Err(error) = tx.rollback().await {
        tracing::debug!(error = &error as &dyn std::error::Error, "a rollback failed; nothing was kept");
    }
}

/// Fails unless the fence holds. The caller has the write lock, so it holds until the commit.
pub(super) async fn check_fence(
    store: &SqliteStore,
    connection: &mut SqliteConnection,
    fence: &Fence,
) -> Result<(), StoreError> {
    let lease = fence.lease();
    let row = sqlx::query(store.statements.select_fence.clone())
        .bind(lease.as_str())
        .bind(fence.owner.0.to_string())
        .bind(fence.epoch)
        .fetch_optional(connection)
        .await
        .map_err(database("check a lease"))?;
    match row {
        Some(_) => Ok(()),
        None => Err(StoreError::LeaseLost { lease: lease.as_str().to_owned() }),
    }
}

/// See [`Store::claim`](crate::store::Store::claim).
pub(super) async fn claim(
    store: &SqliteStore,
    tx: &mut SqliteTx,
    fence: &Fence,
    claim: &Claim<'_>,
) -> Result<Claimed, StoreError> {
    let statements = &store.statements;
    let envelope = claim.envelope;
    if !claim.from_held {
        let lane = crate::held::Lane::of(envelope);
        let lanes = super::row::json_array(&[lane.as_str().to_owned()]);
        let waits = sqlx::query(statements.select_waiting.clone())
            .bind(fence.stage.as_str())
            .bind(lanes)
            .fetch_optional(&mut **tx)
            .await
            .map_err(database("look whether a key waits"))?;
        if waits.is_some() {
            return Ok(Claimed::LaneWaits);
        }
    }
    let entered = sqlx::query(statements.insert_inbox.clone())
        .bind(fence.stage.as_str())
        .bind(&envelope.source)
        .bind(envelope.id.to_string())
        .bind(claim.from_held)
        .bind(claim.twin().map(|id| id.to_string()))
        .fetch_all(&mut **tx)
        .await
        .map_err(database("enter an event in the inbox"))?;
    if entered.len() < 1 + usize::from(claim.twin().is_some()) {
        return Ok(Claimed::Duplicate);
    }
    if !claim.from_held && is_older(store, tx, claim).await? {
        return Ok(Claimed::OlderThanWindow);
    }
    sqlx::query(statements.open_savepoint.clone())
        .execute(&mut **tx)
        .await
        .map_err(database("open the handler's savepoint"))?;
    Ok(Claimed::Fresh(HandlerToken(String::new())))
}

async fn is_older(store: &SqliteStore, tx: &mut SqliteTx, claim: &Claim<'_>) -> Result<bool, StoreError> {
    sqlx::query_scalar(store.statements.is_older.clone())
        .bind(super::row::millis(claim.envelope.occurred_at))
        .bind(i64::try_from(claim.window.as_millis()).unwrap_or(i64::MAX))
        .fetch_one(&mut **tx)
        .await
        .map_err(database("compare an event's age with the inbox window"))
}

/// See [`Store::prove_handler`](crate::store::Store::prove_handler).
pub(super) async fn prove_handler(
    store: &SqliteStore,
    tx: &mut SqliteTx,
    fence: &Fence,
) -> Result<(), StoreError> {
    // The savepoint is gone when the handler ended the transaction, or when an error that it swallowed did.
    if sqlx::query(store.statements.release_savepoint.clone()).execute(&mut **tx).await.is_err() {
        return Err(StoreError::EndedEarly);
    }
    check_fence(store, tx, fence).await
}
