//! Between rows and envelopes, and from the driver's errors to ours.

use crate::{
    envelope::{Envelope, EventId, Headers, MALFORMED, NewEvent, Seq, Twin},
    held::{HeldEvent, HeldId, Lane},
    marker::Marker,
    store::{StatementValue, StoreError, headers},
};
use outbox_schema::OnPoison;
use sqlx::{
    Row, Sqlite,
    query::Query,
    sqlite::{SqliteArguments, SqliteRow},
};
use std::time::Duration;
use time::OffsetDateTime;
use uuid::Uuid;

/// SQLITE_BUSY_SNAPSHOT: a read transaction cannot become a writer, since another wrote meanwhile.
const BUSY_SNAPSHOT: &str = "517";

/// Turns a driver's error into ours.
pub(super) fn database(action: &'static str) -> impl FnOnce(sqlx::Error) -> StoreError {
    move |error| {
        let code = error.as_database_error().and_then(|error| error.code()).map(|code| code.into_owned());
        if code.as_deref() == Some(BUSY_SNAPSHOT) {
            return StoreError::Overtaken { source: Box::new(error) };
        }
        let transient = match &code {
            // The low byte is the primary code: 5 busy, 6 locked, 10 input or output, 13 disk full.
            Some(code) => code.parse::<i32>().is_ok_and(|code| matches!(code & 0xff, 5 | 6 | 10 | 13)),
            None => {
                matches!(error, sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::WorkerCrashed)
            }
        };
        StoreError::Database { action, transient, source: Box::new(error) }
    }
}

pub(super) type BoundQuery<'q> = Query<'q, Sqlite, SqliteArguments>;

/// Binds the columns id … on_poison, in the order of every table that has them.
pub(super) fn bind_event<'q>(query: BoundQuery<'q>, event: &NewEvent) -> BoundQuery<'q> {
    query
        .bind(event.id.to_string())
        .bind(event.topic.clone())
        .bind(event.key.clone())
        .bind(event.event_type.clone())
        .bind(i64::from(event.event_version))
        .bind(event.payload.clone())
        .bind(event.source.clone())
        .bind(event.dataschema.clone())
        .bind(headers_text(&event.headers))
        .bind(event.traceparent.clone())
        .bind(event.tracestate.clone())
        .bind(event.twin.map(|twin| twin.id.to_string()))
        .bind(event.twin.map(|twin| i64::from(twin.version)))
        .bind(event.on_poison.as_str())
}

/// The same values, in the order of [`bind_event`], for other drivers.
pub(super) fn statement_values(event: &NewEvent) -> [StatementValue; 14] {
    let text = |text: &str| StatementValue::Text(Some(text.to_owned()));
    let version = |version: u32| i32::try_from(version).expect("a version is small");
    [
        text(&event.id.to_string()),
        text(&event.topic),
        StatementValue::Text(event.key.clone()),
        text(&event.event_type),
        StatementValue::Integer(Some(version(event.event_version))),
        text(&event.payload),
        text(&event.source),
        text(&event.dataschema),
        text(&headers_text(&event.headers)),
        StatementValue::Text(event.traceparent.clone()),
        StatementValue::Text(event.tracestate.clone()),
        StatementValue::Text(event.twin.map(|twin| twin.id.to_string())),
        StatementValue::Integer(event.twin.map(|twin| version(twin.version))),
        text(event.on_poison.as_str()),
    ]
}

/// Binds seq, the event's columns and occurred_at.
pub(super) fn bind_envelope<'q>(query: BoundQuery<'q>, envelope: &Envelope) -> BoundQuery<'q> {
    bind_event(query.bind(envelope.seq.0), &envelope.event).bind(millis(envelope.occurred_at))
}

/// Binds the key columns of a held row behind its stage.
pub(super) fn bind_held_id<'q>(query: BoundQuery<'q>, held: &HeldId) -> BoundQuery<'q> {
    query
        .bind(held.lane.as_str().to_owned())
        .bind(held.seq.0)
        .bind(held.source.clone())
        .bind(held.id.to_string())
}

/// Reads an envelope from a row of the log, the held events or the dead letters.
pub(super) fn envelope(row: &SqliteRow) -> Result<Envelope, StoreError> {
    let seq: i64 = get(row, "seq")?;
    let corrupt = |problem: String| StoreError::Corrupt { row: format!("seq {seq}"), problem };
    let id: String = get(row, "id")?;
    let on_poison: String = get(row, "on_poison")?;
    let text: String = get(row, "headers")?;
    let twin_id: Option<String> = get(row, "twin_id")?;
    let twin_version: Option<u32> = get(row, "twin_version")?;
    let twin = match (twin_id, twin_version) {
        (Some(id), Some(version)) => Some(Twin {
            id: id.parse().map_err(|_| corrupt(format!("the twin's id `{id}` is no UUID")))?,
            version,
        }),
        _ => None,
    };
    Ok(Envelope {
        seq: Seq(seq),
        occurred_at: moment(get(row, "occurred_at")?),
        event: NewEvent {
            id: id.parse::<EventId>().map_err(|_| corrupt(format!("the id `{id}` is no UUID")))?,
            source: get(row, "source")?,
            topic: get(row, "topic")?,
            key: get(row, "key")?,
            event_type: get(row, "event_type")?,
            event_version: get(row, "event_version")?,
            payload: get(row, "payload")?,
            dataschema: get(row, "dataschema")?,
            headers: headers::read(&text)
                .map_err(|error| corrupt(format!("the headers are no JSON object: {error}")))?,
            traceparent: get(row, "traceparent")?,
            tracestate: get(row, "tracestate")?,
            twin,
            on_poison: OnPoison::parse(&on_poison)
                .ok_or_else(|| corrupt(format!("`{on_poison}` is no poison policy")))?,
        },
    })
}

