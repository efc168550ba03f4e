// Without the attribute nobody knows which event it is.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
struct OrderPlaced {
    order_id: u64,
}

fn main() {}
