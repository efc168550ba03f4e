// A time limit leaves some time.

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "billing.charge", timeout = "0s")]
async fn charge(_event: OrderPlaced) -> Result<(), String> {
    Ok(())
}

fn main() {}
