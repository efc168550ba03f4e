// An event has no const parameters.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders", unordered)]
struct OrderPlaced<const N: usize> {
    lines: Vec<u64>,
}

fn main() {}
