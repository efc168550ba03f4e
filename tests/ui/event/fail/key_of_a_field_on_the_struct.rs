// A key field is marked on the field.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders", key = order_id)]
struct OrderPlaced {
    order_id: u64,
}

fn main() {}
