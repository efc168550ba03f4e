//! What every store and every broker must do, as suites that their authors run against their own.
//!
//! A suite panics at the first broken rule, so it is called from a test. It prints each rule before it checks it, and
//! each that it leaves out because the capability is not declared.

pub mod broker;
pub mod store;
