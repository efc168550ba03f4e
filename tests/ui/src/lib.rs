//! Events that the cases in `consumer/` handle. The cases are in `event/` and `consumer/`, the tests that run them in
//! `tests/`.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An order was placed.
#[derive(Debug, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders")]
pub struct OrderPlaced {
    /// The order.
    #[event(key)]
    pub order_id: u64,
}

/// An order was paid.
#[derive(Debug, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.paid", version = 2, topic = "payments")]
pub struct OrderPaid {
    /// The order.
    #[event(key)]
    pub order_id: u64,
}
