// A handler takes one event.
#![allow(unused)]

use outbox::consumer;
use outbox_ui_tests::{OrderPaid, OrderPlaced};

#[consumer(name = "billing.charge")]
async fn charge(placed: OrderPlaced, paid: OrderPaid) -> Result<(), String> {
    Ok(())
}

fn main() {}
