// A plain connection is no transaction.

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "billing.charge")]
async fn charge(_event: OrderPlaced, _connection: &mut sqlx::PgConnection) -> Result<(), String> {
    Ok(())
}

fn main() {}
