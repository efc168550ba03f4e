// Only a function can be a handler.
#![allow(unused)]

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "billing.charge")]
struct Charge {
    order: OrderPlaced,
}

fn main() {}
