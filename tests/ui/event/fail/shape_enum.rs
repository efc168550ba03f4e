// An enum is no event.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders")]
enum OrderChanged {
    Placed { order_id: u64 },
    Paid { order_id: u64 },
}

fn main() {}
