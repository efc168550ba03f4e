//! One event as it travels: its payload text and the metadata beside it.

use outbox_schema::OnPoison;
use std::{collections::BTreeMap, fmt, str::FromStr};
use time::OffsetDateTime;
use uuid::{NoContext, Timestamp, Uuid};

/// The identity of one event, a UUIDv7; unique together with the event's source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(pub Uuid);

impl EventId {
    /// Makes a new id from the producer's clock. Its time is a hint only; nothing is decided by it.
    #[must_use]
    pub fn now() -> Self {
        Self(Uuid::now_v7())
    }

    /// Makes a new id of that time, which is in or after 1970.
    pub(crate) fn at(time: OffsetDateTime) -> Self {
        let secs = time.unix_timestamp().cast_unsigned();
        Self(Uuid::new_v7(Timestamp::from_unix(NoContext, secs, time.nanosecond())))
    }

    /// The time inside the id, if it has one.
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    pub(crate) fn time(self) -> Option<OffsetDateTime> {
        let (secs, nanos) = self.0.get_timestamp()?.to_unix();
        let time = OffsetDateTime::from_unix_timestamp(secs.cast_signed()).ok()?;
        time.replace_nanosecond(nanos).ok()
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for EventId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

/// An event's place in the log of its store. Starts at 10^18, so its decimal text always has 19 digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seq(pub i64);

impl Seq {
    /// The seq before the first one of a log.
    pub const ORIGIN: Self = Self(999_999_999_999_999_999);
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// User headers by name. Names are `[a-z0-9]`, 1 to 64 characters; values are visible text.
pub type Headers = BTreeMap<String, String>;

/// The header of an event that stands in for a row which no reader can take apart: what is wrong with that row. A producer
/// cannot write a header of this name.
pub(crate) const MALFORMED: &str = "outbox-malformed";

/// The other half of a pair written during a cutover between two versions of one event type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Twin {
    /// The id of the other event.
    pub id: EventId,
    /// The version of the other event.
    pub version: u32,
}

/// One event as enqueue writes it; the store adds the seq and the time.
///
/// Its `Debug` leaves out payload and header values, so that no log gets them by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// The identity.
    pub id: EventId,
    /// Who wrote it: the CloudEvents source.
    pub source: String,
    /// The topic.
    pub topic: String,
    /// The partition key; `None` is unordered.
    pub key: Option<String>,
    /// The event type.
    pub event_type: String,
    /// The event version.
    pub event_version: u32,
    /// The JSON object as it travels, `eventType` and `eventVersion` first.
    pub payload: String,
    /// The address of the schema.
    pub dataschema: String,
    /// The user headers.
    pub headers: Headers,
    /// The W3C trace context of the enqueue.
    pub traceparent: Option<String>,
    /// The vendor part of the trace context.
    pub tracestate: Option<String>,
    /// The other half of a cutover pair.
    pub twin: Option<Twin>,
    /// What happens when the event is poison; travels with the row, so that a relay needs no catalog.
    pub on_poison: OnPoison,
}

impl NewEvent {
    /// What is wrong with the row that it stands in for. Such an event is neither published nor handled, but set aside.
    pub(crate) fn malformed(&self) -> Option<&str> {
        self.headers.get(MALFORMED).map(String::as_str)
    }
}

impl fmt::Debug for NewEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewEvent")
            .field("id", &self.id)
            .field("source", &self.source)
            .field("topic", &self.topic)
            .field("event_type", &self.event_type)
            .field("event_version", &self.event_version)
            .field("payload_bytes", &self.payload.len())
            .field("headers", &self.headers.keys())
            .finish_non_exhaustive()
    }
}

/// One event with the metadata that every reader sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// The place in the log it came from.
    pub seq: Seq,
    /// When it was written, by the clock of its database.
    pub occurred_at: OffsetDateTime,
    /// What its producer wrote.
    pub event: NewEvent,
}

impl std::ops::Deref for Envelope {
    type Target = NewEvent;

    fn deref(&self) -> &NewEvent {
        &self.event
    }
}
