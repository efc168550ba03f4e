// A handler returns a `Result`.

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "billing.charge")]
async fn charge(event: OrderPlaced) -> () {
    drop(event)
}

fn main() {}
