// Readers in other languages find the partition key in the JSON.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders")]
struct Skipped {
    #[event(key)]
    #[serde(skip_serializing_if = "String::is_empty")]
    order_id: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Order {
    id: u64,
}

impl std::fmt::Display for Order {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.id.fmt(f)
    }
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.paid", version = 1, topic = "orders")]
struct Flattened {
    #[event(key)]
    #[serde(flatten)]
    order: Order,
}

fn main() {}
