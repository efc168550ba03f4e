//! The contract of one event version: what it writes and what it reads, as a file a team commits and reviews.
//!
//! Both schemas describe the payload as it travels, with `eventType` and `eventVersion`. The text is canonical:
//! it does not depend on the order of fields, on doc comments, on the names serde_json keeps in which order, or on
//! anything else that changes neither a written nor a read payload. So a changed file is a changed contract.

#[cfg(feature = "xtask")]
mod file;
mod payload;
mod tidy;
#[cfg(feature = "xtask")]
mod usable;

use crate::date::is_date;
use crate::digest::digest;
use crate::{EventDescriptor, KeySource, OrderingMode, json};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

pub(crate) use payload::members;
#[cfg(feature = "xtask")]
pub(crate) use payload::{AsItTravels, text_without_members};
pub(crate) use tidy::{in_order, sorted};
#[cfg(feature = "xtask")]
pub(crate) use {file::read, usable::fault};

/// The members that every payload carries before its own.
#[cfg(feature = "xtask")]
pub(crate) const MEMBERS: [&str; 2] = [payload::TYPE_MEMBER, payload::VERSION_MEMBER];

/// The version of the file's own form; a higher one was written by a newer outbox.
const FORMAT: u64 = 1;

/// What one (event type, event version) promises to everyone who reads or writes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Contract {
    /// The event type.
    pub event_type: String,
    /// The event version.
    pub event_version: u32,
    /// The topic the event travels on.
    pub topic: String,
    /// Whether events of one partition key keep their order.
    pub ordering: OrderingMode,
    /// Where the partition key comes from, as text: `field order_id`, `function`, or `none`.
    pub key: String,
    /// Further names under which a field is read, by the name it is written with.
    pub aliases: BTreeMap<String, Vec<String>>,
    /// The same for types inside of the event's own: by place, as JSON pointers with `*` for positions in lists and names
    /// in maps, and by the name of the field or the variant there. [`Contract::of`] leaves it empty; the commands of an
    /// xtask find out by trying.
    pub nested_aliases: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    /// Places, as JSON pointers with `*` for positions in lists, where the type refuses some of what `reads` allows.
    ///
    /// A schema can't say everything that a conversion asks for. [`Contract::of`] leaves it empty; the commands of an
    /// xtask find out by trying.
    pub refuses: BTreeSet<String>,
    /// For the places in `refuses`, values that the type takes there, among them the last one before it begins to refuse.
    /// [`Contract::of`] leaves it empty; the commands of an xtask find out by trying.
    pub takes: BTreeMap<String, Vec<Value>>,
    /// The last day on which the version must be kept, as `2026-12-31`, if it is retired.
    pub retired: Option<String>,
    /// Places, written in the same way, where the type reads any name though `reads` has only some, as by
    /// `#[serde(other)]`. [`Contract::of`] leaves it empty; the commands of an xtask find out by trying.
    pub open: BTreeSet<String>,
    /// What names that earlier releases had and this one has not held there, as a JSON Schema, by place as above: no other
    /// field may take such a name. [`Contract::of`] leaves it empty; the commands of an xtask take it from the last release.
    pub reserved: BTreeMap<String, Value>,
    /// The JSON Schema, draft 2020-12, of every payload that is written; its `$id` is the event's `dataschema`.
    pub writes: Value,
    /// The JSON Schema, draft 2020-12, of every payload that is read.
    pub reads: Value,
}

impl Contract {
    /// What a contract says when there is nothing but schemas: version 1, without key or order, no names beside theirs.
    #[cfg(feature = "xtask")]
    pub(crate) fn of_schemas(event_type: &str, topic: &str, writes: Value, reads: Value) -> Self {
        Self {
            event_type: event_type.to_owned(),
            event_version: 1,
            topic: topic.to_owned(),
            ordering: OrderingMode::Unordered,
            key: "none".to_owned(),
            aliases: BTreeMap::new(),
            nested_aliases: BTreeMap::new(),
            refuses: BTreeSet::new(),
            takes: BTreeMap::new(),
            retired: None,
            open: BTreeSet::new(),
            reserved: BTreeMap::new(),
            writes,
            reads,
        }
    }

    /// Makes the contract of an event.
    ///
    /// # Errors
    /// [`ContractError`] when no payload of this event could travel.
    pub fn of(event: &EventDescriptor) -> Result<Self, ContractError> {
        let mut writes = payload::as_it_travels(generated(event.serialize_schema, event)?, event)?;
        let reads = payload::as_it_travels(generated(event.deserialize_schema, event)?, event)?;
        if let Value::Object(root) = &mut writes {
            root.insert("$id".to_owned(), Value::from(dataschema(event.event_type, event.event_version)));
        }
        let aliases = event.fields.iter().filter(|field| field.reads.len() > 1);
        let aliases = aliases.map(|field| {
            let also = field.reads[1..].iter().map(|&name| name.to_owned()).collect();
            (field.writes.unwrap_or(field.reads[0]).to_owned(), also)
        });
        Ok(Self {
            event_type: event.event_type.to_owned(),
            event_version: event.event_version,
            topic: event.topic.to_owned(),
            ordering: event.ordering,
            key: key_text(event.key),
            aliases: aliases.collect(),
            nested_aliases: BTreeMap::new(),
            refuses: BTreeSet::new(),
            takes: BTreeMap::new(),
            retired: event.retired.map(str::to_owned),
            open: BTreeSet::new(),
            reserved: BTreeMap::new(),
            writes: sorted(writes),
            reads: sorted(reads),
        })
    }

