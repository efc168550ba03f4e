//! PostgreSQL as a store.
