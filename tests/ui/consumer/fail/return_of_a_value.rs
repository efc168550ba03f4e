// A handler returns no value.

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "billing.charge")]
async fn charge(event: OrderPlaced) -> Result<u64, String> {
    Ok(event.order_id)
}

fn main() {}
