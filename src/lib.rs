//! Typed events with the transactional outbox pattern.
