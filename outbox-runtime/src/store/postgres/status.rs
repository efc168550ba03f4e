//! Where an event stands, and each stage in numbers.

use super::{PostgresStore, error::during};
use crate::{
    envelope::EventId,
    held::Stage,
    store::{EventState, StageStatus, StoreError},
};
use sqlx::Row;
use std::time::Duration;
use time::OffsetDateTime;

/// How far a producer's clock is believed at first. The log has no index of ids, but one of times.
const CLOCK_ERROR_MAX: Duration = Duration::from_secs(900);

/// The oldest and the newest time that the log takes.
const EVER: (OffsetDateTime, OffsetDateTime) =
    (OffsetDateTime::UNIX_EPOCH, time::macros::datetime!(9999-01-01 00:00 UTC));

pub(super) async fn state(store: &PostgresStore, id: EventId) -> Result<EventState, StoreError> {
    if let Some(made_at) = id.time() {
        let near =
            (made_at.checked_sub(time_of(CLOCK_ERROR_MAX)), made_at.checked_add(time_of(CLOCK_ERROR_MAX)));
        if let (Some(from), Some(to)) = near {
            let state = look(store, id, from, to).await?;
            if state != EventState::Unknown {
                return Ok(state);
            }
        }
    }
    look(store, id, EVER.0, EVER.1).await
}

fn time_of(span: Duration) -> time::Duration {
    time::Duration::seconds(span.as_secs().cast_signed())
}

async fn look(
    store: &PostgresStore,
    id: EventId,
    from: OffsetDateTime,
    to: OffsetDateTime,
) -> Result<EventState, StoreError> {
    let rows: Vec<(String, String)> = sqlx::query_as(store.sql().select_state.clone())
        .bind(id.0)
        .bind(from)
        .bind(to)
        .fetch_all(store.pool())
        .await
        .map_err(during("look where an event stands"))?;
    let stages = |wanted: &str| {
        let of = rows.iter().filter(|(place, _)| place == wanted);
        of.map(|(_, stage)| Stage::from_text(stage.clone())).collect::<Vec<_>>()
    };
    let has = |wanted: &str| rows.iter().any(|(place, _)| place == wanted);
    Ok(if has("dead") {
        EventState::Dead(stages("dead"))
    } else if has("held") {
        EventState::Held(stages("held"))
    } else if has("pending") {
        EventState::Pending
    } else if has("settled") {
        EventState::Settled
    } else if has("scheduled") {
        EventState::Scheduled
    } else {
        EventState::Unknown
    })
}

pub(super) async fn status(store: &PostgresStore) -> Result<Vec<StageStatus>, StoreError> {
    let during = || during("count what the stages hold");
    let rows =
        sqlx::query(store.sql().select_status.clone()).fetch_all(store.pool()).await.map_err(during())?;
    rows.iter()
        .map(|row| {
            let count = |column| row.try_get::<i64, _>(column).map(i64::cast_unsigned).map_err(during());
            Ok(StageStatus {
                stage: Stage::from_text(row.try_get("stage").map_err(during())?),
                lag: row.try_get::<Option<i64>, _>("lag").map_err(during())?.map(i64::cast_unsigned),
                held: count("held")?,
                waiting_keys: count("waiting_keys")?,
                parked_keys: count("parked_keys")?,
                dead_letters: count("dead_letters")?,
                led: row.try_get("led").map_err(during())?,
            })
        })
        .collect()
}
