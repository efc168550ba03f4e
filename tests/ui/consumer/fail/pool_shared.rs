// What is shared comes as a state.
#![allow(unused)]

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "billing.charge")]
async fn charge(event: OrderPlaced, pool: &sqlx::PgPool) -> Result<(), String> {
    Ok(())
}

fn main() {}
