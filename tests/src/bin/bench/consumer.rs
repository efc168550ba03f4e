//! The consumer whose throughput is measured: one row for each event.

use outbox::{State, consumer};
use outbox_tests::bench::Handled;
use outbox_tests::world::Noted;
use sqlx::PgTransaction;
use std::sync::Arc;

#[consumer(name = "bench.effects")]
async fn write_effect(
    note: Noted,
    tx: &mut PgTransaction<'_>,
    handled: State<Arc<Handled>>,
) -> Result<(), sqlx::Error> {
    let write = sqlx::query("INSERT INTO effect (key, n) VALUES ($1, $2)").bind(&note.key).bind(note.n);
    write.execute(&mut **tx).await?;
    handled.add_one();
    Ok(())
}
