//! CloudEvents attributes as headers of NATS: the prefix `ce-`, and values percent-encoded as the binding asks.

use crate::{
    broker::{
        cloudevents::NAMES,
        content::{self, Content},
    },
    envelope::Headers,
};
use async_nats::{HeaderMap, HeaderName, header::IntoHeaderName};
use std::{borrow::Cow, collections::HashMap, fmt::Write, sync::LazyLock};

const PREFIX: &str = "ce-";
const CONTENT_TYPE_NAME: &str = "content-type";
/// What the server dedups by.
const MESSAGE_ID_NAME: &str = "Nats-Msg-Id";

/// The headers of a message with that content, and how many bytes they take on the wire.
pub(super) fn write(content: &Content<'_>, message_id: uuid::Uuid) -> (HeaderMap, usize) {
    let mut headers = HeaderMap::new();
    // The line that opens a header block and the empty one that closes it.
    let mut bytes = "NATS/1.0\r\n\r\n".len();
    let mut insert = |name: HeaderName, value: &str| {
        let name_text: &str = name.as_ref();
        bytes += name_text.len() + ": \r\n".len() + value.len();
        headers.insert(name, value);
    };
    insert(HeaderName::from_static(MESSAGE_ID_NAME), &message_id.to_string());
    insert(HeaderName::from_static(CONTENT_TYPE_NAME), content.content_type);
    for (name, value) in &content.attributes {
        insert(name_of(name), &encode(value));
    }
    (headers, bytes)
}

/// An attribute's header. The client checks and copies a name each time it is made, so those of every event are made once.
fn name_of(attribute: &str) -> HeaderName {
    static KNOWN: LazyLock<HashMap<&str, HeaderName>> =
        LazyLock::new(|| NAMES.into_iter().map(|name| (name, new_name_of(name))).collect());
    KNOWN.get(attribute).cloned().unwrap_or_else(|| new_name_of(attribute))
}

fn new_name_of(attribute: &str) -> HeaderName {
    format!("{PREFIX}{attribute}").into_header_name()
}

/// The attributes in the headers of one message.
pub(super) fn read(headers: Option<&HeaderMap>) -> Headers {
    let all = headers.into_iter().flat_map(HeaderMap::iter);
    all.filter_map(|(name, values)| {
        let name = name.to_string().to_ascii_lowercase();
        let value = decode(values.first()?.as_str());
        Some((name.strip_prefix(PREFIX)?.to_owned(), value))
    })
    .collect()
}

/// The media type of one message.
pub(super) fn content_type(headers: Option<&HeaderMap>) -> Option<&str> {
    let (_, values) = headers?.iter().find(|(name, _)| {
        let name: &str = name.as_ref();
        name.eq_ignore_ascii_case(CONTENT_TYPE_NAME)
    })?;
    Some(values.first()?.as_str())
}

/// The partition key of one message, without reading the rest.
pub(super) fn key(headers: Option<&HeaderMap>, body: &[u8]) -> Option<String> {
    read(headers).remove("partitionkey").or_else(|| content::key_of(content_type(headers), body))
}

/// Encodes the characters that a header cannot carry, or that the encoding itself needs.
fn encode(value: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| matches!(byte, 0x21..=0x7e) && !matches!(byte, b'"' | b'%');
    if value.bytes().all(is_plain) {
        return value.into();
    }
    let mut encoded = String::with_capacity(value.len() + 16);
    for byte in value.bytes() {
        if is_plain(byte) {
            encoded.push(char::from(byte));
        } else {
            write!(encoded, "%{byte:02X}").expect("writing to a string cannot fail");
        }
    }
    encoded.into()
}

/// Takes one round of encoding off. What is no encoding, from a producer that does not encode, stays as it is.
pub(super) fn decode(value: &str) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let hex = (first == b'%').then(|| tail.get(..2)).flatten();
        let digits = hex.and_then(|hex| std::str::from_utf8(hex).ok()).filter(|hex| !hex.starts_with('+'));
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn values_are_encoded_as_the_binding_asks() {
        assert_eq!(encode("Euro € 😀"), "Euro%20%E2%82%AC%20%F0%9F%98%80");
        assert_eq!(encode(r#"100% "sure""#), "100%25%20%22sure%22");
        assert_eq!(encode("urn:outbox:orders.placed:2"), "urn:outbox:orders.placed:2");
    }

    #[test]
    fn decoding_takes_one_round_off() {
        for text in ["", "plain", "a b", "%", "%zz", "50%25", "100% \"sure\" €", "\u{1f600}", "%+1", "%E2"]
        {
            assert_eq!(decode(&encode(text)), text);
        }
        assert_eq!(decode("not%encoded"), "not%encoded");
        assert_eq!(decode("half%e2"), "half%e2");
    }
}
