//! Events in a package of the oldest supported edition.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An order was placed.
#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders")]
pub struct OrderPlaced {
    /// The order.
    #[event(key)]
    pub order_id: u64,
}

#[test]
fn the_event_is_in_the_catalog() {
    let catalog = outbox::Catalog::collect().unwrap();
    assert_eq!(catalog.events()[0].rust_path, "edition_2018::OrderPlaced");
    assert_eq!(catalog.events()[0].emitted_by, "edition-2018");
}
