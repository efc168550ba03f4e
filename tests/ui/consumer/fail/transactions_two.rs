// A handler takes one transaction, by whatever name.

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;
use sqlx::{PgTransaction, Postgres, Transaction};

#[consumer(name = "billing.charge")]
async fn charge(
    _event: OrderPlaced,
    _tx: &mut PgTransaction<'_>,
    _other: &mut Transaction<'_, Postgres>,
) -> Result<(), String> {
    Ok(())
}

fn main() {}
