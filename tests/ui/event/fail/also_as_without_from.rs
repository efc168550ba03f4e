// To be written too, the lower version is made from the event.

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

fn main() {}
