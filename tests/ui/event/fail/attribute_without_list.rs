// The attribute takes a list.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event]
struct OrderPlaced {
    order_id: u64,
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event = "orders.placed"]
struct OrderPaid {
    order_id: u64,
}

fn main() {}
