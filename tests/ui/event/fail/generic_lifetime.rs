// An event has no lifetimes.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders", unordered)]
struct OrderPlaced<'a> {
    #[serde(borrow)]
    note: &'a str,
}

fn main() {}
