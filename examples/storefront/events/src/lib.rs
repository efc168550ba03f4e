//! What the services of the shop tell each other.
//!
//! All events are about an order, whose number is their partition key: what happens to one order is heard in the order it
//! happened, and orders go on beside each other.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A customer placed an order, as release 1 of the orders service tells it.
///
/// Some readers still take it as it is. Everybody else takes [`OrderPlaced`], which is made of it.
#[derive(Debug, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders", emitted_by = "orders")]
pub struct OrderPlacedV1 {
    /// The number of the order.
    #[event(key)]
    pub order_id: i64,
    /// Who placed it.
    pub customer: String,
    /// What the customer pays.
    pub cents: i64,
}

/// A customer placed an order.
///
/// Version 2 tells apart what the goods and what the postage costs. As long as somebody takes version 1 alone, whoever
/// writes this writes that beside it.
#[derive(Debug, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 2, topic = "orders", emitted_by = "orders")]
#[event(upcast_from = OrderPlacedV1, also_as = OrderPlacedV1)]
pub struct OrderPlaced {
    /// The number of the order.
    #[event(key)]
    pub order_id: i64,
    /// Who placed it.
    pub customer: String,
    /// What the customer pays for the goods.
    pub goods_cents: i64,
    /// What the customer pays for the postage; nothing when the order was told by version 1, which has it in the goods.
    pub postage_cents: i64,
}

impl OrderPlaced {
    /// What the customer pays in all.
    #[must_use]
    pub fn cents(&self) -> i64 {
        self.goods_cents + self.postage_cents
    }
}

impl From<OrderPlacedV1> for OrderPlaced {
    fn from(old: OrderPlacedV1) -> Self {
        Self { order_id: old.order_id, customer: old.customer, goods_cents: old.cents, postage_cents: 0 }
    }
}

impl From<&OrderPlaced> for OrderPlacedV1 {
    fn from(new: &OrderPlaced) -> Self {
        Self { order_id: new.order_id, customer: new.customer.clone(), cents: new.cents() }
    }
}

/// The customer's card was charged for an order.
#[derive(Debug, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "billing.charged", version = 1, topic = "billing", emitted_by = "billing")]
pub struct OrderCharged {
    /// The number of the order.
    #[event(key)]
    pub order_id: i64,
    /// How much.
    pub cents: i64,
}

/// A parcel with all that was ordered was sent.
#[derive(Debug, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "shipping.sent", version = 1, topic = "shipping", emitted_by = "shipping")]
pub struct OrderSent {
    /// The number of the order.
    #[event(key)]
    pub order_id: i64,
}
