//! SQLite as a store.
