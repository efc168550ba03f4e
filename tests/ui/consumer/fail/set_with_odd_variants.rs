// Each variant of a set holds one event.

use outbox::EventSet;
use outbox_ui_tests::{OrderPaid, OrderPlaced};

#[derive(EventSet)]
enum OrderChanged {
    Placed(OrderPlaced),
    Cancelled,
    Paid { event: OrderPaid },
    Both(OrderPlaced, OrderPaid),
}

fn main() {}
