//! Enqueue, stores, relay, brokers, consumers and dead letters of `outbox`.
