// A struct without braces is no event: its JSON is `null`.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders", unordered)]
struct OrderPlaced;

fn main() {}
