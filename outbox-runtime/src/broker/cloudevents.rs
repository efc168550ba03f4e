//! An event in CloudEvents 1.0: as attributes beside its payload (binary mode; each broker adds its own prefix and encoding),
//! or as one document (structured mode).
//!
//! What is read is never guessed: a message that lacks a part of an event of ours is [`Malformed`] and keeps its bytes.

pub use super::structured::{DOCUMENT_TYPE, from_json, to_json};

use crate::{
    broker::Malformed,
    envelope::{Envelope, EventId, Headers, NewEvent, Seq, Twin},
    payload,
    preflight::{KEY_BYTES_MAX, SOURCE_BYTES_MAX},
    store::headers,
};
use base64::{Engine, prelude::BASE64_STANDARD};
use outbox_schema::OnPoison;
use std::borrow::Cow;
#[cfg(any(feature = "kafka", feature = "redis"))]
use std::collections::HashMap;
use time::{
    OffsetDateTime, UtcOffset,
    format_description::{BorrowedFormatItem, well_known::Rfc3339},
    macros::format_description,
};

/// The attributes of ours beyond the standard: what a reader needs that the payload does not say.
const TWIN: &str = "outboxtwin";
const TWIN_VERSION: &str = "outboxtwinversion";
const ON_POISON: &str = "outboxonpoison";
/// Every attribute that [`attributes`] gives beside user headers.
pub(crate) const NAMES: [&str; 13] = [
    "specversion",
    "id",
    "source",
    "type",
    "time",
    "dataschema",
    "sequence",
    ON_POISON,
    "partitionkey",
    "traceparent",
    "tracestate",
    TWIN,
    TWIN_VERSION,
];
/// The user headers as one JSON object, from a writer that makes one attribute of each column of the log, as Debezium does.
const USER_HEADERS: &str = "outboxheaders";
/// How the payload of a malformed message is written where it is not plain text.
const ENCODING: &str = "outboxencoding";

/// RFC 3339 with the microseconds that a database keeps, all six digits, as whoever else reads the log writes a time.
const TIME: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:6]Z");

/// The media type of every payload.
pub const CONTENT_TYPE: &str = "application/json";
/// The name that it travels by, without the prefix of attributes.
#[cfg(any(feature = "kafka", feature = "redis"))]
pub(crate) const CONTENT_TYPE_NAME: &str = "content-type";

/// The names of attributes behind the prefix of a broker; those of every event are made once.
#[cfg(any(feature = "kafka", feature = "redis"))]
pub(crate) struct PrefixedNames {
    prefix: &'static str,
    known: HashMap<&'static str, String>,
}

#[cfg(any(feature = "kafka", feature = "redis"))]
impl PrefixedNames {
    pub(crate) fn behind(prefix: &'static str) -> Self {
        Self { prefix, known: NAMES.into_iter().map(|name| (name, format!("{prefix}{name}"))).collect() }
    }

    pub(crate) fn of(&self, attribute: &str) -> Cow<'_, str> {
        match self.known.get(attribute) {
            Some(name) => name.as_str().into(),
            None => format!("{}{attribute}", self.prefix).into(),
        }
    }
}

/// How a broker writes events. Each subscription reads both, so it may be changed at any time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ContentMode {
    /// The attributes as headers, and the payload's very bytes as the body.
    #[default]
    Binary,
    /// One JSON document with the attributes and, as its member `data`, the payload's very bytes. It is some 150 bytes smaller
    /// than the headers of binary mode, and costs a writer one more pass over the payload, and a consumer two.
    Structured,
}

/// Where a message lies at its broker. What is no event is known by it, so it is the same at each delivery.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The topic.
    pub topic: &'a str,
    /// The number of the message in its topic or partition.
    pub position: u64,
    /// When the broker took it, or any time that tells a topic from another one of its name.
    pub stored_at: OffsetDateTime,
}

