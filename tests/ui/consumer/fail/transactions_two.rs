// A handler takes one transaction, by whatever name.
#![allow(unused)]

use outbox::consumer;
use outbox_ui_tests::OrderPlaced;
use sqlx::{PgTransaction, Postgres, Transaction};

#[consumer(name = "billing.charge")]
async fn charge(
    event: OrderPlaced,
    tx: &mut PgTransaction<'_>,
    other: &mut Transaction<'_, Postgres>,
) -> Result<(), String> {
    Ok(())
}

fn main() {}
