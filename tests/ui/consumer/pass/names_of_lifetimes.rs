// A lifetime may have a name.

use outbox::{Context, consumer};
use outbox_ui_tests::OrderPlaced;

#[consumer(name = "billing.charge")]
async fn charge<'c, 'd: 'c>(
    event: OrderPlaced,
    tx: &'c mut sqlx::Transaction<'d, sqlx::Postgres>,
    context: &'c Context,
) -> Result<(), sqlx::Error> {
    let _ = (event, tx, context);
    Ok(())
}

fn main() {}
