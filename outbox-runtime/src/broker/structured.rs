//! An event as one CloudEvents document (structured mode): its attributes and its payload side by side in a JSON object.
//!
//! The payload stands in `data` with its very bytes where it is JSON, and in `data_base64` where it is not.

use super::{
    Malformed,
    cloudevents::{CONTENT_TYPE, Place, attributes, read, stand_in},
};
use crate::envelope::{Envelope, Headers};
use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::value::RawValue;
use std::{borrow::Cow, collections::BTreeMap};

/// The media type of such a document.
pub const DOCUMENT_TYPE: &str = "application/cloudevents+json";

const DATA: &str = "data";
const DATA_BASE64: &str = "data_base64";
const DATA_TYPE: &str = "datacontenttype";

/// The event as a document, without a line break but those of its payload.
///
/// # Panics
/// When the year has more than four digits, as in no time that a store gives.
#[must_use]
pub fn to_json(envelope: &Envelope) -> String {
    let payload = &envelope.payload;
    let is_json = serde_json::from_str::<&RawValue>(payload).is_ok_and(|value| value.get() == payload);
    let mut members: BTreeMap<&str, Cow<'_, str>> = attributes(envelope).into_iter().collect();
    members.insert(DATA_TYPE, CONTENT_TYPE.into());
    if !is_json {
        members.insert(DATA_BASE64, BASE64_STANDARD.encode(payload).into());
    }
    let mut text = serde_json::to_string(&members).expect("a map of texts is always written");
    if is_json {
        text.truncate(text.len() - 1);
        text.push_str(",\"data\":");
        text.push_str(payload);
        text.push('}');
    }
    text
}

/// The event that a document holds, from whichever producer.
///
/// # Errors
/// [`Malformed`] with the document as its payload, or with the document's own payload where only that is no event.
#[expect(clippy::result_large_err, reason = "both sides are an envelope")]
pub fn from_json(place: Place<'_>, document: &[u8]) -> Result<Envelope, Malformed> {
    from_json_beside(place, Headers::new(), document)
}

/// As [`from_json`], of a document with attributes beside it, which count where the document cannot be read.
#[expect(clippy::result_large_err, reason = "both sides are an envelope")]
pub(super) fn from_json_beside(
    place: Place<'_>,
    beside: Headers,
    document: &[u8],
) -> Result<Envelope, Malformed> {
    let no_document =
        |problem: String| Malformed { envelope: stand_in(place, beside.clone(), document), problem };
    // One of two members of a name would be lost in a map, so `data` is found apart from the attributes.
    let mut members: BTreeMap<String, &RawValue> = serde_json::from_slice(document)
        .map_err(|error| no_document(format!("it is no CloudEvents document: {error}")))?;
    let (data, data_base64) = (members.remove(DATA), members.remove(DATA_BASE64));
    let attributes: Headers =
        members.into_iter().filter_map(|(name, value)| Some((name, text_of(value)?))).collect();
    let decoded = data_base64.and_then(text_of).map(|text| BASE64_STANDARD.decode(text));
    match (data, decoded) {
        (None, Some(Ok(payload))) => read(place, attributes, &payload),
        (Some(payload), None) => read(place, attributes, payload.get().as_bytes()),
        (_, Some(Err(error))) => Err(no_document(format!("`{DATA_BASE64}` is not base64: {error}"))),
        (Some(_), Some(_)) => Err(no_document(format!("it has both `{DATA}` and `{DATA_BASE64}`"))),
        (None, None) => Err(no_document(format!("it has no `{DATA}`"))),
    }
}

/// One attribute of a document.
#[cfg(any(feature = "kafka", feature = "nats", feature = "rabbitmq", feature = "redis"))]
pub(super) fn attribute_in(document: &[u8], name: &str) -> Option<String> {
    let members: BTreeMap<String, &RawValue> = serde_json::from_slice(document).ok()?;
    text_of(members.get(name)?)
}

/// An attribute as text: numbers and truth values as they stand, and nothing for `null`.
fn text_of(value: &RawValue) -> Option<String> {
    let text = value.get();
    match text.as_bytes() {
        [b'"', ..] => serde_json::from_str(text).ok(),
        b"null" => None,
        _ => Some(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::cloudevents::tests::{envelope, place};
    use super::*;
    use serde_json::Value;

    #[test]
    fn a_document_is_read_as_it_was_written_with_the_bytes_of_its_payload() {
        let mut envelope = envelope();
        envelope.event.headers.insert("odd".to_owned(), " \"é\" \\ 😀".to_owned());
        for payload in [
            r#"{"eventType":"orders.placed","eventVersion":2,"total":1.50}"#,
            "{\"eventType\":\"orders.placed\",\"eventVersion\":2,\n \"a\": \"\\u0041\",\"a\":null,\"n\":12345678901234567890}",
        ] {
            envelope.event.payload = payload.to_owned();
            assert_eq!(from_json(place(), to_json(&envelope).as_bytes()), Ok(envelope.clone()));
        }
    }

    #[test]
    fn another_program_reads_a_document_as_plain_json() {
        let document: Value = serde_json::from_str(&to_json(&envelope())).unwrap();
        assert_eq!(document["specversion"], "1.0");
        assert_eq!(document["datacontenttype"], "application/json");
        assert_eq!(document["partitionkey"], "7");
        assert_eq!(document["data"]["total"], 1.5);
        let mut members = document.as_object().unwrap().clone();
        members.insert("sequence".to_owned(), Value::from(9_000_000_000_000_000_001_u64));
        members.insert("tracestate".to_owned(), Value::Null);
        let read = from_json(place(), Value::Object(members).to_string().as_bytes()).unwrap();
        assert_eq!((read.seq.0, &read.tracestate), (9_000_000_000_000_000_001, &None));
    }

    #[test]
    fn a_payload_that_is_no_event_is_malformed_and_comes_back_as_it_was() {
        let mut envelope = envelope();
        for payload in ["", "null", "[]", "{}", "\u{feff}{}", "plain text \u{1}", " {} "] {
            envelope.event.payload = payload.to_owned();
            let malformed = from_json(place(), to_json(&envelope).as_bytes()).unwrap_err();
            assert_eq!(malformed.envelope.payload, payload, "{}", malformed.problem);
        }
    }

    #[test]
    fn what_is_no_document_is_malformed_and_says_why() {
        for (document, problem) in [
            ("", "no CloudEvents document"),
            ("[]", "no CloudEvents document"),
            ("{\"id\":\"1\"}", "no `data`"),
            ("{\"data\":{},\"data_base64\":\"\"}", "both"),
            ("{\"data_base64\":\"%\"}", "not base64"),
        ] {
            let malformed = from_json(place(), document.as_bytes()).unwrap_err();
            assert!(malformed.problem.contains(problem), "{document}: {}", malformed.problem);
            assert_eq!(malformed.envelope.payload, document);
        }
    }
}
