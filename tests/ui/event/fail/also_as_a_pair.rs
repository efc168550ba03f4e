// A pair is of two.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders")]
struct OrderPlacedV1 {
    #[event(key)]
    order_id: u64,
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 2, topic = "orders", also_as = OrderPlacedV1)]
struct OrderPlaced {
    #[event(key)]
    order_id: u64,
}

impl From<&OrderPlaced> for OrderPlacedV1 {
    fn from(new: &OrderPlaced) -> Self {
        Self { order_id: new.order_id }
    }
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 3, topic = "orders", also_as = OrderPlaced)]
struct OrderPlacedV3 {
    #[event(key)]
    order_id: u64,
}

impl From<&OrderPlacedV3> for OrderPlaced {
    fn from(new: &OrderPlacedV3) -> Self {
        Self { order_id: new.order_id }
    }
}

fn main() {}
