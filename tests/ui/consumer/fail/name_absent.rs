// A consumer has a name.

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer()]
async fn charge(_event: OrderPlaced) -> Result<(), String> {
    Ok(())
}

fn main() {}
