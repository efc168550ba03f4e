//! The xtask of a shop at its first release.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::process::ExitCode;

/// An order was placed.
#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "orders.placed", version = 1, topic = "orders")]
pub struct OrderPlaced {
    #[event(key)]
    order_id: String,
    total_cents: u64,
    coupon: Option<String>,
}

/// A customer moved.
#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "customers.moved", version = 1, topic = "customers")]
pub struct CustomerMoved {
    #[event(key)]
    customer_id: String,
    address: Address,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Address {
    street: String,
    city: String,
}

fn main() -> ExitCode {
    outbox::xtask::main()
}
