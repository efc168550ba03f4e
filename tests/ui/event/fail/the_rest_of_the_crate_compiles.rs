// One mistake is one error, although the event is used elsewhere.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 0, topic = "orders", unordered)]
struct OrderPlaced {
    order_id: u64,
}

fn enqueue<E: Event>(event: &E) -> Option<String> {
    event.partition_key()
}

fn place() -> (u32, Option<String>) {
    (OrderPlaced::VERSION, enqueue(&OrderPlaced { order_id: 7 }))
}

fn main() {}
