// A consumer is named like an event type.
#![allow(unused)]

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "Billing Charge")]
async fn charge(event: OrderPlaced) -> Result<(), String> {
    Ok(())
}

fn main() {}
