// A name is a text.
#![allow(unused)]

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(name = billing)]
async fn charge(event: OrderPlaced) -> Result<(), String> {
    Ok(())
}

fn main() {}
