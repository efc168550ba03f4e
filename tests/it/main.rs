//! The one integration test binary.
#![allow(clippy::unwrap_used)]

mod alerts;
mod asking;
mod broker;
mod changes;
mod cli;
mod contract;
mod crash;
mod deadly;
mod dependency_tree;
mod end_to_end;
mod enqueue;
mod failures;
mod gate_property;
mod github_events;
mod history;
mod isolation;
mod leading;
mod macros;
mod promise;
mod quickstart;
mod relays;
mod replaying;
mod retention;
mod scheduled;
mod schema_cases;
mod schema_gate;
mod servers;
mod simulation;
mod start;
mod stop;
mod store;
mod tidy;
mod torture;
mod user_crate;
mod versions;
