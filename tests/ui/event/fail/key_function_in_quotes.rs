// A key function is named by its path.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders", key_with = "order")]
struct OrderPlaced {
    order_id: u64,
}

fn main() {}
