// A key function gives a `String`.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders", key_with = order)]
struct OrderPlaced {
    order_id: u64,
}

fn order(event: &OrderPlaced) -> Option<String> {
    Some(event.order_id.to_string())
}

fn main() {}