    /// The canonical text, which ends with a line break.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut file = BTreeMap::from([
            ("format", owned(FORMAT)),
            ("eventType", owned(&self.event_type)),
            ("eventVersion", owned(self.event_version)),
            ("topic", owned(&self.topic)),
            ("ordering", owned(ordering_word(self.ordering))),
            ("key", owned(&self.key)),
            ("aliases", owned(&self.aliases)),
            ("writes", in_order(&self.writes)),
            ("reads", in_order(&self.reads)),
        ]);
        let further = [
            ("refuses", !self.refuses.is_empty(), owned(&self.refuses)),
            ("takes", !self.takes.is_empty(), owned(&self.takes)),
            ("open", !self.open.is_empty(), owned(&self.open)),
            ("nestedAliases", !self.nested_aliases.is_empty(), owned(&self.nested_aliases)),
            ("reserved", !self.reserved.is_empty(), owned(&self.reserved)),
            ("retired", self.retired.is_some(), owned(&self.retired)),
        ];
        file.extend(
            further.into_iter().filter(|(_, is_stated, _)| *is_stated).map(|(name, _, value)| (name, value)),
        );
        // White space and the order of members play no part in the digest.
        let plain = serde_json::to_string(&file).expect("a JSON value is always written");
        file.insert(DIGEST, owned(digest(&plain)));
        let text = serde_json::to_string_pretty(&file).expect("a JSON value is always written");
        text + "\n"
    }

    /// Reads a contract from its text. A byte-order mark, CRLF and a missing last line break do no harm.
    ///
    /// # Errors
    /// [`ContractError::Unreadable`] or [`ContractError::NewerFormat`].
    pub fn parse(text: &str) -> Result<Self, ContractError> {
        Self::from_file(json::parse(text).map_err(|error| unreadable(error.to_string()))?)
    }

    fn from_file(file: Value) -> Result<Self, ContractError> {
        let Value::Object(mut file) = file else { return Err(unreadable("it is no JSON object".to_owned())) };
        let format = file.get("format").and_then(Value::as_u64).ok_or_else(|| missing("format"))?;
        if format > FORMAT {
            return Err(ContractError::NewerFormat { format });
        }
        let version = file.get("eventVersion").and_then(Value::as_u64);
        let version = version.and_then(|version| u32::try_from(version).ok());
        Ok(Self {
            event_type: text_member(&file, "eventType")?,
            event_version: version.ok_or_else(|| missing("eventVersion"))?,
            topic: text_member(&file, "topic")?,
            ordering: ordering_of(&text_member(&file, "ordering")?)?,
            key: text_member(&file, "key")?,
            aliases: map(&file, "aliases")?,
            nested_aliases: map(&file, "nestedAliases")?,
            retired: file.get("retired").map(date_of).transpose()?,
            refuses: places(&file, "refuses")?,
            takes: map(&file, "takes")?,
            open: places(&file, "open")?,
            reserved: map(&file, "reserved")?,
            writes: schema(&mut file, "writes")?,
            reads: schema(&mut file, "reads")?,
        })
    }

    /// Where the contract is kept inside the folder of schemas: `<type>/v<version>.json`.
    #[must_use]
    pub fn file_name(&self) -> String {
        file_name(&self.event_type, self.event_version)
    }
}

/// The schema that a type makes of itself; code of the user may panic there.
fn generated(schema: fn() -> Value, event: &EventDescriptor) -> Result<Value, ContractError> {
    std::panic::catch_unwind(schema).map_err(|panic| ContractError::Panicked {
        event: event.rust_path,
        reason: panic_text(&*panic),
        file: event.file,
        line: event.line,
    })
}

/// What a panic said.
pub(crate) fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|&text| text.to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}

/// Where the contract of that event is kept inside the folder of schemas.
#[must_use]
pub fn file_name(event_type: &str, event_version: u32) -> String {
    format!("{event_type}/v{event_version}.json")
}

/// The identity of the schema of that event, sent as `dataschema` with every payload.
#[must_use]
pub fn dataschema(event_type: &str, event_version: u32) -> String {
    format!("urn:outbox:{event_type}:{event_version}")
}

