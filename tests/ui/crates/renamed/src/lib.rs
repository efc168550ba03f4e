//! Events in a package that calls its dependency otherwise.

use events::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An order was placed.
#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders", crate = events)]
pub struct OrderPlaced {
    /// The order.
    #[event(key)]
    pub order_id: u64,
}

#[test]
fn the_event_is_in_the_catalog() {
    let catalog = events::Catalog::collect().unwrap();
    assert_eq!(catalog.events()[0].rust_path, "renamed::OrderPlaced");
}
