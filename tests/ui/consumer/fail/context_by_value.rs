// The context is lent.
#![allow(unused)]

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "billing.charge")]
async fn charge(event: OrderPlaced, context: outbox::Context) -> Result<(), String> {
    Ok(())
}

fn main() {}
