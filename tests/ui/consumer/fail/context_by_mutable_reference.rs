// The context is lent for reading.
#![allow(unused)]

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "billing.charge")]
async fn charge(event: OrderPlaced, context: &mut outbox::Context) -> Result<(), String> {
    Ok(())
}

fn main() {}
