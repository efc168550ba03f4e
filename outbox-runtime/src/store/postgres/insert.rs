//! Writes events in the caller's transaction, and says how other drivers write them.

use super::{PostgresStore, error::during, row};
use crate::{
    envelope::NewEvent,
    held::Lane,
    store::{Statement, StatementValue, StoreError},
};
use sqlx::PgConnection;
use std::collections::BTreeSet;

/// Locks the lanes, one after the other, to the end of the caller's transaction.
pub(super) async fn lock_lanes(
    store: &PostgresStore,
    connection: &mut PgConnection,
    lanes: &BTreeSet<Lane>,
) -> Result<(), StoreError> {
    let lanes: Vec<&str> = lanes.iter().map(Lane::as_str).collect();
    sqlx::query(store.sql().lock_writers.clone())
        .bind(lanes)
        .execute(connection)
        .await
        .map_err(during("lock the key of an event"))?;
    Ok(())
}

/// Writes the events in the order given; one of them by the statement without arrays, which is cheaper.
pub(super) async fn insert(
    store: &PostgresStore,
    connection: &mut PgConnection,
    events: &[NewEvent],
) -> Result<(), StoreError> {
    let query = match events {
        [] => return Ok(()),
        [event] => bind_event(sqlx::query(store.sql().insert_event.clone()), event),
        _ => row::EventColumns::of(events).bind(sqlx::query(store.sql().insert_events.clone())),
    };
    query.execute(connection).await.map_err(during("write an event"))?;
    Ok(())
}

fn bind_event<'q>(query: row::PgQuery<'q>, event: &'q NewEvent) -> row::PgQuery<'q> {
    query
        .bind(event.id.0)
        .bind(&event.topic)
        .bind(event.key.as_deref())
        .bind(&event.event_type)
        .bind(event.event_version.cast_signed())
        .bind(&event.payload)
        .bind(&event.source)
        .bind(&event.dataschema)
        .bind(row::headers_text(&event.headers))
        .bind(event.traceparent.as_deref())
        .bind(event.tracestate.as_deref())
        .bind(event.twin.map(|twin| twin.id.0))
        .bind(event.twin.map(|twin| twin.version.cast_signed()))
        .bind(event.on_poison.as_str())
}

/// The statement for one event or for a pair.
pub(super) fn statement(store: &PostgresStore, event: &NewEvent, twin: Option<&NewEvent>) -> Statement {
    let sql = if twin.is_some() { &store.sql().insert_pair } else { &store.sql().insert_event };
    let values = std::iter::once(event).chain(twin).flat_map(values);
    Statement { sql: sql.as_str().to_owned(), values: values.collect() }
}

/// The values of one event, in the order of [`bind_event`].
fn values(event: &NewEvent) -> [StatementValue; 14] {
    let text = |text: &str| StatementValue::Text(Some(text.to_owned()));
    let maybe_text = |text: Option<&str>| StatementValue::Text(text.map(str::to_owned));
    let twin_id = event.twin.map(|twin| twin.id.0);
    [
        StatementValue::Uuid(Some(event.id.0)),
        text(&event.topic),
        maybe_text(event.key.as_deref()),
        text(&event.event_type),
        StatementValue::Integer(Some(event.event_version.cast_signed())),
        text(&event.payload),
        text(&event.source),
        text(&event.dataschema),
        maybe_text(row::headers_text(&event.headers).as_deref()),
        maybe_text(event.traceparent.as_deref()),
        maybe_text(event.tracestate.as_deref()),
        StatementValue::Uuid(twin_id),
        StatementValue::Integer(event.twin.map(|twin| twin.version.cast_signed())),
        text(event.on_poison.as_str()),
    ]
}
