// A plain connection is no transaction.
#![allow(unused)]

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "billing.charge")]
async fn charge(event: OrderPlaced, connection: &mut sqlx::PgConnection) -> Result<(), String> {
    Ok(())
}

fn main() {}
