//! Retention of the log by its ring, of the inbox by its window, of dead letters by their age, and of progress that was
//! replaced.
//!
//! A leaf is cleared when its newest row is past retention and every stage has settled it, holes included. Both stay true,
//! so it is decided without a lock; under the lock, which waits for all who wrote to the leaf, one look tells whether that
//! row is still the newest. The lock is what others wait for: it is tried for a moment, at most once a second, and held for
//! that look and the truncation alone. A leaf that somebody keeps in use takes rows of the next round of the ring. Disk
//! waits, nothing fails.

use super::{
    PostgresStore,
    error::{during, is_lock_timeout},
    transaction::commit_own,
};
use crate::{
    store::{Retention, StoreError},
    telemetry::{self, Outcome},
};
use sqlx::SqlStr;
use std::time::Duration;

/// The most rows that one statement works on.
const ROWS_MAX: i64 = 10_000;

/// The most rows that are counted of those which a stage misses.
const MISSED_MAX: i64 = 1_000_000;

/// The longest pause while there is nothing to do, and the part of a leaf's time after which it is looked at again.
const PAUSE_MAX: Duration = Duration::from_secs(30);
const LOOKS_PER_LEAF: u32 = 8;

/// The pause after a leaf could not be locked.
const LOCKED_PAUSE: Duration = Duration::from_secs(1);

/// One step; gives how long nothing is to be done. Safe to run several times at once.
pub(super) async fn sweep(store: &PostgresStore, retention: &Retention) -> Result<Duration, StoreError> {
    let (slot_secs, leaf) = old_leaf(store, retention).await?;
    let mut pause = (Duration::from_secs(slot_secs) / LOOKS_PER_LEAF).min(PAUSE_MAX);
    if let Some(leaf) = leaf {
        if clear(store, &leaf).await? {
            return Ok(Duration::ZERO);
        }
        pause = pause.min(LOCKED_PAUSE);
    }
    let inbox = page(store, &store.sql().delete_inbox, Some(retention.inbox)).await?;
    let progress = page(store, &store.sql().delete_progress, None).await?;
    let dead_letters = page(store, &store.sql().expire_dead_letters, Some(retention.dead_letters)).await?;
    if dead_letters > 0 {
        tracing::warn!(count = dead_letters, "dead letters past retention are discarded");
    }
    let audit = page(store, &store.sql().delete_audit, Some(retention.audit)).await?;
    let replays = page(store, &store.sql().delete_replays, Some(retention.audit)).await?;
    let is_full = [inbox, progress, dead_letters, audit, replays].contains(&ROWS_MAX.unsigned_abs());
    Ok(if is_full { Duration::ZERO } else { pause })
}

/// Works on a page of rows, those above an age if there is one; gives how many there were.
async fn page(store: &PostgresStore, statement: &SqlStr, age: Option<Duration>) -> Result<u64, StoreError> {
    let query = sqlx::query(statement.clone());
    let query = match age {
        Some(age) => query.bind(age.as_secs_f64()),
        None => query,
    };
    let done =
        query.bind(ROWS_MAX).execute(store.pool()).await.map_err(during("remove rows past retention"))?;
    Ok(done.rows_affected())
}

/// A leaf past retention.
struct Leaf {
    slot: i16,
    newest_seq: i64,
    is_settled: bool,
}

/// How long one leaf takes rows, and one that may be cleared.
async fn old_leaf(store: &PostgresStore, retention: &Retention) -> Result<(u64, Option<Leaf>), StoreError> {
    let (slot_secs, slot, newest_seq, is_settled): (i64, Option<i16>, Option<i64>, Option<bool>) =
        sqlx::query_as(store.sql().select_old_leaf.clone())
            .bind(retention.log.as_secs_f64())
            .bind(retention.wait_max.as_secs_f64())
            .fetch_one(store.pool())
            .await
            .map_err(during("look for events past retention"))?;
    let leaf = match (slot, newest_seq, is_settled) {
        (Some(slot), Some(newest_seq), Some(is_settled)) => Some(Leaf { slot, newest_seq, is_settled }),
        _ => None,
    };
    Ok((slot_secs.unsigned_abs(), leaf))
}

/// Clears one leaf; `false` when it is in use, or has got newer rows.
async fn clear(store: &PostgresStore, leaf: &Leaf) -> Result<bool, StoreError> {
    let action = "remove events past retention";
    let missed = if leaf.is_settled { Vec::new() } else { count_missed(store, leaf).await? };
    let begin = store.sql().begin_clearing.clone();
    let mut tx = store.pool().begin_with(begin).await.map_err(during(action))?;
    let on_leaf = |text| store.sql().on_leaf(text, leaf.slot);
    match sqlx::query(on_leaf(include_str!("sql/lock_leaf.sql"))).execute(&mut *tx).await {
        Ok(_) => {}
        Err(error) if is_lock_timeout(&error) => return Ok(false),
        Err(error) => return Err(during(action)(error)),
    }
    let newest: Option<i64> = sqlx::query_scalar(on_leaf(include_str!("sql/select_newest_in_leaf.sql")))
        .fetch_optional(&mut *tx)
        .await
        .map_err(during(action))?;
    if newest != Some(leaf.newest_seq) {
        return Ok(false);
    }
    sqlx::query(on_leaf(include_str!("sql/truncate_leaf.sql")))
        .execute(&mut *tx)
        .await
        .map_err(during(action))?;
    commit_own(tx).await?;
    tell_missed(leaf, &missed);
    Ok(true)
}

/// How many events each stage misses. Before the lock, since it may take long.
async fn count_missed(store: &PostgresStore, leaf: &Leaf) -> Result<Vec<(String, i64)>, StoreError> {
    sqlx::query_as(store.sql().on_leaf(include_str!("sql/count_missed.sql"), leaf.slot))
        .bind(MISSED_MAX)
        .fetch_all(store.pool())
        .await
        .map_err(during("count the events that a stage misses"))
}

fn tell_missed(leaf: &Leaf, missed: &[(String, i64)]) {
    if !leaf.is_settled && missed.is_empty() {
        tracing::error!("events past retention were removed though no stage has ever read them");
    }
    for (stage, count) in missed {
        let is_all = *count < MISSED_MAX;
        telemetry::count_events(stage, Outcome::Missed, count.unsigned_abs());
        tracing::error!(
            stage,
            count,
            is_all,
            "events past retention were removed though a stage had not settled them"
        );
    }
}
