// A handler returns a `Result`.
#![allow(unused)]

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "billing.charge")]
async fn charge(event: OrderPlaced) -> () {
    drop(event)
}

fn main() {}
