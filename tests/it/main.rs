//! The one integration test binary.
#![allow(clippy::unwrap_used)]

mod dependency_tree;
mod servers;
mod tidy;
