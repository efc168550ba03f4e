// A key is the text of its type.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use std::fmt;

#[derive(Serialize, Deserialize, JsonSchema)]
struct OrderId(u64);

impl fmt::Display for OrderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders")]
struct OrderPlaced {
    #[event(key)]
    order_id: Box<OrderId>,
}

fn main() {
    assert_eq!(OrderPlaced { order_id: Box::new(OrderId(7)) }.partition_key().as_deref(), Some("7"));
}
