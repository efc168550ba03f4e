//! Events, their descriptors, the catalog, and the schema gate of `outbox`.
//!
//! Without features this crate holds what a crate of events needs: the trait, the catalog, and the contract of an
//! event. The feature `xtask` adds the engine that decides whether a contract may replace another, its reports,
//! the documents, and the commands.

#[cfg(feature = "xtask")]
mod asked;
#[cfg(feature = "xtask")]
mod baseline;
mod catalog;
#[cfg(feature = "xtask")]
pub mod compat;
mod contract;
mod date;
mod descriptor;
mod digest;
#[cfg(feature = "xtask")]
mod docs;
mod event;
mod event_set;
mod flattened;
mod json;
mod partition_key;
mod payload;
#[cfg(feature = "xtask")]
mod report;
#[cfg(feature = "xtask")]
mod samples;
mod subschema;
mod versions;
#[cfg(feature = "xtask")]
mod waiver;
#[cfg(feature = "xtask")]
pub mod xtask;

#[cfg(feature = "xtask")]
pub use asked::{About, Asked};
pub use catalog::{Catalog, CatalogError, ConsumedEvent, ConsumerEntry};
pub use contract::{Contract, ContractError, dataschema, file_name};
pub use descriptor::{EventDescriptor, EventSource, FieldDescriptor, KeySource, RoundTripError};
pub use event::{Event, OnPoison, OrderingMode};
pub use event_set::{DecodeError, EncodedEvent, EventSet, EventVariant};
pub use partition_key::PartitionKey;
pub use payload::{DescribedBySchema, ReadFromJson, WrittenAsJson};
pub use versions::{AlsoAs, Lower, LowerOf, Upcast, UpcastFrom};

/// What generated code calls; exempt from semver.
#[doc(hidden)]
pub mod __private {
    pub use crate::event_set::{decode_into, events_of};
    pub use crate::flattened::{Flattened, Undescribed, none};
    pub use crate::partition_key::{key_of, key_with};
    pub use crate::versions::{also_as, upcast};
    pub use crate::{
        AlsoAs, ConsumedEvent, ConsumerEntry, DescribedBySchema, EventDescriptor, EventSource, EventVariant,
        FieldDescriptor, KeySource, OnPoison, OrderingMode, ReadFromJson, Upcast, WrittenAsJson,
    };
    pub use inventory::submit;
    pub use std::{boxed::Box, string::String, vec::Vec};
}
