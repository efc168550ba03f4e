//! Release 1 of the services: an order is told of by version 1 of `orders.placed`.

use outbox::{Context, consumer};
use sqlx::PgTransaction;
use std::process::ExitCode;
use storefront::{Result, billing, service, shipping};
use storefront_events::OrderPlacedV1;

#[tokio::main]
async fn main() -> ExitCode {
    service::main(|order| OrderPlacedV1 {
        order_id: order.id,
        cents: order.cents(),
        customer: order.customer,
    })
    .await
}

/// Charges an order.
///
/// The framework begins `tx`, notes in it that this consumer has had this event, and commits it after this function returns
/// `Ok`. So the charge, the event that tells of it and the note are all there, or none of them is.
#[consumer(name = "billing.charge")]
async fn charge(placed: OrderPlacedV1, tx: &mut PgTransaction<'_>, ctx: &Context) -> Result {
    billing::charge(tx, ctx, (placed.order_id, &placed.customer, placed.cents)).await
}

/// Packs an order.
#[consumer(name = "shipping.pack")]
async fn pack(placed: OrderPlacedV1, tx: &mut PgTransaction<'_>, ctx: &Context) -> Result {
    shipping::pack(tx, ctx, (placed.order_id, &placed.customer)).await
}
