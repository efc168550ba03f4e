// The contract is the struct's own.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
struct Plain {
    order_id: u64,
}

#[derive(Event, Clone, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders", unordered)]
#[serde(from = "Plain", into = "Plain")]
struct OrderPlaced {
    order_id: u64,
}

impl From<Plain> for OrderPlaced {
    fn from(plain: Plain) -> Self {
        Self { order_id: plain.order_id }
    }
}

impl From<OrderPlaced> for Plain {
    fn from(event: OrderPlaced) -> Self {
        Self { order_id: event.order_id }
    }
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.paid", version = 1, topic = "orders", unordered)]
#[serde(try_from = "Plain")]
struct OrderPaid {
    order_id: u64,
}

impl TryFrom<Plain> for OrderPaid {
    type Error = String;

    fn try_from(plain: Plain) -> Result<Self, String> {
        Ok(Self { order_id: plain.order_id })
    }
}

fn main() {}
