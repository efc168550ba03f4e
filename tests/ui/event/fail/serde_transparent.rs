// The JSON of an event is an object.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders", unordered)]
#[serde(transparent)]
struct OrderPlaced {
    order_id: u64,
}

fn main() {}
