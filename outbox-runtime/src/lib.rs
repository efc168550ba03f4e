//! Enqueue, stores, relay, brokers, consumers and dead letters of `outbox`.
//!
//! Use it through the crate `outbox`.

mod alert;
pub mod backoff;
pub mod broker;
mod clock;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod consumer;
pub mod cursor;
pub mod dead_letter;
mod doctor;
mod draft;
mod enqueue;
pub mod envelope;
pub mod finding;
mod forgetting;
#[doc(hidden)]
pub mod gaps;
pub mod held;
mod held_watch;
mod leadership;
pub mod lease;
pub mod marker;
mod pause;
mod payload;
mod poison;
mod preflight;
pub mod range;
pub mod relay;
mod replay;
mod runner;
mod schedule;
pub mod scheduled;
#[cfg(feature = "simulation")]
mod simulated;
#[cfg(not(feature = "simulation"))]
#[path = "simulated_never.rs"]
mod simulated;
#[cfg(feature = "simulation")]
#[doc(hidden)]
pub mod simulation;
mod start;
pub mod store;
mod suspicion;
mod telemetry;
mod upkeep;
#[cfg(feature = "validate")]
mod validate;
mod wake;
#[cfg(feature = "webhook")]
mod webhook;

pub use alert::Growth;
pub use draft::{Draft, IntoDraft, draft};
pub use enqueue::{EnqueueError, Outbox, OutboxBuilder, Tx};
pub use preflight::Limits;
pub use runner::{Runner, RunnerBuilder, Settings};
pub use start::RunError;
#[cfg(feature = "webhook")]
pub use webhook::{Webhook, WebhookError};

/// What generated code calls; exempt from semver.
#[doc(hidden)]
pub mod __private {
    pub use crate::backoff::RetryPolicy;
    pub use crate::consumer::{HandlerEntry, generated::*};
    pub use std::time::Duration;
}
