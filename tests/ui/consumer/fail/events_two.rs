// A handler takes one event.

use outbox::consumer;
use outbox_ui_tests::{OrderPaid, OrderPlaced};

#[consumer(name = "billing.charge")]
async fn charge(_placed: OrderPlaced, _paid: OrderPaid) -> Result<(), String> {
    Ok(())
}

fn main() {}
