// What an upcast leads from must exist.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 2, topic = "orders", upcast_from = OrderPlacedV1)]
struct OrderPlaced {
    #[event(key)]
    order_id: u64,
}

fn main() {}
