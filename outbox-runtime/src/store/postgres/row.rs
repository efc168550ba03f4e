//! Events as rows and as arrays of columns.

use crate::{
    envelope::{Envelope, EventId, Headers, NewEvent, Seq, Twin},
    store::{StoreError, headers},
};
use outbox_schema::OnPoison;
use sqlx::{
    Decode, Postgres, Row,
    postgres::{PgArguments, PgRow},
    query::Query,
};
use time::OffsetDateTime;
use uuid::Uuid;

/// A prepared statement with its values.
pub(super) type PgQuery<'q> = Query<'q, Postgres, PgArguments>;

/// The columns of an envelope in the order that every SELECT of ours has them: `seq`, then these from `first` on.
/// `None` when they are null: the row was not wanted.
pub(super) fn envelope_at(row: &PgRow, seq: Seq, first: usize) -> Result<Option<Envelope>, StoreError> {
    let read = || -> Result<_, sqlx::Error> {
        let Some(occurred_at) = get::<Option<OffsetDateTime>>(row, first)? else { return Ok(None) };
        let twin: (Option<Uuid>, Option<i32>) = (get(row, first + 12)?, get(row, first + 13)?);
        let event = NewEvent {
            id: EventId(get(row, first + 1)?),
            topic: get(row, first + 2)?,
            key: get(row, first + 3)?,
            event_type: get(row, first + 4)?,
            event_version: get::<i32>(row, first + 5)?.cast_unsigned(),
            payload: get(row, first + 6)?,
            source: get(row, first + 7)?,
            dataschema: get(row, first + 8)?,
            headers: headers_of(get(row, first + 9)?),
            traceparent: get(row, first + 10)?,
            tracestate: get(row, first + 11)?,
            twin: twin
                .0
                .zip(twin.1)
                .map(|(id, version)| Twin { id: EventId(id), version: version.cast_unsigned() }),
            on_poison: policy_of(get(row, first + 14)?)?,
        };
        Ok(Some(Envelope { seq, occurred_at, event }))
    };
    read().map_err(|error| StoreError::Corrupt { row: format!("seq {seq}"), problem: error.to_string() })
}

/// Without a look at the column's type: these are read by the million, and the statements fix their types.
fn get<'r, T: Decode<'r, Postgres>>(row: &'r PgRow, column: usize) -> Result<T, sqlx::Error> {
    row.try_get_unchecked(column)
}

/// What the column takes and no reader can take apart (a name with half a surrogate) is kept whole: one odd row must not
/// stop the log.
fn headers_of(text: Option<&str>) -> Headers {
    let Some(text) = text else { return Headers::new() };
    headers::read(text).unwrap_or_else(|_| Headers::from([("unreadable".to_owned(), text.to_owned())]))
}

fn policy_of(word: &str) -> Result<OnPoison, sqlx::Error> {
    OnPoison::parse(word)
        .ok_or_else(|| sqlx::Error::Decode(format!("`{word}` is no policy for poison").into()))
}

/// The text of the column `headers`; null when there are none.
pub(super) fn headers_text(headers: &Headers) -> Option<String> {
    (!headers.is_empty()).then(|| serde_json::to_string(headers).expect("a map of texts is JSON"))
}

/// Text of an error, which may hold what PostgreSQL's text cannot.
pub(super) fn free_of_nul(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// Events as one array a column, for `unnest`.
#[derive(Default)]
pub(super) struct EventColumns<'e> {
    ids: Vec<Uuid>,
    topics: Vec<&'e str>,
    keys: Vec<Option<&'e str>>,
    event_types: Vec<&'e str>,
    event_versions: Vec<i32>,
    payloads: Vec<&'e str>,
    sources: Vec<&'e str>,
    dataschemas: Vec<&'e str>,
    headers: Vec<Option<String>>,
    traceparents: Vec<Option<&'e str>>,
    tracestates: Vec<Option<&'e str>>,
    twin_ids: Vec<Option<Uuid>>,
    twin_versions: Vec<Option<i32>>,
    policies: Vec<&'static str>,
    /// Of events that have been in the log: where and when.
    places: Option<(Vec<i64>, Vec<OffsetDateTime>)>,
}

impl<'e> EventColumns<'e> {
    pub(super) fn of_envelopes(envelopes: &[&'e Envelope]) -> Self {
        let places = envelopes.iter().map(|envelope| (envelope.seq.0, envelope.occurred_at)).unzip();
        Self { places: Some(places), ..Self::of(envelopes.iter().map(|envelope| &envelope.event)) }
    }

    pub(super) fn of(events: impl IntoIterator<Item = &'e NewEvent>) -> Self {
        let mut columns = Self::default();
        for event in events {
            columns.ids.push(event.id.0);
            columns.topics.push(&event.topic);
            columns.keys.push(event.key.as_deref());
            columns.event_types.push(&event.event_type);
            columns.event_versions.push(event.event_version.cast_signed());
            columns.payloads.push(&event.payload);
            columns.sources.push(&event.source);
            columns.dataschemas.push(&event.dataschema);
            columns.headers.push(headers_text(&event.headers));
            columns.traceparents.push(event.traceparent.as_deref());
            columns.tracestates.push(event.tracestate.as_deref());
            columns.twin_ids.push(event.twin.map(|twin| twin.id.0));
            columns.twin_versions.push(event.twin.map(|twin| twin.version.cast_signed()));
            columns.policies.push(event.on_poison.as_str());
        }
        columns
    }

    /// Binds the fourteen columns in the order of insert_events.sql, then those of the place, if there are any.
    pub(super) fn bind<'q>(self, query: PgQuery<'q>) -> PgQuery<'q>
    where
        'e: 'q,
    {
        let query = query
            .bind(self.ids)
            .bind(self.topics)
            .bind(self.keys)
            .bind(self.event_types)
            .bind(self.event_versions)
            .bind(self.payloads)
            .bind(self.sources)
            .bind(self.dataschemas)
            .bind(self.headers)
            .bind(self.traceparents)
            .bind(self.tracestates)
            .bind(self.twin_ids)
            .bind(self.twin_versions)
            .bind(self.policies);
        match self.places {
            Some((seqs, times)) => query.bind(seqs).bind(times),
            None => query,
        }
    }
}
