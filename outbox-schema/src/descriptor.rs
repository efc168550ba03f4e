//! What the catalog knows of one event: its declaration, where it stands, and how to make its schemas.

#[cfg(feature = "xtask")]
use crate::asked::{Asked, asked};
use crate::{Event, OnPoison, OrderingMode};
use serde_json::Value;
use std::fmt;

/// One declared (event type, event version), written by `#[derive(Event)]`.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct EventDescriptor {
    /// The event type.
    pub event_type: &'static str,
    /// The event version.
    pub event_version: u32,
    /// The topic.
    pub topic: &'static str,
    /// Whether events of one partition key keep their order.
    pub ordering: OrderingMode,
    /// Where the partition key comes from.
    pub key: KeySource,
    /// What happens to a poison event.
    pub on_poison: OnPoison,
    /// The service that emits the event; by default the package that declares it.
    pub emitted_by: &'static str,
    /// Why the event should no longer be used, and what to use instead.
    pub deprecated: Option<&'static str>,
    /// The last day on which this version must be kept, as `2026-12-31`.
    pub retired: Option<&'static str>,
    /// The lower version that it is made from, if it is from one.
    pub upcast_from: fn() -> Option<u32>,
    /// The lower version that it is written as too, if it is.
    pub also_as: fn() -> Option<u32>,
    /// The doc comment of the struct.
    pub description: &'static str,
    /// The Rust path of the struct.
    pub rust_path: &'static str,
    /// The source file of the struct, as the compiler was given it.
    pub file: &'static str,
    /// The line of the struct's name.
    pub line: u32,
    /// The fields in source order.
    pub fields: &'static [FieldDescriptor],
    /// Makes the JSON Schema of what serde writes.
    pub serialize_schema: fn() -> Value,
    /// Makes the JSON Schema of what serde reads.
    pub deserialize_schema: fn() -> Value,
    /// Decodes a payload (without `eventType` and `eventVersion`) and writes it again.
    pub round_trip: fn(&str) -> Result<String, RoundTripError>,
    /// Reads a payload (without `eventType` and `eventVersion`), and tells the names that the type asks for.
    #[cfg(feature = "xtask")]
    pub asked: fn(&Value) -> Vec<Asked>,
}

/// Where the partition key of an event comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeySource {
    /// The field of that JSON name.
    Field(&'static str),
    /// The function of that path.
    Function(&'static str),
    /// The event is unordered.
    None,
}

/// One field of an event's struct.
#[derive(Debug, Clone, Copy)]
pub struct FieldDescriptor {
    /// The field's name in Rust.
    pub name: &'static str,
    /// The name serde writes; `None` when the field is flattened or not written.
    pub writes: Option<&'static str>,
    /// The names serde reads: the name, then the aliases; empty when the field is flattened or not read.
    pub reads: &'static [&'static str],
    /// Whether the field is flattened into the object.
    pub flatten: bool,
    /// The names that a flattened field brings; none where its type has no schema, or takes any name.
    pub members: fn() -> Vec<String>,
    /// The doc comment of the field.
    pub description: &'static str,
    /// The line of the field's name in the file of the struct.
    pub line: u32,
}

/// What the derive knows of the source; [`EventDescriptor::of`] adds what the type itself says.
#[derive(Debug, Clone, Copy)]
pub struct EventSource {
    /// See [`EventDescriptor::key`].
    pub key: KeySource,
    /// See [`EventDescriptor::emitted_by`].
    pub emitted_by: &'static str,
    /// See [`EventDescriptor::deprecated`].
    pub deprecated: Option<&'static str>,
    /// See [`EventDescriptor::retired`].
    pub retired: Option<&'static str>,
    /// See [`EventDescriptor::description`].
    pub description: &'static str,
    /// See [`EventDescriptor::rust_path`].
    pub rust_path: &'static str,
    /// See [`EventDescriptor::file`].
    pub file: &'static str,
    /// See [`EventDescriptor::line`].
    pub line: u32,
    /// See [`EventDescriptor::fields`].
    pub fields: &'static [FieldDescriptor],
}

impl EventDescriptor {
    /// Describes the event `E`.
    #[must_use]
    pub const fn of<E: Event>(source: EventSource) -> Self {
        Self {
            event_type: E::TYPE,
            event_version: E::VERSION,
            topic: E::TOPIC,
            ordering: E::ORDERING,
            key: source.key,
            on_poison: E::ON_POISON,
            emitted_by: source.emitted_by,
            deprecated: source.deprecated,
            retired: source.retired,
            upcast_from: || E::UPCAST.map(|upcast| upcast.from_version),
            also_as: || E::ALSO_AS.map(|also_as| also_as.version),
            description: source.description,
            rust_path: source.rust_path,
            file: source.file,
            line: source.line,
            fields: source.fields,
            serialize_schema: serialize_schema::<E>,
            deserialize_schema: deserialize_schema::<E>,
            round_trip: round_trip::<E>,
            #[cfg(feature = "xtask")]
            asked: asked::<E>,
        }
    }
}

impl EventDescriptor {
    /// The flattened field that brings the member `name`: the one whose type says so, or else the only one of which
    /// nothing is known.
    pub(crate) fn flattened(&self, name: &str) -> Option<&'static FieldDescriptor> {
        let mut unknown = Vec::new();
        for field in self.fields.iter().filter(|field| field.flatten) {
            let members = (field.members)();
            if members.iter().any(|member| member == name) {
                return Some(field);
            }
            if members.is_empty() {
                unknown.push(field);
            }
        }
        if let [field] = unknown[..] { Some(field) } else { None }
    }
}

fn serialize_schema<E: Event>() -> Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<E>().to_value()
}

fn deserialize_schema<E: Event>() -> Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_deserialize();
    settings.into_generator().into_root_schema_for::<E>().to_value()
}

fn round_trip<E: Event>(payload: &str) -> Result<String, RoundTripError> {
    let event: E = serde_json::from_str(payload).map_err(RoundTripError::Refused)?;
    serde_json::to_string(&event).map_err(RoundTripError::Unwritable)
}

/// Why [`EventDescriptor::round_trip`] has nothing to return; the texts are serde's own.
#[derive(Debug)]
#[non_exhaustive]
pub enum RoundTripError {
    /// The payload can't be read.
    Refused(serde_json::Error),
    /// It was read, and can't be written, such as a variant with `#[serde(skip_serializing)]`.
    Unwritable(serde_json::Error),
}

impl fmt::Display for RoundTripError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Refused(error) | Self::Unwritable(error)) = self;
        error.fmt(f)
    }
}

impl std::error::Error for RoundTripError {}

inventory::collect!(EventDescriptor);
