//! What is checked before a row is written, so that the caller hears it inside the transaction and not the broker later.

use crate::{enqueue::EnqueueError, envelope::NewEvent};

/// The longest source in bytes: it is part of indexes, and one of PostgreSQL takes 2,704 bytes in all.
pub(crate) const SOURCE_BYTES_MAX: usize = 512;
/// The longest partition key that any configuration can ask for, in bytes; beside a source it fits into an index.
pub(crate) const KEY_BYTES_MAX: usize = 1_536;

/// What the configured broker takes. The defaults suit every broker of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The largest payload in bytes, `eventType` and `eventVersion` included; default 256 KiB.
    pub payload_bytes_max: usize,
    /// The largest sum of all header names and values in bytes; default 8 KiB.
    pub header_bytes_max: usize,
    /// The longest partition key in bytes; default 512, and 1,536 at most, whatever stands here.
    pub key_bytes_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { payload_bytes_max: 256 * 1024, header_bytes_max: 8 * 1024, key_bytes_max: 512 }
    }
}

impl Limits {
    /// Checks one event.
    pub(crate) fn check(&self, event: &NewEvent) -> Result<(), EnqueueError> {
        let refused = |problem: String, fix: &'static str| {
            Err(EnqueueError::Refused { event: event.event_type.clone(), problem, fix })
        };
        if event.payload.len() > self.payload_bytes_max {
            return Err(EnqueueError::TooLarge {
                event: event.event_type.clone(),
                size: event.payload.len(),
                max: self.payload_bytes_max,
            });
        }
        // serde_json writes a NUL as the escape; an even run of backslashes before it is text, not an escape.
        if holds_escaped_nul(&event.payload) {
            return refused("the payload has a NUL character".into(), "remove it before the event is made");
        }
        match event.key.as_deref() {
            Some("") => {
                return refused("the partition key is empty".into(), "give every event of this type a key");
            }
            Some(key) if key.len() > self.key_bytes_max.min(KEY_BYTES_MAX) => {
                let (bytes, max) = (key.len(), self.key_bytes_max.min(KEY_BYTES_MAX));
                let problem = format!("the partition key is {bytes} bytes, over the {max}-byte limit");
                return refused(problem, "use a shorter key, such as an id");
            }
            Some(key) if key.contains(char::is_control) => {
                return refused("the partition key has a control character".into(), "use printable text");
            }
            _ => {}
        }
        Self::check_source(event)?;
        let trace = [&event.traceparent, &event.tracestate];
        if trace.into_iter().flatten().any(|text| text.contains(char::is_control)) {
            let problem = "the trace context has a control character".to_owned();
            return refused(problem, "pass on only what came as a W3C trace context");
        }
        self.check_headers(event)
    }

    fn check_source(event: &NewEvent) -> Result<(), EnqueueError> {
        let refused = |problem: String| {
            let fix = "use a short text such as `/orders`";
            Err(EnqueueError::Refused { event: event.event_type.clone(), problem, fix })
        };
        let bytes = event.source.len();
        if bytes > SOURCE_BYTES_MAX {
            return refused(format!("the source is {bytes} bytes, over the {SOURCE_BYTES_MAX}-byte limit"));
        }
        if bytes == 0 || event.source.contains(|c: char| c.is_control() || c.is_whitespace()) {
            return refused(format!("the source {:?} is not a URI reference", event.source));
        }
        Ok(())
    }

    fn check_headers(&self, event: &NewEvent) -> Result<(), EnqueueError> {
        let refused = |problem: String, fix: &'static str| {
            Err(EnqueueError::Refused { event: event.event_type.clone(), problem, fix })
        };
        let mut bytes = 0;
        for (name, value) in &event.headers {
            bytes += name.len() + value.len();
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
            if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
                return refused(
                    format!("the header name {name:?} is not a CloudEvents attribute name"),
                    "use 1 to 64 characters of a-z and 0-9",
                );
            }
            if RESERVED_HEADERS.contains(&name.as_str()) || name.starts_with("outbox") {
                return refused(format!("the header `{name}` is the framework's own"), "choose another name");
            }
            if value.contains(char::is_control) {
                return refused(
                    format!("the value of header `{name}` has a line break or another control character"),
                    "remove it, or put the text into the payload",
                );
            }
        }
        if bytes > self.header_bytes_max {
            let problem =
                format!("the headers are {bytes} bytes, over the {}-byte limit", self.header_bytes_max);
            return refused(problem, "put the text into the payload");
        }
        Ok(())
    }
}

/// The CloudEvents attributes that the envelope itself carries.
const RESERVED_HEADERS: [&str; 13] = [
    "id",
    "source",
    "specversion",
    "type",
    "time",
    "subject",
    "data",
    "dataschema",
    "datacontenttype",
    "partitionkey",
    "sequence",
    "traceparent",
    "tracestate",
];

fn holds_escaped_nul(payload: &str) -> bool {
    payload.match_indices("\\u0000").any(|(at, _)| {
        let backslashes = payload.as_bytes()[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
        backslashes % 2 == 0
    })
}

#[cfg(test)]
mod tests {
    use super::holds_escaped_nul;

    #[test]
    fn an_escaped_nul_is_told_from_the_text_that_looks_like_one() {
        assert!(holds_escaped_nul(r#"{"a":"x\u0000"}"#));
        assert!(holds_escaped_nul(r#"{"a":"x\\\u0000"}"#));
        assert!(!holds_escaped_nul(r#"{"a":"x\\u0000"}"#));
    }
}
