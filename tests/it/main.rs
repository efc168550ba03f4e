//! The one integration test binary.
#![allow(clippy::unwrap_used)]

mod broker;
mod cli;
mod contract;
mod dependency_tree;
mod macros;
mod schema_cases;
mod servers;
mod store;
mod tidy;
mod user_crate;
