// An event type is made of segments that every broker takes.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "OrderPlaced", version = 1, topic = "orders", unordered)]
struct UpperCase {
    order_id: u64,
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders..placed", version = 1, topic = "orders", unordered)]
struct EmptySegment {
    order_id: u64,
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "", version = 1, topic = "orders", unordered)]
struct Empty {
    order_id: u64,
}

fn main() {}
