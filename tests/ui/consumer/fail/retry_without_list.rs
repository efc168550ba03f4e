// The retries are a list.
#![allow(unused)]

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "billing.charge", retry = 8)]
async fn charge(event: OrderPlaced) -> Result<(), String> {
    Ok(())
}

fn main() {}
