//! Consumers: each event handled in one transaction with its inbox row, in order within a key.

mod argument;
mod caution;
mod chain;
mod context;
mod decode;
mod extract;
mod handler;
mod lanes;
mod run;
mod states;
mod step;

pub use context::Context;
pub use extract::{DeliveryParts, FromDelivery, State};
pub use handler::{
    HandlerEntry, HandlerError, HandlerFn, HandlerOutcome, Invocation, Permanent, TypeName, permanent,
};
pub use states::States;

/// What the code of `#[consumer]` calls.
#[doc(hidden)]
pub mod generated {
    pub use super::argument::*;
    pub use super::handler::outcome;
}

pub(crate) use run::{ConsumerWorker, Source, run};
pub(crate) use step::Consumer;
