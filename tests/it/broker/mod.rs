//! Every broker against the conformance suite, and what is particular to one.

mod local;
mod nats;
