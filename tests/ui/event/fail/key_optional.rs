// A partition key is never absent.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders")]
struct OrderPlaced {
    #[event(key)]
    order_id: std::option::Option<u64>,
}

fn main() {}
