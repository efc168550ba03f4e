// A set of events is an enum.

use outbox::EventSet;
use outbox_ui_tests::{OrderPaid, OrderPlaced};

#[derive(EventSet)]
struct OrderChanged {
    placed: OrderPlaced,
    paid: OrderPaid,
}

fn main() {}
