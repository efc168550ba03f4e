//! The build of after a cutover: each consumer takes version 2, and version 1 where that leads to it.

use outbox::postgres::PostgresStore;
use outbox::sqlite::SqliteStore;
use outbox::{State, consumer};
use outbox_tests::cutover::{Build, Counted, Priced, Seen, serve};
use sqlx::{PgTransaction, SqliteTransaction};
use std::error::Error;
use std::sync::Arc;

type Handled = Result<(), Box<dyn Error + Send + Sync>>;

#[tokio::main]
async fn main() {
    serve().await;
}

#[consumer(name = "cutover.price-sqlite")]
async fn price_sqlite(event: Priced, tx: &mut SqliteTransaction<'_>, build: State<Arc<Build>>) -> Handled {
    build.handle::<SqliteStore>(tx, &event.thing, (event.n, event.fails)).await
}

#[consumer(name = "cutover.count-sqlite")]
async fn count_sqlite(event: Counted, tx: &mut SqliteTransaction<'_>, build: State<Arc<Build>>) -> Handled {
    build.handle::<SqliteStore>(tx, &event.thing, (event.n, event.fails)).await
}

#[consumer(name = "cutover.see-sqlite")]
async fn see_sqlite(event: Seen, tx: &mut SqliteTransaction<'_>, build: State<Arc<Build>>) -> Handled {
    build.handle::<SqliteStore>(tx, "seen", (event.number, event.fails)).await
}

#[consumer(name = "cutover.price-postgres")]
async fn price_postgres(event: Priced, tx: &mut PgTransaction<'_>, build: State<Arc<Build>>) -> Handled {
    build.handle::<PostgresStore>(tx, &event.thing, (event.n, event.fails)).await
}

#[consumer(name = "cutover.count-postgres")]
async fn count_postgres(event: Counted, tx: &mut PgTransaction<'_>, build: State<Arc<Build>>) -> Handled {
    build.handle::<PostgresStore>(tx, &event.thing, (event.n, event.fails)).await
}

#[consumer(name = "cutover.see-postgres")]
async fn see_postgres(event: Seen, tx: &mut PgTransaction<'_>, build: State<Arc<Build>>) -> Handled {
    build.handle::<PostgresStore>(tx, "seen", (event.number, event.fails)).await
}
