// Each event stands in a set once.

use outbox::EventSet;
use outbox_ui_tests::{OrderPaid, OrderPlaced};

#[derive(EventSet)]
enum OrderChanged {
    Placed(OrderPlaced),
    Booked(OrderPlaced),
    Paid(OrderPaid),
}

fn main() {}
