// A reserved name is refused when a case rule makes it.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders", unordered)]
#[serde(rename_all = "camelCase")]
struct BothWays {
    event_type: String,
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.paid", version = 1, topic = "orders", unordered)]
#[serde(rename_all(serialize = "camelCase"))]
struct WhenWritten {
    event_version: u32,
}

fn main() {}
