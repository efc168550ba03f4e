// There are three policies for poison events.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders", unordered, on_poison = "skp")]
struct OrderPlaced {
    order_id: u64,
}

fn main() {}
