// Each key stands once, also over several attributes.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders", unordered, version = 2)]
#[event(topic = "sales")]
struct OrderPlaced {
    order_id: u64,
}

fn main() {}
