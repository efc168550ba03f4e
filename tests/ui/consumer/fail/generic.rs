// A handler is not generic.
#![allow(unused)]

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "billing.charge")]
async fn charge<T: Send>(event: OrderPlaced, bank: outbox::State<T>) -> Result<(), String> {
    Ok(())
}

#[consumer(name = "billing.refund")]
async fn refund(event: OrderPlaced, bank: impl outbox::FromDelivery) -> Result<(), String> {
    Ok(())
}

fn main() {}
