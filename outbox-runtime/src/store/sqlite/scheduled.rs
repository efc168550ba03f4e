//! Events that wait for their time: written and taken back by producers, moved into the log by the leader of upkeep.

use super::{
    SqliteStore,
    row::{bind_event, database, foreign_envelope, millis},
    transaction::{self, check_fence},
};
use crate::{
    envelope::EventId,
    lease::Fence,
    scheduled::{Cancellation, NewScheduled, Scheduled, ScheduledFilter},
    store::StoreError,
};
use sqlx::SqliteConnection;
use std::time::Duration;

pub(super) async fn schedule(
    store: &SqliteStore,
    connection: &mut SqliteConnection,
    events: &[NewScheduled],
) -> Result<(), StoreError> {
    for NewScheduled { due, event } in events {
        bind_event(sqlx::query(store.statements.insert_scheduled.clone()), event)
            .bind(millis(*due))
            .execute(&mut *connection)
            .await
            .map_err(database("schedule an event"))?;
    }
    Ok(())
}

pub(super) async fn cancel(
    store: &SqliteStore,
    connection: &mut SqliteConnection,
    id: EventId,
) -> Result<Cancellation, StoreError> {
    let action = "cancel a scheduled event";
    let done = sqlx::query(store.statements.delete_scheduled.clone())
        .bind(id.to_string())
        .execute(&mut *connection)
        .await
        .map_err(database(action))?;
    if done.rows_affected() > 0 {
        return Ok(Cancellation::Cancelled);
    }
    // The time inside the id is when it was due.
    let is_due = sqlx::query_scalar(store.statements.is_due.clone())
        .bind(id.to_string())
        .bind(id.time().map(millis))
        .fetch_one(connection)
        .await
        .map_err(database(action))?;
    Ok(if is_due { Cancellation::TooLate } else { Cancellation::Unknown })
}

pub(super) async fn list(
    store: &SqliteStore,
    filter: &ScheduledFilter,
    max: u32,
) -> Result<Vec<Scheduled>, StoreError> {
    let rows = sqlx::query(store.statements.select_scheduled.clone())
        .bind(filter.event_type.clone())
        .bind(filter.key.clone())
        .bind(filter.until.map(millis))
        .bind(filter.after.map(|(due, _)| millis(due)))
        .bind(filter.after.map(|(_, number)| number))
        .bind(i64::from(max))
        .fetch_all(&store.pool)
        .await
        .map_err(database("read scheduled events"))?;
    rows.iter().map(|row| foreign_envelope(row).map(Scheduled::from_row)).collect()
}

pub(super) async fn due_in(store: &SqliteStore) -> Result<Option<Duration>, StoreError> {
    let millis: Option<i64> = sqlx::query_scalar(store.statements.select_due_in.clone())
        .fetch_optional(&store.pool)
        .await
        .map_err(database("look when an event is due"))?;
    Ok(millis.map(|millis| Duration::from_millis(millis.unsigned_abs())))
}

pub(super) async fn move_due(store: &SqliteStore, fence: &Fence, max: u32) -> Result<u32, StoreError> {
    let action = "move events that are due into the log";
    let mut tx = transaction::begin(store).await?;
    check_fence(store, &mut tx, fence).await?;
    let last: Option<(i64, i64)> = sqlx::query_as(store.statements.select_last_due.clone())
        .bind(i64::from(max))
        .fetch_optional(&mut *tx)
        .await
        .map_err(database(action))?;
    let Some((due_at, number)) = last else { return Ok(0) };
    let move_by = async |tx: &mut SqliteConnection, statement: &sqlx::SqlStr| {
        let done = sqlx::query(statement.clone()).bind(due_at).bind(number).execute(tx).await;
        done.map(|done| done.rows_affected()).map_err(database(action))
    };
    let written = move_by(&mut tx, &store.statements.insert_due).await?;
    let moved = move_by(&mut tx, &store.statements.delete_due).await?;
    tx.commit().await.map_err(database(action))?;
    if written < moved {
        tracing::error!(
            count = moved - written,
            "scheduled events were dropped whose ids were in the log already"
        );
    }
    Ok(u32::try_from(moved).unwrap_or(u32::MAX))
}
