// A set of events is not generic.

use outbox::EventSet;
use outbox_ui_tests::OrderPlaced;

#[derive(EventSet)]
enum Changed<T> {
    Placed(OrderPlaced),
    Other(T),
}

fn main() {}
