//! The one integration test binary.
#![allow(clippy::unwrap_used)]

mod broker;
mod dependency_tree;
mod macros;
mod servers;
mod store;
mod tidy;
