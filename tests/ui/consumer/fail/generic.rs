// A handler is not generic.

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "billing.charge")]
async fn charge<T: Send>(_event: OrderPlaced, _bank: outbox::State<T>) -> Result<(), String> {
    Ok(())
}

#[consumer(name = "billing.refund")]
async fn refund(_event: OrderPlaced, _bank: impl outbox::FromDelivery) -> Result<(), String> {
    Ok(())
}

fn main() {}
