// The context is lent for reading.

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "billing.charge")]
async fn charge(_event: OrderPlaced, _context: &mut outbox::Context) -> Result<(), String> {
    Ok(())
}

fn main() {}
