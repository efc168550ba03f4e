// An argument is made from the delivery.
#![allow(unused)]

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

struct Tenant(String);

#[consumer(name = "billing.charge")]
async fn charge(event: OrderPlaced, tenant: Tenant) -> Result<(), String> {
    Ok(())
}

fn main() {}
