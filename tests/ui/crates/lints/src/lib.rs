//! Events under every lint that a careful team may deny; what our expansion adds must not trip one.

#![forbid(unsafe_code)]
#![deny(
    warnings,
    missing_docs,
    missing_debug_implementations,
    unused_qualifications,
    unreachable_pub,
    unused,
    nonstandard_style,
    future_incompatible,
    rust_2018_idioms,
    single_use_lifetimes,
    trivial_casts,
    let_underscore_drop,
    unit_bindings,
    clippy::all,
    clippy::pedantic,
    clippy::nursery,
    clippy::restriction
)]
// The whole group, but for what this file itself does.
#![allow(
    clippy::blanket_clippy_restriction_lints,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    clippy::arbitrary_source_item_ordering,
    clippy::exhaustive_structs,
    clippy::absolute_paths,
    clippy::implicit_return,
    clippy::missing_inline_in_public_items,
    clippy::missing_trait_methods,
    clippy::single_call_fn
)]

extern crate alloc;

use alloc::borrow::Cow;
use core::convert::Infallible;
use outbox::{Context, Event, EventSet, State, consumer};
use schemars::JsonSchema;
use schemars::generate::SchemaGenerator;
use serde::{Deserialize, Serialize};

/// An event that should no longer be used, ordered by a field that should no longer be used.
#[deprecated(note = "use `OrderClosed`")]
#[derive(Debug, Event, Serialize, Deserialize)]
#[event(type = "orders.placed", version = 1, topic = "orders", deprecated = "use `orders.closed`")]
pub struct OrderPlaced {
    /// The order.
    #[deprecated(note = "use `order_number`")]
    #[event(key)]
    pub order_id: u64,
    /// The number of the order.
    pub order_number: String,
}

// By hand, because the derive of schemars warns of the deprecated struct.
#[allow(deprecated)]
impl JsonSchema for OrderPlaced {
    fn schema_name() -> Cow<'static, str> {
        "OrderPlaced".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "object"})
    }
}

/// What became of an order.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub enum Outcome {
    /// It was taken back.
    Cancelled,
    /// It was given up.
    #[deprecated(note = "use `Cancelled`")]
    GivenUp,
    /// It was paid.
    Paid,
}

/// An event whose paths could be written shorter, since all that they name is in scope.
#[derive(Debug, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.closed", version = 1, topic = "orders", key_with = crate::number, crate = ::outbox)]
#[non_exhaustive]
pub struct OrderClosed {
    /// The number of the order.
    pub order_number: String,
    /// What became of it.
    pub outcome: Outcome,
}

/// The partition key.
fn number(event: &OrderClosed) -> String {
    event.order_number.clone()
}

/// A handler that should no longer be used.
///
/// # Errors
/// Never.
#[deprecated(note = "use `keep`")]
#[consumer(name = "orders.count", retry(attempts = 3, base = "1s"), timeout = "5s")]
pub async fn count(event: OrderClosed, _: &Context) -> Result<(), Infallible> {
    drop(event);
    core::future::ready(()).await;
    Ok(())
}

/// A handler of an event that should no longer be used.
///
/// # Errors
/// Never.
#[allow(deprecated)]
#[consumer(name = "orders.keep")]
pub async fn keep(event: OrderPlaced, name: State<String>) -> Result<(), Infallible> {
    drop((event, name));
    core::future::ready(()).await;
    Ok(())
}

/// A set with an event that should no longer be used, in a variant that should no longer be used.
#[allow(deprecated)]
#[derive(Debug, EventSet)]
#[non_exhaustive]
pub enum OrderChanged {
    /// It was closed.
    Closed(OrderClosed),
    /// It was placed.
    #[deprecated(note = "use `Closed`")]
    Placed(OrderPlaced),
}

/// An event that nobody outside of the crate sees.
mod inner {
    use super::{Deserialize, Event, JsonSchema, Serialize};

    /// How many orders there are.
    #[derive(Event, Serialize, Deserialize, JsonSchema)]
    #[event(type = "orders.counted", version = 1, topic = "orders", unordered)]
    struct OrdersCounted {
        /// The number.
        count: u32,
    }

    const _: fn(OrdersCounted) -> u32 = |event| event.count;
}

/// A cutover from a version that should no longer be used.
#[derive(Debug, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 2, topic = "orders", upcast_from = OrderPlaced, also_as = OrderPlaced)]
pub struct OrderBooked {
    /// The order.
    #[event(key)]
    pub order_id: u64,
}

#[allow(deprecated)]
impl From<OrderPlaced> for OrderBooked {
    fn from(old: OrderPlaced) -> Self {
        Self { order_id: old.order_id }
    }
}

#[allow(deprecated)]
impl From<&OrderBooked> for OrderPlaced {
    fn from(new: &OrderBooked) -> Self {
        Self { order_id: new.order_id, order_number: String::new() }
    }
}
