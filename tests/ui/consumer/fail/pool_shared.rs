// What is shared comes as a state.

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "billing.charge")]
async fn charge(_event: OrderPlaced, _pool: &sqlx::PgPool) -> Result<(), String> {
    Ok(())
}

fn main() {}
