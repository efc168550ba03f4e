// The retries are a list.

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "billing.charge", retry = 8)]
async fn charge(_event: OrderPlaced) -> Result<(), String> {
    Ok(())
}

fn main() {}
