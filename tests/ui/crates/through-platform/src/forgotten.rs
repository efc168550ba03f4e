//! An event that does not say where `outbox` is.

use platform::outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An order was sent.
#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.sent", version = 1, topic = "orders", unordered)]
pub struct OrderSent {
    /// The order.
    pub order_id: u64,
}
