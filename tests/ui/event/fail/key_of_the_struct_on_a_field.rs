// What belongs to the event stands on the struct.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders", unordered)]
struct OrderPlaced {
    #[event(on_poison = "park")]
    order_id: u64,
}

fn main() {}
