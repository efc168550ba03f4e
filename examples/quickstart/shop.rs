//! The shop: changes its tables and tells of it, in one transaction.

use crate::{Result, events::OrderPlaced};
use outbox::{EventId, EventState, Outbox, sqlite::SqliteStore};
use sqlx::SqlitePool;

/// Creates the tables of the application. Those of the outbox are beside them.
pub(crate) async fn create_tables(pool: &SqlitePool) -> Result<()> {
    // Nothing here keeps an order from being charged twice: the inbox alone does that.
    let tables = "CREATE TABLE orders  (id INTEGER PRIMARY KEY, cents INTEGER NOT NULL);
                  CREATE TABLE charges (order_id INTEGER NOT NULL, cents INTEGER NOT NULL)";
    sqlx::raw_sql(tables).execute(pool).await?;
    Ok(())
}

/// Places an order.
pub(crate) async fn place_order(outbox: &Outbox<SqliteStore>, order_id: i64, cents: i64) -> Result<EventId> {
    let mut tx = outbox.begin().await?;
    sqlx::query("INSERT INTO orders (id, cents) VALUES (?, ?)")
        .bind(order_id)
        .bind(cents)
        .execute(&mut *tx)
        .await?;
    let event = outbox.enqueue(&mut tx, &OrderPlaced { order_id, cents }).await?;
    tx.commit().await?;
    println!("   shop: order {order_id} and its event are committed");
    Ok(event)
}

/// Begins to place an order and fails before the commit, as a crash would.
pub(crate) async fn fail_to_place_order(
    outbox: &Outbox<SqliteStore>,
    order_id: i64,
    cents: i64,
) -> Result<()> {
    let mut tx = outbox.begin().await?;
    sqlx::query("INSERT INTO orders (id, cents) VALUES (?, ?)")
        .bind(order_id)
        .bind(cents)
        .execute(&mut *tx)
        .await?;
    let event = outbox.enqueue(&mut tx, &OrderPlaced { order_id, cents }).await?;
    // No commit: the row and the event go together.
    tx.rollback().await;
    assert_eq!(outbox.state(event).await?, EventState::Unknown);
    println!("   shop: order {order_id} failed before its commit, and left neither row nor event");
    Ok(())
}