/// The word for an ordering mode in contracts and documents.
pub(crate) fn ordering_word(ordering: OrderingMode) -> &'static str {
    match ordering {
        OrderingMode::Keyed => "keyed",
        OrderingMode::Unordered => "unordered",
    }
}

fn ordering_of(word: &str) -> Result<OrderingMode, ContractError> {
    let known = [OrderingMode::Keyed, OrderingMode::Unordered];
    let found = known.into_iter().find(|&mode| ordering_word(mode) == word);
    found.ok_or_else(|| {
        unreadable(format!("`ordering` is `{word}`, which is neither `keyed` nor `unordered`"))
    })
}

/// A member of the file, with all its own in order.
fn owned(member: impl Serialize) -> Cow<'static, Value> {
    Cow::Owned(sorted(json!(member)))
}

/// What tells a file that was changed by hand from one that `schema-accept` wrote.
const DIGEST: &str = "digest";

fn key_text(key: KeySource) -> String {
    match key {
        KeySource::Field(name) => format!("field {name}"),
        // Not its path, which moves without any change on the wire.
        KeySource::Function(_) => "function".to_owned(),
        KeySource::None => "none".to_owned(),
    }
}

fn date_of(value: &Value) -> Result<String, ContractError> {
    let date = value.as_str().filter(|text| is_date(text));
    date.map(str::to_owned).ok_or_else(|| unreadable(format!("`retired` is {value}, which is no date")))
}

fn places(file: &Map<String, Value>, member: &'static str) -> Result<BTreeSet<String>, ContractError> {
    let places = file.get(member).cloned().unwrap_or_else(|| json!([]));
    serde_json::from_value(places).map_err(|error| unreadable(format!("`{member}`: {error}")))
}

fn map<T: DeserializeOwned>(
    file: &Map<String, Value>,
    member: &'static str,
) -> Result<BTreeMap<String, T>, ContractError> {
    let map = file.get(member).cloned().unwrap_or_else(|| json!({}));
    serde_json::from_value(map).map_err(|error| unreadable(format!("`{member}`: {error}")))
}

fn schema(file: &mut Map<String, Value>, member: &'static str) -> Result<Value, ContractError> {
    file.remove(member).filter(Value::is_object).ok_or_else(|| missing(member))
}

fn text_member(file: &Map<String, Value>, member: &'static str) -> Result<String, ContractError> {
    file.get(member).and_then(Value::as_str).map(str::to_owned).ok_or_else(|| missing(member))
}

fn missing(member: &'static str) -> ContractError {
    unreadable(format!("`{member}` is missing or of the wrong type"))
}

fn unreadable(reason: String) -> ContractError {
    ContractError::Unreadable { reason }
}

/// Why there is no contract.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContractError {
    /// A field takes the name of a member that every payload carries.
    Reserved {
        /// The Rust path of the event.
        event: &'static str,
        /// The member, `eventType` or `eventVersion`.
        member: &'static str,
        /// The source file of the event.
        file: &'static str,
        /// The line of the flattened field, or of the struct where it can't be told.
        line: u32,
    },
    /// The event is not written as a JSON object.
    NotAnObject {
        /// The Rust path of the event.
        event: &'static str,
        /// The source file of the event.
        file: &'static str,
        /// The line of the struct.
        line: u32,
    },
    /// The event's schema can't be made.
    Panicked {
        /// The Rust path of the event.
        event: &'static str,
        /// What the panic said.
        reason: String,
        /// The source file of the event.
        file: &'static str,
        /// The line of the struct.
        line: u32,
    },
    /// The text is no contract.
    Unreadable {
        /// What is wrong with it.
        reason: String,
    },
    /// The text was written by a newer outbox.
    NewerFormat {
        /// The format it states.
        format: u64,
    },
}

impl fmt::Display for ContractError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reserved { event, member, file, line } => write!(
                f,
                "{file}:{line}: event `{event}` has a field that is called `{member}` in JSON, the name of a member \
                 that every payload carries; rename it in the flattened type with `#[serde(rename = \"…\")]`"
            ),
            Self::NotAnObject { event, file, line } => write!(
                f,
                "{file}:{line}: event `{event}` is not written as a JSON object, so it has no room for `eventType` \
                 and `eventVersion`; make it a struct with named fields and the usual `Serialize` and `JsonSchema`"
            ),
            Self::Panicked { event, reason, file, line } => write!(
                f,
                "{file}:{line}: the schema of event `{event}` can't be made, as its `JsonSchema` panics: {reason}; \
                 mend the implementation of the field that it speaks of"
            ),
            Self::Unreadable { reason } => {
                write!(f, "not a usable contract: {reason}")
            }
            Self::NewerFormat { format } => write!(
                f,
                "the contract has format {format}, and this outbox knows up to {FORMAT}; update the crate `outbox`"
            ),
        }
    }
}

impl std::error::Error for ContractError {}

#[cfg(test)]
mod tests;
