//! Enqueue, stores, relay, brokers, consumers and dead letters of `outbox`.
//!
//! Use it through the crate `outbox`.

pub mod backoff;
pub mod broker;
mod clock;
pub mod consumer;
pub mod cursor;
pub mod dead_letter;
mod enqueue;
pub mod envelope;
pub mod held;
pub mod lease;
mod payload;
mod preflight;
mod runner;
pub mod store;
mod telemetry;
#[cfg(feature = "validate")]
mod validate;
mod wake;

pub use enqueue::{Draft, EnqueueError, IntoDraft, Outbox, OutboxBuilder, Tx, draft};
pub use preflight::Limits;
