//! One event as an entry of a stream: CloudEvents attributes as fields `ce_…`, the payload as the field `data`.

use crate::{
    broker::{
        Malformed,
        cloudevents::{CONTENT_TYPE_NAME, ContentMode, Parts, Place, PrefixedNames},
        content, partition,
    },
    envelope::Envelope,
};
use std::{borrow::Cow, fmt, str::FromStr, sync::LazyLock};
use time::OffsetDateTime;

const PREFIX: &str = "ce_";
const DATA: &str = "data";
static NAMES: LazyLock<PrefixedNames> = LazyLock::new(|| PrefixedNames::behind(PREFIX));

/// The id of an entry: when the server took it, and a number among those of that millisecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct EntryId {
    millis: u64,
    number: u64,
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.millis, self.number)
    }
}

impl FromStr for EntryId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split_once('-').and_then(|(millis, number)| {
            Some(Self { millis: millis.parse().ok()?, number: number.parse().ok()? })
        });
        parts.ok_or_else(|| format!("`{text}` is not the id of an entry"))
    }
}

/// Names and values of an entry, one after the other, as the server gives them.
pub(super) type Fields = Vec<Vec<u8>>;

/// Name and value of a field.
type Field<'a> = (Cow<'a, str>, Cow<'a, str>);

/// The fields of one event, and how many bytes they are.
pub(super) fn write(envelope: &Envelope, mode: ContentMode) -> (Vec<Field<'_>>, usize) {
    let content = mode.write(envelope);
    let mut fields: Vec<Field<'_>> = Vec::with_capacity(content.attributes.len() + 2);
    fields.push((CONTENT_TYPE_NAME.into(), content.content_type.into()));
    fields.extend(content.attributes.into_iter().map(|(name, value)| (NAMES.of(name), value)));
    fields.push((DATA.into(), content.body));
    let bytes = fields.iter().map(|(name, value)| name.len() + value.len()).sum();
    (fields, bytes)
}

/// The partition key, without reading the rest.
pub(super) fn key_of(fields: &Fields) -> Option<String> {
    let (pairs, _) = fields.as_chunks::<2>();
    let value =
        |wanted: &str| pairs.iter().find(|[name, _]| name == wanted.as_bytes()).map(|[_, value]| value);
    if let Some(key) = value("ce_partitionkey") {
        return Some(String::from_utf8_lossy(key).into_owned());
    }
    content::key_of(std::str::from_utf8(value(CONTENT_TYPE_NAME)?).ok(), value(DATA)?)
}

/// The event that an entry holds.
#[expect(clippy::result_large_err, reason = "both sides are an envelope")]
pub(super) fn read(
    topic: &str,
    partition: &str,
    id: EntryId,
    fields: &Fields,
) -> Result<Envelope, Malformed> {
    let (pairs, _) = fields.as_chunks::<2>();
    let (mut parts, mut payload): (Parts, &[u8]) = (Parts::default(), &[]);
    for [name, value] in pairs {
        if name == DATA.as_bytes() {
            payload = value;
        } else {
            parts.add(PREFIX, &String::from_utf8_lossy(name), value);
        }
    }
    parts.read(place(topic, partition, id), payload)
}

/// Where an entry lies. Two partitions number their entries alike, so the partition is told by the nanoseconds, of which a
/// stream knows none: what is no event has an id made of its place.
fn place<'a>(topic: &'a str, partition: &str, id: EntryId) -> Place<'a> {
    let partition =
        if partition == partition::ANY { u32::from(u16::MAX) } else { partition.parse().unwrap_or(0) };
    let nanos = i128::from(id.millis) * 1_000_000 + i128::from(partition);
    Place {
        topic,
        position: (id.millis << 20).wrapping_add(id.number),
        stored_at: OffsetDateTime::from_unix_timestamp_nanos(nanos).unwrap_or(OffsetDateTime::UNIX_EPOCH),
    }
}

#[cfg(test)]
mod tests {
    use super::{EntryId, Fields, place, read};

    fn id(text: &str) -> EntryId {
        text.parse().unwrap()
    }

    #[test]
    fn ids_are_ordered_by_number_and_not_by_text() {
        assert!(id("9-1") < id("10-0") && id("10-2") < id("10-11"));
        assert_eq!(id("1790000000000-3").to_string(), "1790000000000-3");
        assert!("1790000000000".parse::<EntryId>().is_err());
    }

    #[test]
    fn the_same_id_in_two_partitions_is_two_places() {
        let of = |partition| {
            let malformed = read("orders", partition, id("1790000000000-0"), &Fields::new()).unwrap_err();
            malformed.envelope.id
        };
        assert_eq!(of("1"), of("1"));
        assert_ne!(of("1"), of("2"));
        assert_ne!(of("0"), of("any"));
        let positions = ["5-0", "5-1", "6-0"].map(|text| place("orders", "0", id(text)).position);
        assert!(positions.is_sorted());
    }

    #[test]
    fn an_entry_of_anybody_keeps_its_fields() {
        let fields: Fields = ["who", "me", "ce_source", "\u{1}"].map(|text| text.as_bytes().to_vec()).into();
        let malformed = read("orders", "0", id("5-0"), &fields).unwrap_err();
        assert_eq!(malformed.envelope.headers["who"], "me");
        let fields: Fields = vec![b"ce_source".to_vec(), vec![0xff]];
        let malformed = read("orders", "0", id("5-0"), &fields).unwrap_err();
        assert!(malformed.problem.contains("`source` is not UTF-8"), "{}", malformed.problem);
    }
}
