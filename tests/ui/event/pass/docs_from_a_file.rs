// Doc comments that are no literal are left out of the description.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[doc = include_str!("docs_from_a_file.rs")]
/// And a line.
#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders", unordered)]
struct OrderPlaced {
    #[doc(hidden)]
    #[cfg_attr(all(), doc = "The order.")]
    order_id: u64,
    #[cfg(any())]
    absent: Absent,
}

fn main() {
    let catalog = outbox::Catalog::collect().unwrap();
    let event = catalog.events()[0];
    assert_eq!(event.description, "And a line.");
    assert_eq!(event.fields.len(), 1);
    assert_eq!(event.fields[0].description, "The order.");
    let _ = OrderPlaced { order_id: 7 }.order_id;
}
