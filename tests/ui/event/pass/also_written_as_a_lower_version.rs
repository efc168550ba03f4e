// One type may lead to and from a lower version, or each to another.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders")]
struct OrderPlacedV1 {
    #[event(key)]
    order_id: u64,
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 2, topic = "orders", upcast_from = OrderPlacedV1, also_as = self::OrderPlacedV1)]
struct OrderPlaced {
    #[event(key)]
    order: u64,
}

impl From<OrderPlacedV1> for OrderPlaced {
    fn from(old: OrderPlacedV1) -> Self {
        Self { order: old.order_id }
    }
}

impl From<&OrderPlaced> for OrderPlacedV1 {
    fn from(new: &OrderPlaced) -> Self {
        Self { order_id: new.order }
    }
}

fn main() {
    let also_as = OrderPlaced::ALSO_AS.unwrap();
    let lower = (also_as.write)(&OrderPlaced { order: 7 });
    assert_eq!((also_as.version, lower.partition_key.as_deref()), (1, Some("7")));
    assert_eq!(lower.json.unwrap(), br#"{"order_id":7}"#);
    let catalog = outbox::Catalog::collect().unwrap();
    let links: Vec<_> = catalog.events().iter().map(|event| ((event.upcast_from)(), (event.also_as)())).collect();
    assert_eq!(links, [(None, None), (Some(1), Some(1))]);
}
