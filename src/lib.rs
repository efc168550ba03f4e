//! Typed events with the transactional outbox pattern.

pub use outbox_macros::Event;
pub use outbox_schema::{
    Catalog, CatalogError, ConsumedEvent, ConsumerEntry, DescribedBySchema, Event, EventDescriptor,
    FieldDescriptor, KeySource, OnPoison, OrderingMode, PartitionKey, ReadFromJson, WrittenAsJson,
};

/// What generated code calls; exempt from semver.
#[doc(hidden)]
pub mod __private {
    pub use outbox_schema::__private::*;
}
