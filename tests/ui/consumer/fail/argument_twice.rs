// A handler takes each type once.
#![allow(unused)]

use outbox::{Context, consumer};
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "billing.charge")]
async fn charge(event: OrderPlaced, first: &Context, second: &Context) -> Result<(), String> {
    Ok(())
}

fn main() {}
