//! One event as a message: CloudEvents attributes as headers `cloudEvents_…`, the payload as the body.

use crate::{
    broker::{
        Malformed,
        cloudevents::{self, ContentMode, Place},
        content::{self, Content},
    },
    envelope::{Envelope, Headers},
};
use lapin::{
    BasicProperties,
    types::{AMQPValue, FieldTable, LongString, ShortString},
};
use std::borrow::Cow;
use time::OffsetDateTime;

const PREFIX: &str = "cloudEvents_";
/// The other prefix that the binding knows.
const PREFIX_READ: &str = "cloudEvents:";
/// Written to disk, whatever the queue.
const PERSISTENT: u8 = 2;
/// How often a quorum queue has delivered a message before; missing the first time.
const DELIVERY_COUNT: &str = "x-delivery-count";

/// What comes before the headers in a frame, at the most: its own frame, the lengths, and the properties of ours.
const FRAME_REST: usize = 512;
/// What one header takes beside its name and value: two lengths and a type.
const HEADER_REST: usize = 6;

/// The properties of one event's message, the bytes of the event with its attributes, and those of the frame of its headers.
pub(super) struct Written<'a> {
    pub(super) properties: BasicProperties,
    pub(super) body: Cow<'a, str>,
    pub(super) event_bytes: usize,
    pub(super) frame_bytes: usize,
}

pub(super) fn write(envelope: &Envelope, mode: ContentMode, message_id: uuid::Uuid) -> Written<'_> {
    let Content { content_type, attributes, body } = mode.write(envelope);
    let mut headers = FieldTable::default();
    let (mut event_bytes, mut frame_bytes) = (body.len(), FRAME_REST);
    for (name, value) in attributes {
        let name = format!("{PREFIX}{name}");
        event_bytes += name.len() + value.len();
        frame_bytes += name.len() + value.len() + HEADER_REST;
        headers.insert(name.into(), AMQPValue::LongString(value.as_ref().into()));
    }
    let seconds = u64::try_from(envelope.occurred_at.unix_timestamp()).unwrap_or(0);
    let properties = BasicProperties::default()
        .with_content_type(content_type.into())
        .with_delivery_mode(PERSISTENT)
        .with_message_id(message_id.to_string().into())
        .with_timestamp(seconds)
        .with_headers(headers);
    Written { properties, body, event_bytes, frame_bytes }
}

/// A message as it came.
pub(super) struct Message {
    pub(super) properties: BasicProperties,
    pub(super) body: Vec<u8>,
}

impl Message {
    /// The partition key, without reading the rest.
    pub(super) fn key(&self) -> Option<String> {
        let headers = self.properties.headers().as_ref().map(FieldTable::inner);
        let named = |prefix: &&str| headers?.get(&*format!("{prefix}partitionkey"));
        match [PREFIX, PREFIX_READ].iter().find_map(named) {
            Some(key) => Some(text(key).ok()?.into_owned()),
            None => content::key_of(self.content_type(), &self.body),
        }
    }

    fn content_type(&self) -> Option<&str> {
        self.properties.content_type().as_ref().map(ShortString::as_str)
    }

    /// How often it was delivered, this time included.
    pub(super) fn delivery_count(&self) -> u32 {
        let headers = self.properties.headers().as_ref();
        let before = headers.and_then(|headers| integer(headers.inner().get(DELIVERY_COUNT)?)).unwrap_or(0);
        u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// The event that it holds.
    #[expect(clippy::result_large_err, reason = "both sides are an envelope")]
    pub(super) fn read(&self, topic: &str, queue: &str) -> Result<Envelope, Malformed> {
        let (mut attributes, mut others) = (Headers::new(), Headers::new());
        let mut problem = None;
        for (name, value) in self.headers() {
            let attribute = [PREFIX, PREFIX_READ].iter().find_map(|prefix| name.strip_prefix(prefix));
            match (attribute, text(value)) {
                (Some(attribute), Ok(value)) => {
                    attributes.insert(attribute.to_owned(), value.into_owned());
                }
                (Some(attribute), Err(value)) => {
                    problem = Some(format!("the attribute `{attribute}` is not UTF-8"));
                    attributes.insert(attribute.to_owned(), value);
                }
                (None, Ok(value)) => {
                    others.insert(name.replace('\0', "\u{fffd}"), value.into_owned());
                }
                (None, Err(value)) => {
                    others.insert(name.replace('\0', "\u{fffd}"), value);
                }
            }
        }
        let place = self.place(topic, queue);
        let read = match problem {
            Some(problem) => Err(cloudevents::malformed(place, attributes, &self.body, problem)),
            None => content::read(place, self.content_type(), attributes, &self.body),
        };
        read.map_err(|mut malformed| {
            // Whoever wrote it may know it by headers of his own.
            for (name, value) in others {
                malformed.envelope.event.headers.entry(name).or_insert(value.replace('\0', "\u{fffd}"));
            }
            malformed
        })
    }

    /// The headers that somebody wrote, and not the queue.
    fn headers(&self) -> impl Iterator<Item = (&str, &AMQPValue)> {
        let all = self.properties.headers().iter().flat_map(|headers| headers.inner());
        all.map(|(name, value)| (name.as_str(), value)).filter(|(name, _)| !name.starts_with("x-"))
    }

    /// Where it lies: a queue numbers nothing, so what is no event is told by what it holds. Two that are the same in all are
    /// taken for one.
    fn place<'a>(&self, topic: &'a str, queue: &str) -> Place<'a> {
        let mut digest = Digest::new();
        digest.part(queue.as_bytes());
        digest.part(self.properties.message_id().as_ref().map_or("", |id| id.as_str()).as_bytes());
        for (name, value) in self.headers() {
            digest.part(name.as_bytes());
            digest.part(format!("{value:?}").as_bytes());
        }
        digest.part(&self.body);
        let seconds = self.properties.timestamp().and_then(|seconds| i64::try_from(seconds).ok());
        let stored_at = seconds.and_then(|seconds| OffsetDateTime::from_unix_timestamp(seconds).ok());
        Place {
            topic,
            // A sequence is positive.
            position: digest.0 >> 1,
            stored_at: stored_at.unwrap_or(OffsetDateTime::UNIX_EPOCH),
        }
    }
}

