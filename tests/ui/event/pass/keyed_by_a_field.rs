// A field is the partition key.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use outbox::{OnPoison, OrderingMode};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders")]
struct OrderPlaced {
    #[event(key)]
    order_id: u64,
    coupon: Option<String>,
}

fn main() {
    let event = OrderPlaced { order_id: 7, coupon: None };
    assert_eq!(event.partition_key().as_deref(), Some("7"));
    assert_eq!((OrderPlaced::TYPE, OrderPlaced::VERSION, OrderPlaced::TOPIC), ("orders.placed", 1, "orders"));
    assert_eq!((OrderPlaced::ORDERING, OrderPlaced::ON_POISON), (OrderingMode::Keyed, OnPoison::Park));
}
