// A missing derive is one error that names it.

use outbox::Event;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Event, Serialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders", unordered)]
struct OrderPlaced {
    order_id: u64,
}

fn main() {}
