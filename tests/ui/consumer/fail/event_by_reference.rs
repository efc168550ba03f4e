// A handler owns its event.
#![allow(unused)]

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "billing.charge")]
async fn charge(event: &OrderPlaced) -> Result<(), String> {
    Ok(())
}

fn main() {}
