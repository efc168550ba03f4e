// An optional key is refused where the macro cannot see it, too.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

type Maybe = Option<u64>;

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders")]
struct OrderPlaced {
    #[event(key)]
    order_id: Maybe,
}

fn main() {}
