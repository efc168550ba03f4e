// The context is lent.

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "billing.charge")]
async fn charge(_event: OrderPlaced, _context: outbox::Context) -> Result<(), String> {
    Ok(())
}

fn main() {}
