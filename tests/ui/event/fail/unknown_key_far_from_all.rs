// A key near to none gets the whole list.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders", unordered, colour = "red")]
struct OrderPlaced {
    order_id: u64,
}

fn main() {}
