//! The billing service: charges what was ordered. A release adds which version of the event it hears of it by.

use crate::Result;
use outbox::{Context, permanent};
use sqlx::PgTransaction;
use storefront_events::OrderCharged;

/// Charges a customer and tells of it, in the transaction of the handler that calls this.
///
/// # Errors
/// The card is blocked, in which case trying again is no use; or the database fails.
pub async fn charge(
    tx: &mut PgTransaction<'_>,
    ctx: &Context,
    (order_id, customer, cents): (i64, &str, i64),
) -> Result {
    let is_blocked: bool = sqlx::query_scalar(include_str!("../sql/select_is_blocked.sql"))
        .bind(customer)
        .fetch_one(&mut **tx)
        .await?;
    if is_blocked {
        // To the dead letters at once. Other orders go on; this one is replayed when the bank has lifted the block.
        return Err(permanent(format!("the card of {customer} is blocked")).into());
    }
    // Nothing in this table keeps an order from being charged twice: the inbox alone does that.
    sqlx::query(include_str!("../sql/insert_charge.sql"))
        .bind(order_id)
        .bind(cents)
        .execute(&mut **tx)
        .await?;
    ctx.enqueue(tx, &OrderCharged { order_id, cents }).await?;
    Ok(())
}
