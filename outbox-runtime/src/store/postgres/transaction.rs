//! Transactions: begun with limits, committed only when proven.

use super::{
    PostgresStore,
    error::{during, is_no_transaction},
};
use crate::{
    lease::Fence,
    store::{HandlerToken, StoreError},
};
use sqlx::{Connection, PgConnection, Postgres, Transaction};
use std::time::Duration;

/// How long a connection that stands may take to say so.
const PING_MAX: Duration = Duration::from_secs(5);

/// The transaction that callers and handlers hold.
pub(super) type Tx = Transaction<'static, Postgres>;

pub(super) async fn begin(store: &PostgresStore) -> Result<Tx, StoreError> {
    store.pool().begin().await.map_err(during("begin a transaction"))
}

pub(super) async fn begin_handler(store: &PostgresStore, timeout: Duration) -> Result<Tx, StoreError> {
    let begin = store.sql().begin_handler(timeout);
    store.pool().begin_with(begin).await.map_err(during("begin a handler's transaction"))
}

/// Begins a short transaction of a leader and locks its fence to the end.
///
/// The lock is why a transaction of several statements is as good as one: a take-over waits for its end, so no
/// statement of it can run after one.
pub(super) async fn begin_fenced(store: &PostgresStore, fence: &Fence) -> Result<Tx, StoreError> {
    let begin = store.sql().begin_write.clone();
    let mut tx = store.pool().begin_with(begin).await.map_err(during("begin a leader's transaction"))?;
    lock_fence(store, &mut tx, fence).await?;
    Ok(tx)
}

/// Locks the fence to the end of the open transaction.
pub(super) async fn lock_fence(
    store: &PostgresStore,
    connection: &mut PgConnection,
    fence: &Fence,
) -> Result<(), StoreError> {
    let locked = sqlx::query(store.sql().lock_fence.clone())
        .bind(fence.lease().as_str())
        .bind(fence.owner.0)
        .bind(fence.epoch)
        .fetch_optional(connection)
        .await
        .map_err(during("lock the fence"))?;
    locked.map(|_| ()).ok_or_else(|| lost(fence))
}

/// See [`Store::await_writes`](crate::store::Store::await_writes).
pub(super) async fn await_writes(store: &PostgresStore, fence: &Fence) -> Result<(), StoreError> {
    let action = "wait for writes under way";
    let begin = store.sql().begin_write.clone();
    let mut tx = store.pool().begin_with(begin).await.map_err(during(action))?;
    let locked = sqlx::query(store.sql().lock_leader.clone())
        .bind(fence.lease().as_str())
        .bind(fence.owner.0)
        .bind(fence.epoch)
        .fetch_optional(&mut *tx)
        .await
        .map_err(during(action))?;
    commit_own(tx).await?;
    locked.map(|_| ()).ok_or_else(|| lost(fence))
}

/// The error of a leader whose fence does not hold.
pub(super) fn lost(fence: &Fence) -> StoreError {
    StoreError::LeaseLost { lease: fence.lease().to_string() }
}

/// Commits and proves it, in one round trip.
pub(super) async fn commit(store: &PostgresStore, mut tx: Tx) -> Result<(), StoreError> {
    let proof = sqlx::raw_sql(store.sql().prove_and_commit.clone()).execute(&mut *tx).await;
    match proof {
        // What is dropped here is the empty transaction that the chain began.
        Ok(_) => Ok(()),
        Err(error) if is_no_transaction(&error) => Err(StoreError::EndedEarly),
        Err(error) => Err(during("commit a transaction")(error)),
    }
}

/// Commits a transaction of ours, none of whose statements failed: nothing to prove.
pub(super) async fn commit_own(tx: Transaction<'_, Postgres>) -> Result<(), StoreError> {
    tx.commit().await.map_err(during("commit a transaction"))
}

/// See [`Store::commit_and_begin`](crate::store::Store::commit_and_begin).
pub(super) async fn commit_and_begin(
    store: &PostgresStore,
    mut tx: Tx,
    timeout: Duration,
) -> Result<Tx, StoreError> {
    let both = sqlx::raw_sql(store.sql().commit_and_begin(timeout)).execute(&mut *tx).await;
    both.map_err(during("commit a handler's transaction"))?;
    Ok(tx)
}

/// See [`Store::prove_handler`](crate::store::Store::prove_handler).
pub(super) async fn prove_handler(
    store: &PostgresStore,
    tx: &mut Tx,
    fence: &Fence,
    token: &HandlerToken,
) -> Result<(), StoreError> {
    let proof: Option<(bool, Option<String>)> = sqlx::query_as(store.sql().prove_handler.clone())
        .bind(fence.lease().as_str())
        .bind(fence.owner.0)
        .bind(fence.epoch)
        .bind(&token.0)
        .fetch_optional(&mut **tx)
        .await
        .map_err(during("prove a handler's transaction"))?;
    match proof {
        Some((true, _)) => Ok(()),
        Some((false, _)) => Err(StoreError::EndedEarly),
        None => Err(lost(fence)),
    }
}

/// See [`Store::is_connected`](crate::store::Store::is_connected).
pub(super) async fn is_connected(tx: &mut Tx) -> bool {
    matches!(tokio::time::timeout(PING_MAX, tx.ping()).await, Ok(Ok(())))
}

pub(super) async fn rollback(tx: Tx) {
    // An error means that the connection is gone, and the transaction with it.
    let _ = tx.rollback().await;
}
