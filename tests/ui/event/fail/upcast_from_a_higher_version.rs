// An upcast leads upwards.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 3, topic = "orders")]
struct OrderPlacedV3 {
    #[event(key)]
    order_id: u64,
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 2, topic = "orders", upcast_from = OrderPlacedV3)]
struct OrderPlaced {
    #[event(key)]
    order_id: u64,
}

impl From<OrderPlacedV3> for OrderPlaced {
    fn from(old: OrderPlacedV3) -> Self {
        Self { order_id: old.order_id }
    }
}

fn main() {}
