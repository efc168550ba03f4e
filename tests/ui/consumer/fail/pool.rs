// A pool is no transaction.
#![allow(unused)]

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "billing.charge")]
async fn charge(event: OrderPlaced, pool: &mut sqlx::PgPool) -> Result<(), String> {
    Ok(())
}

fn main() {}
