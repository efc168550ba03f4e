// The runtime commits the transaction.

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "billing.charge")]
async fn charge(_event: OrderPlaced, _tx: sqlx::PgTransaction<'_>) -> Result<(), String> {
    Ok(())
}

fn main() {}
