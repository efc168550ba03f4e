//! Release 2 of the services: an order is told of by version 2 of `orders.placed`, and by version 1 beside it for those who
//! have not moved yet.

use outbox::{Context, consumer};
use sqlx::PgTransaction;
use std::process::ExitCode;
use storefront::{Result, billing, service, shipping};
use storefront_events::OrderPlaced;

#[tokio::main]
async fn main() -> ExitCode {
    service::main(|order| OrderPlaced {
        order_id: order.id,
        goods_cents: order.goods_cents,
        postage_cents: order.postage_cents,
        customer: order.customer,
    })
    .await
}

/// Charges an order, told of by either version.
///
/// The framework begins `tx`, notes in it that this consumer has had this event, and commits it after this function returns
/// `Ok`. So the charge, the event that tells of it and the note are all there, or none of them is.
#[consumer(name = "billing.charge")]
async fn charge(placed: OrderPlaced, tx: &mut PgTransaction<'_>, ctx: &Context) -> Result {
    billing::charge(tx, ctx, (placed.order_id, &placed.customer, placed.cents())).await
}

/// Packs an order, told of by either version.
#[consumer(name = "shipping.pack")]
async fn pack(placed: OrderPlaced, tx: &mut PgTransaction<'_>, ctx: &Context) -> Result {
    shipping::pack(tx, ctx, (placed.order_id, &placed.customer)).await
}
