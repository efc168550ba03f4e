//! Derives and attributes of the crate `outbox`.
