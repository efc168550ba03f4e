//! Events that wait for their time: written and taken back by producers, moved into the log by the leader of upkeep.

use super::{
    PostgresStore,
    error::during,
    row::{EventColumns, envelope_at},
};
use crate::{
    envelope::{EventId, Seq},
    lease::Fence,
    scheduled::{Cancellation, NewScheduled, Scheduled, ScheduledFilter},
    store::StoreError,
};
use sqlx::{PgConnection, Row};
use std::time::Duration;
use time::OffsetDateTime;

pub(super) async fn schedule(
    store: &PostgresStore,
    connection: &mut PgConnection,
    events: &[NewScheduled],
) -> Result<(), StoreError> {
    let due: Vec<OffsetDateTime> = events.iter().map(|scheduled| scheduled.due).collect();
    EventColumns::of(events.iter().map(|scheduled| &scheduled.event))
        .bind(sqlx::query(store.sql().insert_scheduled.clone()))
        .bind(due)
        .execute(connection)
        .await
        .map_err(during("schedule an event"))?;
    Ok(())
}

pub(super) async fn cancel(
    store: &PostgresStore,
    connection: &mut PgConnection,
    id: EventId,
) -> Result<Cancellation, StoreError> {
    let (found, is_past): (String, Option<bool>) = sqlx::query_as(store.sql().cancel_scheduled.clone())
        .bind(id.0)
        .bind(id.time())
        .fetch_one(connection)
        .await
        .map_err(during("cancel a scheduled event"))?;
    Ok(match found.as_str() {
        "cancelled" => Cancellation::Cancelled,
        "due" => Cancellation::TooLate,
        // The time inside the id is when it was due.
        _ if is_past == Some(true) => Cancellation::TooLate,
        _ => Cancellation::Unknown,
    })
}

pub(super) async fn list(
    store: &PostgresStore,
    filter: &ScheduledFilter,
    max: u32,
) -> Result<Vec<Scheduled>, StoreError> {
    let action = "read scheduled events";
    let rows = sqlx::query(store.sql().select_scheduled.clone())
        .bind(filter.event_type.as_deref())
        .bind(filter.key.as_deref())
        .bind(filter.until)
        .bind(filter.after.map(|(due, _)| due))
        .bind(filter.after.map(|(_, number)| number))
        .bind(i64::from(max))
        .fetch_all(store.pool())
        .await
        .map_err(during(action))?;
    rows.iter()
        .map(|row| {
            let number = Seq(row.try_get("number").map_err(during(action))?);
            let envelope = envelope_at(row, number, 1)?.expect("a scheduled event has a time");
            Ok(Scheduled::from_row(envelope))
        })
        .collect()
}

pub(super) async fn due_in(store: &PostgresStore) -> Result<Option<Duration>, StoreError> {
    let secs: Option<f64> = sqlx::query_scalar(store.sql().select_due_in.clone())
        .fetch_optional(store.pool())
        .await
        .map_err(during("look when an event is due"))?;
    Ok(secs.map(|secs| Duration::try_from_secs_f64(secs).unwrap_or(Duration::ZERO)))
}

pub(super) async fn move_due(store: &PostgresStore, fence: &Fence, max: u32) -> Result<u32, StoreError> {
    let moved = sqlx::query(store.sql().move_scheduled.clone())
        .bind(fence.lease().as_str())
        .bind(fence.owner.0)
        .bind(fence.epoch)
        .bind(i64::from(max))
        .execute(store.pool())
        .await
        .map_err(during("move events that are due into the log"))?;
    Ok(u32::try_from(moved.rows_affected()).unwrap_or(u32::MAX))
}

pub(super) async fn may_keep(store: &PostgresStore) -> Result<bool, StoreError> {
    sqlx::query_scalar(store.sql().may_keep.clone())
        .fetch_one(store.pool())
        .await
        .map_err(during("look whether this role may keep the tables small"))
}
