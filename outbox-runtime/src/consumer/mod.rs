//! Consumers: each event handled in one transaction with its inbox row, in order within a key.

mod context;
mod decode;
mod handler;
mod lanes;
mod run;
mod states;
mod step;

pub use context::Context;
pub use handler::{HandlerEntry, HandlerError, HandlerFn, Invocation, Permanent, TypeName, permanent};
pub use states::States;

pub(crate) use run::{ConsumerWorker, Source, run};
pub(crate) use step::Consumer;
