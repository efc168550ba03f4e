//! Events, their descriptors, the catalog, and the schema gate of `outbox`.
//!
//! Without features this crate holds what a crate of events needs: the trait, the catalog, and the contract of an
//! event. The feature `xtask` adds the engine that decides whether a contract may replace another, its reports,
//! the documents, and the commands.

mod catalog;
#[cfg(feature = "xtask")]
pub mod compat;
mod contract;
mod descriptor;
mod event;
mod partition_key;
mod payload;
mod subschema;

pub use catalog::{Catalog, CatalogError, ConsumedEvent, ConsumerEntry};
pub use contract::{Contract, ContractError, dataschema, file_name};
pub use descriptor::{EventDescriptor, EventSource, FieldDescriptor, KeySource};
pub use event::{Event, OnPoison, OrderingMode};
pub use partition_key::PartitionKey;
pub use payload::{DescribedBySchema, ReadFromJson, WrittenAsJson};

/// What generated code calls; exempt from semver.
#[doc(hidden)]
pub mod __private {
    pub use crate::partition_key::{key_of, key_with};
    pub use crate::{
        DescribedBySchema, EventDescriptor, EventSource, FieldDescriptor, KeySource, OnPoison, OrderingMode,
        ReadFromJson, WrittenAsJson,
    };
    pub use inventory::submit;
    pub use std::string::String;
}
