// All mistakes of one item are reported together.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "Orders Placed", version = 0, topik = "orders", on_poison = "drop")]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct OrderPlaced {
    #[event(key)]
    order_id: Option<u64>,
    #[event(key)]
    customer_id: u64,
    event_type: String,
}

fn main() {}
