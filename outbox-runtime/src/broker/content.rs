//! What travels of an event in either content mode of CloudEvents, apart from how each broker names its headers.

use super::{
    Malformed,
    cloudevents::{self, CONTENT_TYPE, ContentMode, DOCUMENT_TYPE, Place},
    structured,
};
use crate::envelope::{Envelope, Headers};
use std::borrow::Cow;

/// The media type of a document as it is written, with the encoding that the bindings ask for.
const DOCUMENT_TYPE_WRITTEN: &str = "application/cloudevents+json; charset=utf-8";

/// The parts of a message.
pub(crate) struct Content<'a> {
    pub(crate) content_type: &'static str,
    pub(crate) attributes: Vec<(&'a str, Cow<'a, str>)>,
    pub(crate) body: Cow<'a, str>,
}

impl ContentMode {
    /// What is written of an event.
    pub(crate) fn write(self, envelope: &Envelope) -> Content<'_> {
        match self {
            Self::Binary => Content {
                content_type: CONTENT_TYPE,
                attributes: cloudevents::attributes(envelope),
                body: envelope.payload.as_str().into(),
            },
            Self::Structured => Content {
                content_type: DOCUMENT_TYPE_WRITTEN,
                // Any beside the document, and readers take the message for one in binary mode.
                attributes: Vec::new(),
                body: structured::to_json(envelope).into(),
            },
        }
    }
}

/// The event that a message holds, in whichever mode it is.
#[expect(clippy::result_large_err, reason = "both sides are an envelope")]
pub(crate) fn read(
    place: Place<'_>,
    content_type: Option<&str>,
    attributes: Headers,
    body: &[u8],
) -> Result<Envelope, Malformed> {
    match is_document(content_type) {
        true => structured::from_json_beside(place, attributes, body),
        false => cloudevents::read(place, attributes, body),
    }
}

/// The partition key in a document; `None` where the message is none.
pub(crate) fn key_of(content_type: Option<&str>, body: &[u8]) -> Option<String> {
    is_document(content_type).then(|| structured::attribute_in(body, "partitionkey")).flatten()
}

/// Whether a media type, with any parameters, is that of a document.
fn is_document(content_type: Option<&str>) -> bool {
    let media_type = content_type.and_then(|text| text.split(';').next());
    media_type.is_some_and(|media_type| media_type.trim().eq_ignore_ascii_case(DOCUMENT_TYPE))
}

#[cfg(test)]
mod tests {
    use super::super::cloudevents::tests::{envelope, place};
    use super::*;

    fn headers_of(content: &Content<'_>) -> Headers {
        let attributes = content.attributes.iter();
        attributes.map(|(name, value)| ((*name).to_owned(), value.to_string())).collect()
    }

    #[test]
    fn each_mode_is_read_as_it_was_written() {
        for mode in [ContentMode::Binary, ContentMode::Structured] {
            let envelope = envelope();
            let content = mode.write(&envelope);
            let (headers, body) = (headers_of(&content), content.body.as_bytes());
            assert_eq!(read(place(), Some(content.content_type), headers, body).as_ref(), Ok(&envelope));
            assert_eq!(key_of(Some(content.content_type), body).is_some(), mode == ContentMode::Structured);
        }
    }

    #[test]
    fn a_document_is_told_by_its_media_type_alone() {
        for text in ["application/cloudevents+json", "Application/CloudEvents+JSON ;charset=UTF-8"] {
            assert!(is_document(Some(text)), "{text}");
        }
        for text in [Some("application/json"), Some("application/cloudevents"), Some(""), None] {
            assert!(!is_document(text), "{text:?}");
        }
    }

    #[test]
    fn a_spoilt_document_stays_in_the_lane_that_its_header_names() {
        let headers = Headers::from([("partitionkey".to_owned(), "7".to_owned())]);
        let malformed = read(place(), Some(DOCUMENT_TYPE), headers, b"{\"data\":").unwrap_err();
        assert_eq!(malformed.envelope.key.as_deref(), Some("7"));
        assert_eq!(malformed.envelope.payload, "{\"data\":");
    }

    #[test]
    fn a_document_of_anybody_goes_in_the_lane_of_its_key() {
        let document = br#"{"partitionkey":"7","data":{}}"#;
        assert_eq!(key_of(Some(DOCUMENT_TYPE), document).as_deref(), Some("7"));
        assert_eq!(key_of(Some(DOCUMENT_TYPE), b"[]"), None);
        assert_eq!(key_of(None, document), None);
    }
}
