// A reader takes fields that a later release adds.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders", unordered)]
#[serde(deny_unknown_fields)]
struct OrderPlaced {
    order_id: u64,
}

fn main() {}
