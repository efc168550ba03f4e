// An upcast leads from another version.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 2, topic = "orders", upcast_from = OrderPlaced)]
struct OrderPlaced {
    #[event(key)]
    order_id: u64,
}

fn main() {}
