//! The shipping service: packs what was ordered and sends what is paid. A release adds which version of the event it
//! hears of an order by.

use crate::Result;
use outbox::{Context, consumer};
use sqlx::PgTransaction;
use storefront_events::{OrderCharged, OrderSent};

/// Packs a parcel, in the transaction of the handler that calls this. It is sent if it is paid already: that an order was
/// placed and that it was charged is told by two services, in any order.
///
/// # Errors
/// The database fails.
pub async fn pack(tx: &mut PgTransaction<'_>, ctx: &Context, (order_id, customer): (i64, &str)) -> Result {
    let is_paid: bool = sqlx::query_scalar(include_str!("../sql/upsert_packed.sql"))
        .bind(order_id)
        .bind(customer)
        .fetch_one(&mut **tx)
        .await?;
    if is_paid { send(tx, ctx, order_id).await } else { Ok(()) }
}

/// Sends a parcel once it is paid, if it is packed already.
#[consumer(name = "shipping.send")]
async fn send_paid(charged: OrderCharged, tx: &mut PgTransaction<'_>, ctx: &Context) -> Result {
    let is_packed: bool = sqlx::query_scalar(include_str!("../sql/upsert_paid.sql"))
        .bind(charged.order_id)
        .fetch_one(&mut **tx)
        .await?;
    if is_packed { send(tx, ctx, charged.order_id).await } else { Ok(()) }
}

/// Notes that a parcel is on its way and tells of it. Nothing in the table keeps it from being sent twice.
async fn send(tx: &mut PgTransaction<'_>, ctx: &Context, order_id: i64) -> Result {
    sqlx::query(include_str!("../sql/insert_shipment.sql")).bind(order_id).execute(&mut **tx).await?;
    ctx.enqueue(tx, &OrderSent { order_id }).await?;
    Ok(())
}