/// Name and value of each attribute of an event, user headers included and `datacontenttype` left out, as most brokers
/// have a place of their own for it.
///
/// # Panics
/// When the year has more than four digits, as in no time that a store gives.
#[must_use]
pub fn attributes<'a>(envelope: &'a Envelope) -> Vec<(&'a str, Cow<'a, str>)> {
    let occurred_at = envelope.occurred_at.to_offset(UtcOffset::UTC);
    let time = occurred_at.format(TIME).expect("a time of a database has a year of four digits");
    let mut attributes: Vec<(&'a str, Cow<'a, str>)> =
        Vec::with_capacity(NAMES.len() + envelope.headers.len());
    attributes.extend([
        ("specversion", "1.0".into()),
        ("id", envelope.id.to_string().into()),
        ("source", envelope.source.as_str().into()),
        ("type", envelope.event_type.as_str().into()),
        ("time", time.into()),
        ("dataschema", envelope.dataschema.as_str().into()),
        ("sequence", envelope.seq.to_string().into()),
        (ON_POISON, envelope.on_poison.as_str().into()),
    ]);
    let mut optional = |name, value: Option<&'a String>| {
        if let Some(value) = value {
            attributes.push((name, value.as_str().into()));
        }
    };
    optional("partitionkey", envelope.key.as_ref());
    optional("traceparent", envelope.traceparent.as_ref());
    optional("tracestate", envelope.tracestate.as_ref());
    if let Some(twin) = envelope.twin {
        attributes.push((TWIN, twin.id.to_string().into()));
        attributes.push((TWIN_VERSION, twin.version.to_string().into()));
    }
    attributes.extend(envelope.headers.iter().map(|(name, value)| (name.as_str(), value.as_str().into())));
    attributes
}

/// The event that a message with these attributes holds, from whichever producer.
///
/// # Errors
/// [`Malformed`], which keeps attributes and payload.
#[expect(clippy::result_large_err, reason = "both sides are an envelope")]
pub fn read(place: Place<'_>, attributes: Headers, payload: &[u8]) -> Result<Envelope, Malformed> {
    read_event(place.topic, attributes.clone(), payload)
        .map_err(|problem| Malformed { envelope: stand_in(place, attributes, payload), problem })
}

/// What is left of a message of which the broker's own part cannot be read.
#[cfg(feature = "rabbitmq")]
pub(crate) fn malformed(place: Place<'_>, attributes: Headers, payload: &[u8], problem: String) -> Malformed {
    Malformed { envelope: stand_in(place, attributes, payload), problem }
}

/// Names and values of a message whose attributes have a prefix, whoever wrote it.
#[cfg(any(feature = "kafka", feature = "redis"))]
#[derive(Default)]
pub(crate) struct Parts {
    attributes: Headers,
    others: Headers,
    problem: Option<String>,
}

#[cfg(any(feature = "kafka", feature = "redis"))]
impl Parts {
    /// Takes over one part.
    pub(crate) fn add(&mut self, prefix: &str, name: &str, value: &[u8]) {
        let name = name.replace('\0', "\u{fffd}");
        let text = String::from_utf8_lossy(value);
        match name.strip_prefix(prefix) {
            Some(attribute) => {
                if matches!(text, Cow::Owned(_)) {
                    self.problem = Some(format!("the attribute `{attribute}` is not UTF-8"));
                }
                self.attributes.insert(attribute.to_owned(), text.into_owned());
            }
            None => {
                self.others.insert(name, text.into_owned());
            }
        }
    }

    /// The message is no event, whatever its parts say.
    #[cfg(feature = "kafka")]
    pub(crate) fn spoil(&mut self, problem: &str) {
        self.problem = Some(problem.to_owned());
    }

    /// The event of these parts.
    #[expect(clippy::result_large_err, reason = "both sides are an envelope")]
    pub(crate) fn read(mut self, place: Place<'_>, payload: &[u8]) -> Result<Envelope, Malformed> {
        let read = match self.problem {
            Some(problem) => Err(Malformed { envelope: stand_in(place, self.attributes, payload), problem }),
            None => {
                let content_type = self.others.get(CONTENT_TYPE_NAME).map(String::as_str);
                super::content::read(place, content_type, self.attributes, payload)
            }
        };
        read.map_err(|mut malformed| {
            // Whoever wrote it may know it by names of his own.
            self.others.remove(CONTENT_TYPE_NAME);
            for (name, value) in self.others {
                malformed.envelope.event.headers.entry(name).or_insert(value.replace('\0', "\u{fffd}"));
            }
            malformed
        })
    }
}

