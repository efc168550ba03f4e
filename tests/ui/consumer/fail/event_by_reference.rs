// A handler owns its event.

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "billing.charge")]
async fn charge(_event: &OrderPlaced) -> Result<(), String> {
    Ok(())
}

fn main() {}
