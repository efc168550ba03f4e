// An argument is made from the delivery.

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

struct Tenant(String);

#[consumer(name = "billing.charge")]
async fn charge(_event: OrderPlaced, _tenant: Tenant) -> Result<(), String> {
    Ok(())
}

fn main() {}
