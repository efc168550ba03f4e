//! The payload text: the event's own JSON object with `eventType` and `eventVersion` in front, written in one pass and
//! taken off again without touching the other bytes.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::{borrow::Cow, fmt, fmt::Write};

/// The member that names the event type.
pub(crate) const TYPE_MEMBER: &str = "eventType";
/// The member that names the event version.
pub(crate) const VERSION_MEMBER: &str = "eventVersion";

/// Why an event has no payload text.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PayloadError {
    #[error("serde could not write it")]
    Serialize(#[source] serde_json::Error),
    #[error("it is not a JSON object")]
    NotAnObject,
    #[error("a flattened map brings a member `{0}` of its own")]
    MemberTaken(&'static str),
}

/// Makes a payload as it travels; `write` appends the event's own JSON.
pub(crate) fn write(
    event_type: &str,
    event_version: u32,
    write: impl FnOnce(&mut Vec<u8>) -> serde_json::Result<()>,
) -> Result<String, PayloadError> {
    let mut text = String::with_capacity(256);
    write!(text, "{{\"{TYPE_MEMBER}\":\"{event_type}\",\"{VERSION_MEMBER}\":{event_version}")
        .expect("writing to a string cannot fail");
    let prefix_len = text.len();
    let mut bytes = text.into_bytes();
    write(&mut bytes).map_err(PayloadError::Serialize)?;
    if bytes.get(prefix_len) != Some(&b'{') {
        return Err(PayloadError::NotAnObject);
    }
    // `{"a":1}` continues the object that the prefix opened; `{}` only closes it.
    if bytes[prefix_len + 1] == b'}' {
        bytes.remove(prefix_len);
    } else {
        bytes[prefix_len] = b',';
    }
    let text = String::from_utf8(bytes).expect("serde_json writes UTF-8");
    // The names rarely occur at all, so the parse is paid only by texts that might have them as members.
    for member in [TYPE_MEMBER, VERSION_MEMBER] {
        if text[prefix_len..].contains(member) && count_members(&text, member) != 1 {
            return Err(PayloadError::MemberTaken(member));
        }
    }
    Ok(text)
}

/// A payload without its two members, and what they said.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Opened<'a> {
    /// The event's own JSON object.
    pub(crate) body: Cow<'a, str>,
    /// The event type, if the payload names one.
    pub(crate) event_type: Option<String>,
    /// The event version, if the payload names one.
    pub(crate) event_version: Option<u32>,
}

/// Takes the two members off a payload, from whichever producer. Numbers and texts keep their bytes.
pub(crate) fn open(payload: &str) -> Result<Opened<'_>, serde_json::Error> {
    // A byte-order mark is no JSON, yet some producers write one.
    let payload = payload.strip_prefix('\u{feff}').unwrap_or(payload);
    let members: Members<'_> = serde_json::from_str(payload)?;
    let mut opened = Opened { body: Cow::Borrowed(""), event_type: None, event_version: None };
    let mut body = String::with_capacity(payload.len());
    body.push('{');
    for (name, value) in members.0 {
        match &*name {
            TYPE_MEMBER => opened.event_type = serde_json::from_str(value.get()).ok(),
            VERSION_MEMBER => opened.event_version = serde_json::from_str(value.get()).ok(),
            _ => {
                if body.len() > 1 {
                    body.push(',');
                }
                body.push_str(&serde_json::to_string(&name)?);
                body.push(':');
                body.push_str(value.get());
            }
        }
    }
    body.push('}');
    opened.body = Cow::Owned(body);
    Ok(opened)
}

fn count_members(text: &str, wanted: &str) -> usize {
    serde_json::from_str::<Members<'_>>(text)
        .map_or(0, |members| members.0.iter().filter(|(name, _)| name == wanted).count())
}

/// The top-level members of an object in their order, duplicates included.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry::<String, &'de RawValue>()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}
