//! A crate that forbids what registration needs underneath.

#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unused_qualifications, unreachable_pub)]

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders", unordered)]
struct OrderPlaced {
    order_id: u64,
}

fn main() {
    let _: fn(OrderPlaced) -> u64 = |event| event.order_id;
}
