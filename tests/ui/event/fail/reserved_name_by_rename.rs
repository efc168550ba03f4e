// A reserved name is refused in each direction.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders", unordered)]
struct OrderPlaced {
    #[serde(rename = "eventType")]
    kind: String,
    #[serde(rename(deserialize = "eventVersion"))]
    version: u32,
}

fn main() {}
