// An event declared inside a function.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

fn main() {
    #[derive(Event, Serialize, Deserialize, JsonSchema)]
    #[event(type = "orders.placed", version = 1, topic = "orders", key_with = number)]
    struct OrderPlaced {
        order_id: u64,
    }

    fn number(event: &OrderPlaced) -> String {
        event.order_id.to_string()
    }

    assert_eq!(OrderPlaced { order_id: 7 }.partition_key().as_deref(), Some("7"));
    assert_eq!(outbox::Catalog::collect().unwrap().events().len(), 1);
}
