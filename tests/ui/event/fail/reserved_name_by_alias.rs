// A reserved name is refused as an alias.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders", unordered)]
struct OrderPlaced {
    #[serde(alias = "kind", alias = "eventType")]
    order_kind: String,
}

fn main() {}
