//! The one integration test binary.
#![allow(clippy::unwrap_used)]

mod broker;
mod contract;
mod crash;
mod dependency_tree;
mod enqueue;
mod macros;
mod promise;
mod schema_cases;
mod servers;
mod start;
mod store;
mod tidy;
mod user_crate;
