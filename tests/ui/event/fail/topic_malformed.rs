// A topic is one segment that every broker takes.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "Orders.EU", unordered)]
struct OrderPlaced {
    order_id: u64,
}

fn main() {}
