//! One event as a message of Kafka: CloudEvents attributes as headers `ce_…`, the key as the message's key.

use crate::{
    broker::{
        Malformed,
        cloudevents::{CONTENT_TYPE_NAME, ContentMode, Parts, Place, PrefixedNames},
        content::{self, Content},
    },
    envelope::Envelope,
};
use rdkafka::message::{BorrowedMessage, Header, Headers, Message, OwnedHeaders};
use std::{
    borrow::Cow,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::LazyLock,
};
use time::OffsetDateTime;

const PREFIX: &str = "ce_";
const KEY: &str = "ce_partitionkey";
static NAMES: LazyLock<PrefixedNames> = LazyLock::new(|| PrefixedNames::behind(PREFIX));

/// What is written of an event, and how many bytes it is with its key.
pub(super) struct Written<'a> {
    pub(super) headers: OwnedHeaders,
    pub(super) body: Cow<'a, str>,
    pub(super) size: usize,
}

pub(super) fn write(envelope: &Envelope, mode: ContentMode) -> Written<'_> {
    let Content { content_type, attributes, body } = mode.write(envelope);
    let mut size = body.len() + envelope.key.as_ref().map_or(0, String::len);
    let mut headers = OwnedHeaders::new_with_capacity(attributes.len() + 1);
    let mut add = |headers: OwnedHeaders, name: &str, value: &str| {
        size += name.len() + value.len();
        headers.insert(Header { key: name, value: Some(value) })
    };
    headers = add(headers, CONTENT_TYPE_NAME, content_type);
    for (name, value) in attributes {
        headers = add(headers, &NAMES.of(name), &value);
    }
    Written { headers, body, size }
}

/// A message as it came, apart from the client's memory.
pub(super) struct Record {
    /// Name and value of each header that has a value.
    headers: Vec<(String, Vec<u8>)>,
    /// Whether a header cannot be read.
    is_spoilt: bool,
    key: Option<Vec<u8>>,
    payload: Vec<u8>,
    stored_at_millis: i64,
}

impl Record {
    pub(super) fn of(message: &BorrowedMessage<'_>) -> Self {
        let (headers, is_spoilt) = message.headers().map(read_headers).unwrap_or_default();
        Self {
            headers,
            is_spoilt,
            key: message.key().map(<[u8]>::to_vec),
            payload: message.payload().unwrap_or_default().to_vec(),
            stored_at_millis: message.timestamp().to_millis().unwrap_or(0),
        }
    }

    /// The partition key. Whoever wrote no header for it may have given the message a key.
    pub(super) fn key(&self) -> Option<String> {
        let named = |wanted| self.headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value);
        if let Some(key) = named(KEY).or(self.key.as_ref()) {
            return Some(String::from_utf8_lossy(key).into_owned());
        }
        content::key_of(std::str::from_utf8(named(CONTENT_TYPE_NAME)?).ok(), &self.payload)
    }

    /// The event that the message holds.
    #[expect(clippy::result_large_err, reason = "both sides are an envelope")]
    pub(super) fn read(&self, topic: &str, partition: i32, offset: i64) -> Result<Envelope, Malformed> {
        let mut parts = Parts::default();
        if let Some(key) = &self.key {
            parts.add(PREFIX, KEY, key);
        }
        for (name, value) in &self.headers {
            parts.add(PREFIX, name, value);
        }
        if self.is_spoilt {
            parts.spoil("the name of a header is not UTF-8");
        }
        // Two partitions number their messages alike, so the partition is told by the nanoseconds, of which Kafka knows none:
        // what is no event has an id made of its place.
        let nanos = i128::from(self.stored_at_millis) * 1_000_000 + i128::from(partition);
        let stored_at =
            OffsetDateTime::from_unix_timestamp_nanos(nanos).unwrap_or(OffsetDateTime::UNIX_EPOCH);
        parts.read(Place { topic, position: offset.unsigned_abs(), stored_at }, &self.payload)
    }
}

/// The headers that have a value, and whether one cannot be read.
fn read_headers(headers: &impl Headers) -> (Vec<(String, Vec<u8>)>, bool) {
    let mut read = Vec::with_capacity(headers.count());
    let mut is_spoilt = false;
    for at in 0..headers.count() {
        // The client panics on a name that is not UTF-8, which anybody may write; nothing of it is left half done.
        match catch_unwind(AssertUnwindSafe(|| headers.try_get(at))) {
            Ok(Some(Header { key, value: Some(value) })) => read.push((key.to_owned(), value.to_vec())),
            Ok(_) => {}
            Err(_) => is_spoilt = true,
        }
    }
    (read, is_spoilt)
}

#[cfg(test)]
mod tests {
    use super::{Header, Headers, Record, read_headers};

    fn record(headers: &[(&str, &str)], key: Option<&str>) -> Record {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec()));
        let key = key.map(|key| key.as_bytes().to_vec());
        Record { headers: headers.collect(), is_spoilt: false, key, payload: Vec::new(), stored_at_millis: 5 }
    }

    #[test]
    fn the_same_offset_in_two_partitions_is_two_places() {
        let id =
            |partition, offset| record(&[], None).read("orders", partition, offset).unwrap_err().envelope.id;
        assert_eq!(id(1, 7), id(1, 7));
        assert_ne!(id(1, 7), id(2, 7));
        assert_ne!(id(1, 7), id(1, 8));
    }

    #[test]
    fn a_message_of_anybody_keeps_its_headers_and_goes_in_the_lane_of_its_key() {
        let foreign = record(&[("who", "me")], Some("7"));
        assert_eq!(foreign.key().as_deref(), Some("7"));
        let malformed = foreign.read("orders", 0, 1).unwrap_err();
        assert_eq!(malformed.envelope.key.as_deref(), Some("7"));
        assert_eq!(malformed.envelope.headers["who"], "me");
        let named = record(&[("ce_partitionkey", "8")], Some("7"));
        assert_eq!(named.key(), named.read("orders", 0, 1).unwrap_err().envelope.event.key);
    }

    #[test]
    fn a_header_that_the_client_panics_on_spoils_its_message_alone() {
        struct Panics;
        impl Headers for Panics {
            fn count(&self) -> usize {
                3
            }

            fn try_get(&self, at: usize) -> Option<Header<'_, &[u8]>> {
                assert_ne!(at, 1, "not UTF-8");
                (at < 3).then_some(Header { key: "who", value: (at == 0).then_some(&b"me"[..]) })
            }
        }
        let (headers, is_spoilt) = read_headers(&Panics);
        assert_eq!(headers, [("who".to_owned(), b"me".to_vec())]);
        let record = Record { is_spoilt, ..record(&[], None) };
        assert!(record.read("orders", 0, 1).unwrap_err().problem.contains("not UTF-8"));
    }
}