/// Reads an envelope that any writer may have put there. SQLite takes whatever is written into a column, and one odd row
/// must not stop the log: an event stands in for it, with all that can be read and the reason.
pub(super) fn foreign_envelope(row: &SqliteRow) -> Result<Envelope, StoreError> {
    match envelope(row) {
        Err(StoreError::Corrupt { row: place, problem }) => stand_in(row, &format!("{place}: {problem}")),
        read => read,
    }
}

fn stand_in(row: &SqliteRow, problem: &str) -> Result<Envelope, StoreError> {
    let seq: i64 = get(row, "seq")?;
    let bytes = |column| row.try_get_unchecked::<Option<Vec<u8>>, _>(column).ok().flatten();
    let some_text = |column| bytes(column).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let text = |column| some_text(column).unwrap_or_default();
    let key = some_text("key");
    let by_ordering = if key.is_some() { OnPoison::Park } else { OnPoison::Skip };
    let headers = [
        (MALFORMED, format!("{problem}; a payload that is no text is kept in hexadecimal digits")),
        ("outbox-id", text("id")),
        ("outbox-headers", text("headers")),
    ];
    Ok(Envelope {
        seq: Seq(seq),
        occurred_at: get(row, "occurred_at").map_or_else(|_| OffsetDateTime::now_utc(), moment),
        event: NewEvent {
            // One that is the same at each reading.
            id: text("id").parse().unwrap_or(EventId(Uuid::from_u128(seq.unsigned_abs().into()))),
            source: text("source"),
            topic: text("topic"),
            key,
            event_type: text("event_type"),
            event_version: get(row, "event_version").unwrap_or(0),
            payload: String::from_utf8(bytes("payload").unwrap_or_default())
                .unwrap_or_else(|error| error.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect()),
            dataschema: text("dataschema"),
            headers: headers.map(|(name, value)| (name.to_owned(), value)).into(),
            traceparent: None,
            tracestate: None,
            twin: None,
            on_poison: OnPoison::parse(&text("on_poison")).unwrap_or(by_ordering),
        },
    })
}

/// Reads a held event.
pub(super) fn held_event(row: &SqliteRow) -> Result<HeldEvent, StoreError> {
    Ok(HeldEvent {
        envelope: envelope(row)?,
        attempts: get(row, "attempts")?,
        replayed: get(row, "replayed")?,
        tried_alone: get(row, "tried_alone")?,
    })
}

/// Reads a marker, and the epoch of its leader.
pub(super) fn marker(row: &SqliteRow) -> Result<(i64, Marker), StoreError> {
    let alone: Option<String> = get(row, "alone")?;
    // What is no id is no event that could be met again.
    let alone = alone.and_then(|id| id.parse().ok());
    Ok((get(row, "epoch")?, Marker { suspects: get(row, "suspects")?, taken: get(row, "taken")?, alone }))
}

/// Reads one column.
pub(super) fn get<'r, T>(row: &'r SqliteRow, column: &str) -> Result<T, StoreError>
where
    T: sqlx::Decode<'r, Sqlite> + sqlx::Type<Sqlite>,
{
    row.try_get(column)
        .map_err(|error| StoreError::Corrupt { row: format!("column {column}"), problem: error.to_string() })
}

/// The name that a row's event has, or would have, among the held ones.
pub(super) fn held_id(row: &SqliteRow) -> Result<HeldId, StoreError> {
    let id: String = get(row, "id")?;
    let id = id.parse().map_err(|_| StoreError::Corrupt {
        row: "column id".to_owned(),
        problem: format!("`{id}` is no UUID"),
    })?;
    Ok(HeldId { lane: lane(row)?, seq: Seq(get(row, "seq")?), source: get(row, "source")?, id })
}

/// The lane of a row that has no envelope.
pub(super) fn lane(row: &SqliteRow) -> Result<Lane, StoreError> {
    get(row, "lane").map(Lane::from_text)
}

pub(super) fn headers_text(headers: &Headers) -> String {
    serde_json::to_string(headers).expect("a map of texts is JSON")
}

pub(super) fn json_array(items: &[String]) -> String {
    serde_json::to_string(items).expect("a list of texts is JSON")
}

/// Milliseconds since 1970.
pub(super) fn millis(moment: OffsetDateTime) -> i64 {
    i64::try_from(moment.unix_timestamp_nanos() / 1_000_000).expect("a time of this era")
}

/// Whole milliseconds of a span, for the database.
pub(super) fn span(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX / 4).min(i64::MAX / 4)
}

pub(super) fn moment(millis: i64) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(millis) * 1_000_000)
        .unwrap_or(OffsetDateTime::UNIX_EPOCH)
}
