//! Events, their descriptors, the catalog, and the schema gate of `outbox`.

mod catalog;
mod descriptor;
mod event;

pub use catalog::{Catalog, CatalogError, ConsumedEvent, ConsumerEntry};
pub use descriptor::{EventDescriptor, EventSource, FieldDescriptor, KeySource};
pub use event::{Event, OnPoison, OrderingMode};