fn read_event(topic: &str, mut attributes: Headers, payload: &[u8]) -> Result<Envelope, String> {
    spread_user_headers(&mut attributes)?;
    if let Some((name, _)) = attributes.iter().find(|(_, value)| value.contains('\0')) {
        return Err(format!("the attribute `{name}` has a NUL character"));
    }
    let payload = text_of(payload).ok_or("the payload is not text without NUL characters")?;
    let opened =
        payload::open(payload).map_err(|error| format!("the payload is not a JSON object: {error}"))?;
    let event_type = opened.event_type.ok_or("the payload has no text `eventType`")?;
    let event_version = opened.event_version.ok_or("the payload has no number `eventVersion`")?;

    let mut required =
        |name: &str| attributes.remove(name).ok_or_else(|| format!("the attribute `{name}` is missing"));
    let _ = required("specversion")?;
    let id = parse("id", &required("id")?)?;
    let source = required("source")?;
    if !(1..=SOURCE_BYTES_MAX).contains(&source.len()) {
        let bytes = source.len();
        return Err(format!("the attribute `source` is {bytes} bytes, not 1 to {SOURCE_BYTES_MAX}"));
    }
    let named_type = required("type")?;
    let seq = Seq(parse("sequence", &required("sequence")?)?);
    let time = required("time")?;
    let dataschema = required("dataschema")?;
    if named_type != event_type {
        return Err(format!("the attribute `type` is `{named_type}`, but `eventType` is `{event_type}`"));
    }
    let occurred_at =
        OffsetDateTime::parse(&time, &Rfc3339).map_err(|error| format!("the attribute `time`: {error}"))?;

    let key = attributes.remove("partitionkey");
    if let Some(key) = key.as_deref().filter(|key| !is_key(key)) {
        let bytes = key.len();
        return Err(format!("the attribute `partitionkey` is {bytes} bytes, not 1 to {KEY_BYTES_MAX}"));
    }
    let by_ordering = if key.is_some() { OnPoison::Park } else { OnPoison::Skip };
    let on_poison = match attributes.remove(ON_POISON) {
        Some(word) => OnPoison::parse(&word).ok_or(format!("the attribute `{ON_POISON}` is `{word}`"))?,
        None => by_ordering,
    };
    let twin = match (attributes.remove(TWIN), attributes.remove(TWIN_VERSION)) {
        (Some(id), Some(version)) => {
            Some(Twin { id: parse(TWIN, &id)?, version: parse(TWIN_VERSION, &version)? })
        }
        _ => None,
    };
    let (traceparent, tracestate) = (attributes.remove("traceparent"), attributes.remove("tracestate"));
    attributes.remove("datacontenttype");
    let event = NewEvent {
        id,
        source,
        topic: topic.to_owned(),
        key,
        event_type,
        event_version,
        payload: payload.to_owned(),
        dataschema,
        headers: attributes,
        traceparent,
        tracestate,
        twin,
        on_poison,
    };
    Ok(Envelope { seq, occurred_at, event })
}

/// Makes of user headers in one attribute an attribute each; none takes the place of another attribute.
fn spread_user_headers(attributes: &mut Headers) -> Result<(), String> {
    let Some(text) = attributes.remove(USER_HEADERS) else { return Ok(()) };
    let headers = headers::read(&text).map_err(|error| format!("the attribute `{USER_HEADERS}`: {error}"))?;
    for (name, value) in headers {
        attributes.entry(name).or_insert(value);
    }
    Ok(())
}

fn parse<T: std::str::FromStr>(name: &str, value: &str) -> Result<T, String>
where
    T::Err: std::fmt::Display,
{
    value.parse().map_err(|error| format!("the attribute `{name}` is `{value}`: {error}"))
}

