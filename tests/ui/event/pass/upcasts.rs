// A consumer of version 3 takes versions 2 and 1, each by one step after the other; the older type may be anywhere.

use outbox::{ConsumedEvent, EncodedEvent, Event, EventSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod old {
    use super::*;

    #[derive(Event, Serialize, Deserialize, JsonSchema)]
    #[event(type = "orders.placed", version = 1, topic = "orders")]
    pub struct OrderPlaced {
        #[event(key)]
        pub order_id: u64,
    }

    #[deprecated]
    #[derive(Event, Serialize, Deserialize, JsonSchema)]
    #[event(type = "orders.placed", version = 2, topic = "orders", upcast_from = OrderPlaced)]
    pub struct OrderPlacedV2 {
        #[event(key)]
        pub order_id: u64,
        pub total: u64,
    }

    #[allow(deprecated)]
    impl From<OrderPlaced> for OrderPlacedV2 {
        fn from(old: OrderPlaced) -> Self {
            Self { order_id: old.order_id, total: 0 }
        }
    }
}

#[derive(Debug, PartialEq, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 3, topic = "orders", upcast_from = old::OrderPlacedV2)]
struct OrderPlaced {
    #[event(key)]
    order_id: u64,
    cents: u64,
}

#[allow(deprecated)]
impl From<old::OrderPlacedV2> for OrderPlaced {
    fn from(old: old::OrderPlacedV2) -> Self {
        Self { order_id: old.order_id, cents: old.total * 100 }
    }
}

fn main() {
    let version = |event_version, upcast_to| ConsumedEvent {
        event_type: "orders.placed",
        event_version,
        topic: "orders",
        upcast_to,
    };
    assert_eq!(
        <OrderPlaced as EventSet>::events(),
        [version(3, None), version(2, Some(3)), version(1, Some(3))]
    );
    for (event_version, payload, cents) in
        [(1, r#"{"order_id":7}"#, 0), (2, r#"{"order_id":7,"total":4}"#, 400), (3, r#"{"order_id":7,"cents":5}"#, 5)]
    {
        let event = EncodedEvent { event_type: "orders.placed", event_version, payload };
        let decoded = <OrderPlaced as EventSet>::decode(&event).unwrap().unwrap();
        assert_eq!(decoded, OrderPlaced { order_id: 7, cents });
    }
}
