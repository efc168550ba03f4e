//! The local broker: a consumer reads the log of its own store.
