// The runtime commits the transaction.
#![allow(unused)]

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "billing.charge")]
async fn charge(event: OrderPlaced, tx: sqlx::PgTransaction<'_>) -> Result<(), String> {
    Ok(())
}

fn main() {}
