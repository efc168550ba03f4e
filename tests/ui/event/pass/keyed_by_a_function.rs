// A function makes the partition key.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.moved", version = 3, topic = "orders", key_with = OrderMoved::place)]
struct OrderMoved {
    country: String,
    city: String,
}

impl OrderMoved {
    fn place(&self) -> String {
        format!("{}/{}", self.country, self.city)
    }
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.counted", version = 1, topic = "orders", key_with = keys::first)]
struct OrdersCounted {
    names: Vec<String>,
}

mod keys {
    pub(super) fn first(event: &super::OrdersCounted) -> String {
        event.names[0].clone()
    }
}

fn main() {
    let moved = OrderMoved { country: "CH".into(), city: "Bern".into() };
    assert_eq!(moved.partition_key().as_deref(), Some("CH/Bern"));
    assert_eq!(OrdersCounted { names: vec!["a".into()] }.partition_key().as_deref(), Some("a"));
}
