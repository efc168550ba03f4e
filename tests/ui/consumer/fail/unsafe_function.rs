// The runtime cannot promise what an unsafe function asks for.
#![allow(unused)]

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "billing.charge")]
async unsafe fn charge(event: OrderPlaced) -> Result<(), String> {
    Ok(())
}

fn main() {}
