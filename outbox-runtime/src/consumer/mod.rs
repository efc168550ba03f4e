//! Consumers: each event handled in one transaction with its inbox row, in order within a key.

mod context;

pub use context::Context;
