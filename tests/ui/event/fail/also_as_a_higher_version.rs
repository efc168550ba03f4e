// The event itself is the newer half of a pair.

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
#[event(type = "orders.placed", version = 2, topic = "orders", also_as = OrderPlacedV3)]
struct OrderPlaced {
    #[event(key)]
    order_id: u64,
}

impl From<&OrderPlaced> for OrderPlacedV3 {
    fn from(new: &OrderPlaced) -> Self {
        Self { order_id: new.order_id }
    }
}

fn main() {}
