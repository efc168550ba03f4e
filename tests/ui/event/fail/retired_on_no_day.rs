// The day must be in the calendar.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders", retired = "2026-02-29")]
struct OrderPlaced {
    #[event(key)]
    order_id: u64,
}

fn main() {}
