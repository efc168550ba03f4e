//! Typed events with the transactional outbox pattern.
//!
#![doc = include_str!("../README.md")]

#[cfg(feature = "runtime")]
pub use outbox_macros::consumer;
pub use outbox_macros::{Event, EventSet};
pub use outbox_schema::{
    AlsoAs, Catalog, CatalogError, ConsumedEvent, ConsumerEntry, DecodeError, DescribedBySchema,
    EncodedEvent, Event, EventDescriptor, EventSet, EventVariant, FieldDescriptor, KeySource, Lower, LowerOf,
    OnPoison, OrderingMode, PartitionKey, ReadFromJson, RoundTripError, Upcast, UpcastFrom, WrittenAsJson,
};

/// Compiles the examples of the page.
#[cfg(doctest)]
#[doc = include_str!("../docs/versions.md")]
struct VersionsPage;

#[cfg(feature = "cli")]
pub mod cli;

#[cfg(feature = "runtime")]
pub use outbox_runtime::{
    Draft, EnqueueError, Growth, IntoDraft, Limits, Outbox, OutboxBuilder, RunError, Runner, RunnerBuilder,
    Settings, Tx,
    backoff::RetryPolicy,
    broker,
    consumer::{self, Context, DeliveryParts, FromDelivery, Permanent, State, permanent},
    cursor::{self, Start},
    dead_letter::{self, AuditFilter, DeadLetter, DeadLetterFilter, Terms},
    draft,
    envelope::{self, EventId},
    finding::{self, Finding, Tolerance},
    held, lease, marker,
    range::{self, Range},
    relay::{self, RelayConfig},
    scheduled::{self, Cancellation, Scheduled, ScheduledFilter},
    store::{self, EventState, Forgetting, Store, StoreError},
};

pub use outbox_schema::{Contract, ContractError, dataschema};
#[cfg(feature = "xtask")]
pub use outbox_schema::{compat, xtask};

#[cfg(feature = "kafka")]
pub use outbox_runtime::broker::kafka;
#[cfg(feature = "nats")]
pub use outbox_runtime::broker::nats;
#[cfg(feature = "rabbitmq")]
pub use outbox_runtime::broker::rabbitmq;
#[cfg(feature = "redis")]
pub use outbox_runtime::broker::redis;
#[cfg(feature = "conformance")]
pub use outbox_runtime::conformance;
#[cfg(feature = "postgres")]
pub use outbox_runtime::store::postgres;
#[cfg(feature = "sqlite")]
pub use outbox_runtime::store::sqlite;
#[cfg(feature = "webhook")]
pub use outbox_runtime::{Webhook, WebhookError};

/// What generated code calls; exempt from semver.
#[doc(hidden)]
pub mod __private {
    #[cfg(feature = "runtime")]
    pub use outbox_runtime::__private::*;
    pub use outbox_schema::__private::*;
}
