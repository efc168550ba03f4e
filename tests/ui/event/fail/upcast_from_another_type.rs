// An upcast stays within one event type.

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
#[event(type = "orders.placed", version = 2, topic = "orders", upcast_from = OrderMade)]
struct OrderPlaced {
    #[event(key)]
    order_id: u64,
}

impl From<OrderMade> for OrderPlaced {
    fn from(old: OrderMade) -> Self {
        Self { order_id: old.order_id }
    }
}

fn main() {}
