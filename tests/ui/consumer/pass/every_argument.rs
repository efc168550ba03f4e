// Every kind of argument, in an order of the user's own.

use outbox::{Context, DeliveryParts, FromDelivery, State, consumer};
use outbox_ui_tests::OrderPlaced;
use sqlx::PgTransaction;
use std::error::Error;

struct Bank;
struct Clock;
struct Tenant(String);

impl FromDelivery for Tenant {
    fn from_delivery(parts: &DeliveryParts<'_>) -> Result<Self, Box<dyn Error + Send + Sync>> {
        Ok(Self(parts.context().consumer().to_owned()))
    }
}

#[consumer(name = "billing.charge")]
async fn charge(
    State(bank): State<Bank>,
    context: &Context,
    Tenant(mut tenant): Tenant,
    tx: &mut PgTransaction<'_>,
    clock: State<Clock>,
    event: OrderPlaced,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    sqlx::query("SELECT 1").bind(7).execute(&mut **tx).await?;
    tenant.push('!');
    let _ = (bank, clock, tenant, event.order_id);
    if context.attempt() > 3 {
        return Err(outbox::permanent("not today").into());
    }
    Ok(())
}

fn main() {
    let catalog = outbox::Catalog::collect().unwrap();
    let [consumer] = catalog.consumers() else { panic!("one consumer is declared") };
    assert_eq!((consumer.name, consumer.line), ("billing.charge", 19));
    assert!(consumer.file.ends_with("every_argument.rs"), "{}", consumer.file);
    let events = (consumer.events)();
    assert_eq!(events.len(), 1);
    assert_eq!(
        (events[0].event_type, events[0].event_version, events[0].topic),
        ("orders.placed", 1, "orders")
    );
}
