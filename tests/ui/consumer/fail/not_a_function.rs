// Only a function can be a handler.

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "billing.charge")]
struct Charge {
    order: OrderPlaced,
}

fn main() {}