/// A value as text; what is not UTF-8 is an error that shows what can be read of it.
fn text(value: &AMQPValue) -> Result<Cow<'_, str>, String> {
    let of_bytes = |bytes: &'_ [u8]| String::from_utf8_lossy(bytes).into_owned();
    match value {
        AMQPValue::LongString(text) => utf8(text),
        AMQPValue::ShortString(text) => Ok(text.as_str().into()),
        AMQPValue::Boolean(flag) => Ok(flag.to_string().into()),
        AMQPValue::ByteArray(bytes) => {
            std::str::from_utf8(bytes.as_slice()).map(Into::into).map_err(|_| of_bytes(bytes.as_slice()))
        }
        AMQPValue::Void => Ok("".into()),
        other => Ok(integer(other).map_or_else(|| format!("{other:?}"), |number| number.to_string()).into()),
    }
}

fn utf8(text: &LongString) -> Result<Cow<'_, str>, String> {
    std::str::from_utf8(text.as_bytes()).map(Into::into).map_err(|_| text.to_string())
}

fn integer(value: &AMQPValue) -> Option<i64> {
    Some(match *value {
        AMQPValue::ShortShortInt(number) => number.into(),
        AMQPValue::ShortShortUInt(number) => number.into(),
        AMQPValue::ShortInt(number) => number.into(),
        AMQPValue::ShortUInt(number) => number.into(),
        AMQPValue::LongInt(number) => number.into(),
        AMQPValue::LongUInt(number) => number.into(),
        AMQPValue::LongLongInt(number) => number,
        AMQPValue::Timestamp(seconds) => i64::try_from(seconds).ok()?,
        _ => return None,
    })
}

/// FNV-1a (Fowler, Noll, Vo), 64 bits, of parts that are told apart.
struct Digest(u64);

impl Digest {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn part(&mut self, bytes: &[u8]) {
        let length = (bytes.len() as u64).to_be_bytes();
        for byte in length.iter().chain(bytes) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{AMQPValue, BasicProperties, FieldTable, Message};

    fn message(headers: &[(&str, AMQPValue)], body: &[u8]) -> Message {
        let mut table = FieldTable::default();
        for (name, value) in headers {
            table.insert((*name).into(), value.clone());
        }
        Message { properties: BasicProperties::default().with_headers(table), body: body.to_vec() }
    }

    #[test]
    fn a_message_of_anybody_keeps_its_headers_and_has_one_id_however_often_it_comes() {
        let who = ("who", AMQPValue::LongString("me".into()));
        let first = message(std::slice::from_ref(&who), b"null");
        let again = message(&[who.clone(), ("x-delivery-count", AMQPValue::LongLongInt(3))], b"null");
        let malformed = |message: &Message, queue| message.read("orders", queue).unwrap_err();
        assert_eq!(malformed(&first, "q.1").envelope.headers["who"], "me");
        assert_eq!(malformed(&first, "q.1"), malformed(&again, "q.1"));
        assert_eq!((first.delivery_count(), again.delivery_count()), (1, 4));
        let others = [
            message(std::slice::from_ref(&who), b"[]"),
            message(&[("whom", who.1)], b"null"),
            message(&[], b"null"),
        ];
        for other in &others {
            assert_ne!(malformed(&first, "q.1").envelope.id, malformed(other, "q.1").envelope.id);
        }
        assert_ne!(malformed(&first, "q.1").envelope.id, malformed(&first, "q.2").envelope.id);
    }

    #[test]
    fn values_of_every_type_are_read_as_text_and_what_is_no_text_is_named() {
        let numbered = message(&[("cloudEvents_partitionkey", AMQPValue::LongInt(7))], b"");
        assert_eq!(numbered.key().as_deref(), Some("7"));
        let other = message(&[("cloudEvents:partitionkey", AMQPValue::Boolean(true))], b"");
        assert_eq!(other.key().as_deref(), Some("true"));
        let binary = message(&[("cloudEvents_id", AMQPValue::LongString(vec![0xff].into()))], b"{}");
        let malformed = binary.read("orders", "q").unwrap_err();
        assert!(malformed.problem.contains("`id` is not UTF-8"), "{}", malformed.problem);
    }
}
