// Both halves of a pair travel on one topic.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "shop")]
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

fn main() {}
