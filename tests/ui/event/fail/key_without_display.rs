// A partition key has a text.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
struct OrderId(u64);

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders")]
struct OrderPlaced {
    #[event(key)]
    order_id: OrderId,
}

fn main() {}
