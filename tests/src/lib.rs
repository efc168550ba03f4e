//! Private servers, worlds, histories and benches for the tests of `outbox`.
//!
//! A library of test code: a broken assumption ends the test, so it panics instead of returning errors.
#![allow(clippy::unwrap_used)]

pub mod programs;
pub mod proxy;
pub mod servers;
