//! Events in a package of the oldest supported edition.

use outbox::{consumer, Context, Event};
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

/// Counts orders.
///
/// # Errors
/// Never.
#[consumer(name = "orders.count")]
pub async fn count(event: OrderPlaced, context: &Context) -> Result<(), std::convert::Infallible> {
    let _ = (event, context);
    Ok(())
}

#[test]
fn the_event_and_the_consumer_are_in_the_catalog() {
    let catalog = outbox::Catalog::collect().unwrap();
    assert_eq!(catalog.consumers()[0].name, "orders.count");
    assert_eq!(catalog.events()[0].rust_path, "edition_2018::OrderPlaced");
    assert_eq!(catalog.events()[0].emitted_by, "edition-2018");
}
