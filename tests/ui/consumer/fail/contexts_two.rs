// A handler takes the context once, by whatever name.
#![allow(unused)]

use outbox::{Context, consumer};
use outbox_ui_tests::OrderPlaced;

type Delivery = Context;

#[consumer(name = "billing.charge")]
async fn charge(event: OrderPlaced, context: &Context, delivery: &Delivery) -> Result<(), String> {
    Ok(())
}

fn main() {}
