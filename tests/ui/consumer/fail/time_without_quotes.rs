// A time has a unit.
#![allow(unused)]

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "billing.charge", timeout = 30)]
async fn charge(event: OrderPlaced) -> Result<(), String> {
    Ok(())
}

fn main() {}
