//! Retention of the log by its ring, of the inbox by its window, and of progress that was replaced.
//!
//! A leaf is cleared only under its lock, after a look that sees every row of it: its newest row is past retention and
//! every stage has settled it, holes included. One that could not be locked in a moment is tried again in the next round;
//! meanwhile it takes rows of the next round of the ring. Disk waits, nothing fails.

use super::{
    PostgresStore,
    error::{during, is_lock_timeout},
    transaction::commit_own,
};
use crate::store::{Retention, StoreError};
use sqlx::PgConnection;

/// The most rows that one statement deletes.
const ROWS_MAX: i64 = 10_000;

/// One step; `true` when there is more to do at once. Safe to run several times at once.
pub(super) async fn sweep(store: &PostgresStore, retention: &Retention) -> Result<bool, StoreError> {
    let mut connection = store.pool().acquire().await.map_err(during("sweep the tables"))?;
    let leaves = old_leaves(store, &mut connection, retention).await?;
    drop(connection);
    if let Some(leaf) = leaves.first()
        && clear(store, leaf.slot, retention).await?
    {
        return Ok(true);
    }
    let inbox = sqlx::query(store.sql().delete_inbox.clone())
        .bind(retention.inbox.as_secs_f64())
        .bind(ROWS_MAX)
        .execute(store.pool())
        .await
        .map_err(during("forget handled events past the window"))?;
    let progress = sqlx::query(store.sql().delete_progress.clone())
        .bind(ROWS_MAX)
        .execute(store.pool())
        .await
        .map_err(during("forget replaced progress"))?;
    Ok([inbox, progress].iter().any(|done| done.rows_affected().cast_signed() == ROWS_MAX))
}

/// A leaf past retention.
struct Leaf {
    slot: i16,
    is_settled: bool,
}

async fn old_leaves(
    store: &PostgresStore,
    connection: &mut PgConnection,
    retention: &Retention,
) -> Result<Vec<Leaf>, StoreError> {
    let leaves: Vec<(i16, bool)> = sqlx::query_as(store.sql().select_old_leaves.clone())
        .bind(retention.log.as_secs_f64())
        .bind(retention.wait_max.as_secs_f64())
        .fetch_all(connection)
        .await
        .map_err(during("look for events past retention"))?;
    Ok(leaves.into_iter().map(|(slot, is_settled)| Leaf { slot, is_settled }).collect())
}

/// Clears one leaf; `false` when it is in use, or not past retention any more.
async fn clear(store: &PostgresStore, slot: i16, retention: &Retention) -> Result<bool, StoreError> {
    let action = "remove events past retention";
    let begin = store.sql().begin_clearing.clone();
    let mut tx = store.pool().begin_with(begin).await.map_err(during(action))?;
    match sqlx::query(store.sql().on_leaf(include_str!("sql/lock_leaf.sql"), slot)).execute(&mut *tx).await {
        Ok(_) => {}
        Err(error) if is_lock_timeout(&error) => return Ok(false),
        Err(error) => return Err(during(action)(error)),
    }
    let leaves = old_leaves(store, &mut tx, retention).await?;
    let Some(leaf) = leaves.iter().find(|leaf| leaf.slot == slot) else { return Ok(false) };
    let missed: Vec<(String, i64)> = if leaf.is_settled {
        Vec::new()
    } else {
        sqlx::query_as(store.sql().on_leaf(include_str!("sql/count_missed.sql"), slot))
            .fetch_all(&mut *tx)
            .await
            .map_err(during("count the events that a stage misses"))?
    };
    sqlx::query(store.sql().on_leaf(include_str!("sql/truncate_leaf.sql"), slot))
        .execute(&mut *tx)
        .await
        .map_err(during(action))?;
    commit_own(tx).await?;
    if !leaf.is_settled && missed.is_empty() {
        tracing::error!("events past retention were removed though no stage has ever read them");
    }
    for (stage, count) in missed {
        tracing::error!(
            stage,
            count,
            "events past retention were removed though a stage had not settled them"
        );
    }
    Ok(true)
}
