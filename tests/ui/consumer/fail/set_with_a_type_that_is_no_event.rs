// A set holds events.

use outbox::EventSet;
use outbox_ui_tests::OrderPlaced;

struct Cancelled;

#[derive(EventSet)]
enum OrderChanged {
    Placed(OrderPlaced),
    Cancelled(Cancelled),
}

fn main() {}
