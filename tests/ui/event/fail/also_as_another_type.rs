// A pair is of one event type.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.made", version = 1, topic = "orders")]
struct OrderMade {
    #[event(key)]
    order_id: u64,
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 2, topic = "orders", also_as = OrderMade)]
struct OrderPlaced {
    #[event(key)]
    order_id: u64,
}

impl From<&OrderPlaced> for OrderMade {
    fn from(new: &OrderPlaced) -> Self {
        Self { order_id: new.order_id }
    }
}

fn main() {}
