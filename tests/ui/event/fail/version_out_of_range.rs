// A version fits into a `u32`.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 4294967296, topic = "orders", unordered)]
struct OrderPlaced {
    order_id: u64,
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.paid", version = -1, topic = "orders", unordered)]
struct OrderPaid {
    order_id: u64,
}

fn main() {}
