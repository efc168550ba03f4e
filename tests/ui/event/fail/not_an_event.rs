// A type that is no event says how to become one.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
struct OrderPlaced {
    order_id: u64,
}

fn enqueue<E: Event>(_: &E) {}

fn place() {
    enqueue(&OrderPlaced { order_id: 7 });
}

fn main() {}
