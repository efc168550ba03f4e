// A misspelt key is one error.

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(nam = "billing.charge", colour = "red")]
async fn charge(_event: OrderPlaced) -> Result<(), String> {
    Ok(())
}

fn main() {}
