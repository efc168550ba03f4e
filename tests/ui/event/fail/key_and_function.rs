// A key field and a key function exclude each other.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders", key_with = customer)]
struct OrderPlaced {
    #[event(key)]
    order_id: u64,
}

fn customer(event: &OrderPlaced) -> String {
    event.order_id.to_string()
}

fn main() {}
