// A handler is async.

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "billing.charge")]
fn charge(_event: OrderPlaced) -> Result<(), String> {
    Ok(())
}

fn main() {}