/// The payload as text, unless a database could not keep it as such.
fn text_of(payload: &[u8]) -> Option<&str> {
    std::str::from_utf8(payload).ok().filter(|text| !text.contains('\0'))
}

/// Whether a database can keep an event in the lane of this key.
fn is_key(key: &str) -> bool {
    (1..=KEY_BYTES_MAX).contains(&key.len()) && !key.contains('\0')
}

/// An envelope that keeps the bytes of a message that is no event.
pub(super) fn stand_in(place: Place<'_>, attributes: Headers, payload: &[u8]) -> Envelope {
    let key = attributes.get("partitionkey").filter(|key| is_key(key)).cloned();
    let mut headers = attributes;
    for value in headers.values_mut() {
        *value = value.replace('\0', "\u{fffd}");
    }
    let payload = text_of(payload).map(str::to_owned).unwrap_or_else(|| {
        headers.insert(ENCODING.to_owned(), "base64".to_owned());
        BASE64_STANDARD.encode(payload)
    });
    let event = NewEvent {
        id: place.id(),
        source: format!("{}@{}", place.position, place.topic),
        topic: place.topic.to_owned(),
        on_poison: if key.is_some() { OnPoison::Park } else { OnPoison::Skip },
        key,
        event_type: String::new(),
        event_version: 0,
        payload,
        dataschema: String::new(),
        headers,
        traceparent: None,
        tracestate: None,
        twin: None,
    };
    Envelope {
        seq: Seq(i64::try_from(place.position).unwrap_or(i64::MAX)),
        occurred_at: place.stored_at,
        event,
    }
}

