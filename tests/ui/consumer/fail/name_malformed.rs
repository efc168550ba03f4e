// A consumer is named like an event type.

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "Billing Charge")]
async fn charge(_event: OrderPlaced) -> Result<(), String> {
    Ok(())
}

fn main() {}
