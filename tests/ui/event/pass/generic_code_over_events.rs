// Generic code may use an event as all that serde and schemars ask for.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders", unordered)]
struct OrderPlaced {
    order_id: u64,
}

fn copy<E: Event>(event: &E) -> E {
    serde_json::from_str(&serde_json::to_string(event).unwrap()).unwrap()
}

fn name<E: Event>() -> String {
    E::schema_name().into_owned()
}

fn main() {
    assert_eq!(copy(&OrderPlaced { order_id: 7 }).order_id, 7);
    assert_eq!(name::<OrderPlaced>(), "OrderPlaced");
}
