//! Every store against the conformance suite, and what is particular to one.

mod postgres;
mod sqlite;
