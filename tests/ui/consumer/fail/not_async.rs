// A handler is async.
#![allow(unused)]

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "billing.charge")]
fn charge(event: OrderPlaced) -> Result<(), String> {
    Ok(())
}

fn main() {}
