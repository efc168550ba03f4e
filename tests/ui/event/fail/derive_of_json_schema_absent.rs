// A missing derive is one error that names it.

use outbox::Event;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize)]
#[event(type = "orders.placed", version = 1, topic = "orders", unordered)]
struct OrderPlaced {
    order_id: u64,
}

fn main() {}
