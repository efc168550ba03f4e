// Every key of the attribute, over two attributes.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use outbox::{KeySource, OnPoison};

/// Someone placed an order.
///
/// It is not paid yet.
#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 2, topic = "orders")]
#[event(on_poison = "block", emitted_by = "shop", deprecated = "use `orders.booked`", crate = ::outbox)]
#[event(retired = "2028-02-29")]
struct OrderPlaced {
    /// The order's number.
    #[event(key)]
    order_id: String,
}

fn main() {
    assert_eq!(OrderPlaced::ON_POISON, OnPoison::Block);
    let catalog = outbox::Catalog::collect().unwrap();
    let [event] = catalog.events() else { panic!("one event is declared") };
    assert_eq!(event.description, "Someone placed an order.\n\nIt is not paid yet.");
    assert_eq!(event.fields[0].description, "The order's number.");
    assert_eq!((event.emitted_by, event.deprecated), ("shop", Some("use `orders.booked`")));
    assert_eq!(event.retired, Some("2028-02-29"));
    assert_eq!(event.key, KeySource::Field("order_id"));
}
