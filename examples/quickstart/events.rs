//! What the shop tells of. In a larger system this is a crate of its own, which every service that takes part uses.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A customer placed an order.
#[derive(Debug, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders")]
pub(crate) struct OrderPlaced {
    /// Events of one order reach a handler in the order they were written.
    #[event(key)]
    pub(crate) order_id: i64,
    /// What the customer pays.
    pub(crate) cents: i64,
}