impl Place<'_> {
    /// An id that is the same at each delivery of this message, and differs from that of any other: the position
    /// repeats when a topic was deleted and made anew, the time does not.
    fn id(&self) -> EventId {
        let stored_at = self.stored_at.unix_timestamp_nanos().to_be_bytes();
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&stored_at[8..]);
        bytes[8..].copy_from_slice(&self.position.to_be_bytes());
        EventId(uuid::Builder::from_custom_bytes(bytes).into_uuid())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use uuid::Uuid;

    pub(in crate::broker) fn envelope() -> Envelope {
        let event = NewEvent {
            id: EventId(Uuid::from_u128(0x0192_0000_0000_7000_8000_0000_0000_0001)),
            source: "/orders".into(),
            topic: "orders".into(),
            key: Some("7".into()),
            event_type: "orders.placed".into(),
            event_version: 2,
            payload: r#"{"eventType":"orders.placed","eventVersion":2,"total":1.50}"#.into(),
            dataschema: "urn:outbox:orders.placed:2".into(),
            headers: [("tenant".to_owned(), "a b".to_owned())].into(),
            traceparent: Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".into()),
            tracestate: Some("a=b".into()),
            twin: Some(Twin { id: EventId(Uuid::from_u128(2)), version: 1 }),
            on_poison: OnPoison::Block,
        };
        let occurred_at = OffsetDateTime::from_unix_timestamp_nanos(1_790_000_000_123_456_000).unwrap();
        Envelope { seq: Seq(1_000_000_000_000_000_007), occurred_at, event }
    }

    fn headers_of(envelope: &Envelope) -> Headers {
        attributes(envelope).into_iter().map(|(name, value)| (name.to_owned(), value.into_owned())).collect()
    }

    pub(in crate::broker) fn place() -> Place<'static> {
        Place { topic: "orders", position: 9, stored_at: OffsetDateTime::UNIX_EPOCH }
    }

    #[test]
    fn the_names_are_those_of_an_event_that_has_all() {
        let envelope =
            Envelope { event: NewEvent { headers: Headers::new(), ..envelope().event }, ..envelope() };
        let names: Vec<&str> = attributes(&envelope).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, NAMES);
    }

    #[test]
    fn an_event_reads_as_it_was_written() {
        let envelope = envelope();
        let read = read(place(), headers_of(&envelope), envelope.payload.as_bytes());
        assert_eq!(read, Ok(envelope));
    }

    #[test]
    fn each_missing_attribute_is_named_and_the_bytes_are_kept() {
        let envelope = envelope();
        for name in ["specversion", "id", "source", "type", "sequence", "time", "dataschema"] {
            let mut headers = headers_of(&envelope);
            headers.remove(name);
            let malformed = read(place(), headers.clone(), envelope.payload.as_bytes()).unwrap_err();
            assert_eq!(malformed.problem, format!("the attribute `{name}` is missing"));
            assert_eq!(malformed.envelope.payload, envelope.payload);
            assert_eq!(malformed.envelope.headers, headers);
            assert_eq!(malformed.envelope.key, envelope.key);
        }
    }

    #[test]
    fn user_headers_in_one_attribute_are_those_of_the_event() {
        let envelope = envelope();
        let with = |text: &str| {
            let mut attributes = headers_of(&envelope);
            attributes.remove("tenant");
            attributes.insert(USER_HEADERS.to_owned(), text.to_owned());
            attributes
        };
        let spread = with(r#"{"tenant":"a b","id":"7"}"#);
        assert_eq!(read(place(), spread, envelope.payload.as_bytes()), Ok(envelope.clone()));
        for (spoilt, problem) in
            [("[]", "the attribute `outboxheaders`"), (r#"{"tenant":"a\u0000b"}"#, "`tenant` has a NUL")]
        {
            let malformed = read(place(), with(spoilt), envelope.payload.as_bytes()).unwrap_err();
            assert!(malformed.problem.contains(problem), "{}", malformed.problem);
            assert_eq!(malformed.envelope.headers[USER_HEADERS], spoilt);
        }
    }

    #[test]
    fn a_time_has_six_digits_behind_its_seconds() {
        let time_of = |nanos| {
            let occurred_at = OffsetDateTime::from_unix_timestamp_nanos(nanos).unwrap();
            headers_of(&Envelope { occurred_at, ..envelope() })["time"].clone()
        };
        assert_eq!(time_of(1_790_000_000_000_000_000), "2026-09-21T14:13:20.000000Z");
        assert_eq!(time_of(1_790_000_000_120_000_000), "2026-09-21T14:13:20.120000Z");
    }

    #[test]
    fn what_no_database_can_keep_is_malformed_and_leaves_no_trace_that_it_cannot_keep() {
        let long = "x".repeat(KEY_BYTES_MAX + 1);
        let spoilt = [
            ("source", long.as_str()),
            ("source", ""),
            ("partitionkey", long.as_str()),
            ("partitionkey", ""),
            ("partitionkey", "a\0b"),
            ("tenant", "a\0b"),
        ];
        for (name, value) in spoilt {
            let mut headers = headers_of(&envelope());
            headers.insert(name.to_owned(), value.to_owned());
            let malformed = read(place(), headers, envelope().payload.as_bytes()).unwrap_err();
            assert!(malformed.problem.contains(&format!("the attribute `{name}`")), "{}", malformed.problem);
            assert!(malformed.envelope.headers.values().all(|value| !value.contains('\0')));
            let kept = (name != "partitionkey").then(|| "7".to_owned());
            assert_eq!(malformed.envelope.key, kept);
            assert!(malformed.envelope.source.len() <= SOURCE_BYTES_MAX);
        }
    }

    #[test]
    fn a_payload_that_is_no_text_is_kept_as_base64() {
        let malformed = read(place(), Headers::new(), &[0xff, 0]).unwrap_err();
        assert_eq!(malformed.envelope.payload, "/wA=");
        assert_eq!(malformed.envelope.headers[ENCODING], "base64");
    }

    #[test]
    fn the_id_of_a_malformed_message_tells_its_place() {
        let id = |position, stored_at| Place { topic: "orders", position, stored_at }.id();
        let later = OffsetDateTime::UNIX_EPOCH + time::Duration::NANOSECOND * 1_000;
        assert_eq!(id(9, OffsetDateTime::UNIX_EPOCH), place().id());
        assert_ne!(id(10, OffsetDateTime::UNIX_EPOCH), place().id());
        assert_ne!(id(9, later), place().id());
    }
}
