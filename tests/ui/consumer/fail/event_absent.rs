// A handler takes an event.
#![allow(unused)]

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "billing.charge")]
async fn charge() -> Result<(), String> {
    Ok(())
}

#[consumer(name = "billing.refund")]
async fn refund(context: &outbox::Context) -> Result<(), String> {
    Ok(())
}

fn main() {}
