//! Billing: hears of orders and charges them.

use crate::events::OrderPlaced;
use outbox::{Context, State, consumer};
use sqlx::SqliteTransaction;
use std::{
    collections::BTreeSet,
    error::Error,
    sync::{Arc, Mutex},
};

/// Charges an order.
///
/// The framework begins `tx`, notes in it that this consumer has seen this event, and commits it after this function
/// returns `Ok`. So the charge and the note are there together: a second delivery finds the note and never gets here.
/// An error rolls everything back, and the event is tried again after a growing, random wait.
#[consumer(name = "billing.charge", retry(attempts = 3, base = "50ms", max = "200ms"))]
async fn charge(
    order: OrderPlaced,
    tx: &mut SqliteTransaction<'_>,
    cards: State<CardService>,
    ctx: &Context,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let attempt = ctx.attempt();
    if cards.refuses(order.order_id) {
        println!("   billing: order {} could not be charged (attempt {attempt})", order.order_id);
        return Err("the card service refused the card".into());
    }
    sqlx::query("INSERT INTO charges (order_id, cents) VALUES (?, ?)")
        .bind(order.order_id)
        .bind(order.cents)
        .execute(&mut **tx)
        .await?;
    println!("   billing: order {} is charged {} cents (attempt {attempt})", order.order_id, order.cents);
    Ok(())
}

/// A stand-in for the service that billing needs, which can be broken and mended.
#[derive(Debug, Clone, Default)]
pub(crate) struct CardService {
    refused: Arc<Mutex<BTreeSet<i64>>>,
}

impl CardService {
    /// Breaks it for one order.
    pub(crate) fn refuse(&self, order_id: i64) {
        self.refused.lock().expect("no holder of this lock panics").insert(order_id);
    }

    /// Mends it for one order.
    pub(crate) fn accept(&self, order_id: i64) {
        self.refused.lock().expect("no holder of this lock panics").remove(&order_id);
    }

    fn refuses(&self, order_id: i64) -> bool {
        self.refused.lock().expect("no holder of this lock panics").contains(&order_id)
    }
}
