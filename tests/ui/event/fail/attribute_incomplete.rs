// Type, version and topic are required.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(unordered)]
struct OrderPlaced {
    order_id: u64,
}

fn main() {}
