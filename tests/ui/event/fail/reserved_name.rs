// The wire format keeps two names for itself.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders", unordered)]
struct OrderPlaced {
    #[allow(non_snake_case)]
    eventType: String,
}

fn main() {}
