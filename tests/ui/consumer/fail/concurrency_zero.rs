// At least one event is handled at once.
#![allow(unused)]

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "billing.charge", concurrency = 0)]
async fn charge(event: OrderPlaced) -> Result<(), String> {
    Ok(())
}

fn main() {}
