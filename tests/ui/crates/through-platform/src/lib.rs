//! Events in a package that reaches `outbox` only through another crate.

#[cfg(feature = "attribute-forgotten")]
pub mod forgotten;

use platform::outbox::{Context, Event, consumer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An order was placed.
#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders", crate = platform::outbox)]
pub struct OrderPlaced {
    /// The order.
    #[event(key)]
    pub order_id: u64,
}

platform::event!(OrderPaid, "orders.paid", u64);

/// Counts orders.
///
/// # Errors
/// Never.
#[consumer(name = "orders.count", crate = platform::outbox)]
pub async fn count(event: OrderPlaced, context: &Context) -> Result<(), std::convert::Infallible> {
    let _ = (event, context);
    Ok(())
}

#[test]
fn the_events_and_the_consumer_are_in_the_catalog() {
    let catalog = platform::outbox::Catalog::collect().unwrap();
    assert_eq!(catalog.consumers()[0].name, "orders.count");
    let paths: Vec<_> = catalog.events().iter().map(|event| event.rust_path).collect();
    assert_eq!(paths, ["through_platform::OrderPaid", "through_platform::OrderPlaced"]);
}

#[test]
fn an_event_made_by_a_macro_of_another_crate_has_a_place_in_one_file() {
    let catalog = platform::outbox::Catalog::collect().unwrap();
    let paid = catalog.events()[0];
    assert!(paid.file.ends_with("through-platform/src/lib.rs"), "{}", paid.file);
    let line =
        include_str!("lib.rs").lines().take_while(|line| !line.starts_with("platform::event!")).count() + 1;
    assert_eq!(paid.line as usize, line);
    // The field stands in the macro's file, which the descriptor cannot name.
    assert_eq!(paid.fields[0].line as usize, line);
}
