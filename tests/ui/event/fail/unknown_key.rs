// A misspelt key is one error, not also a missing one.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", verion = 1, topic = "orders", unordered)]
struct OrderPlaced {
    order_id: u64,
}

fn main() {}
