// A set has one key.

use outbox::EventSet;
use outbox_ui_tests::OrderPlaced;

#[derive(EventSet)]
#[event_set(create = outbox)]
enum OrderChanged {
    Placed(OrderPlaced),
}

fn main() {}
