// A pool is no transaction.

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "billing.charge")]
async fn charge(_event: OrderPlaced, _pool: &mut sqlx::PgPool) -> Result<(), String> {
    Ok(())
}

fn main() {}
