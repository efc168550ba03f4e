//! The build of before a cutover: each consumer takes version 1 alone.

use outbox::postgres::PostgresStore;
use outbox::sqlite::SqliteStore;
use outbox::{State, consumer};
use outbox_tests::cutover::{Build, CountedV1, PricedV1, SeenV1, serve};
use sqlx::{PgTransaction, SqliteTransaction};
use std::error::Error;
use std::sync::Arc;

type Handled = Result<(), Box<dyn Error + Send + Sync>>;

#[tokio::main]
async fn main() {
    serve().await;
}

#[consumer(name = "cutover.price-sqlite")]
async fn price_sqlite(event: PricedV1, tx: &mut SqliteTransaction<'_>, build: State<Arc<Build>>) -> Handled {
    build.handle::<SqliteStore>(tx, &event.key, (event.n, event.fails)).await
}

#[consumer(name = "cutover.count-sqlite")]
async fn count_sqlite(event: CountedV1, tx: &mut SqliteTransaction<'_>, build: State<Arc<Build>>) -> Handled {
    build.handle::<SqliteStore>(tx, &event.key, (event.n, event.fails)).await
}

#[consumer(name = "cutover.see-sqlite")]
async fn see_sqlite(event: SeenV1, tx: &mut SqliteTransaction<'_>, build: State<Arc<Build>>) -> Handled {
    build.handle::<SqliteStore>(tx, "seen", (event.n, event.fails)).await
}

#[consumer(name = "cutover.price-postgres")]
async fn price_postgres(event: PricedV1, tx: &mut PgTransaction<'_>, build: State<Arc<Build>>) -> Handled {
    build.handle::<PostgresStore>(tx, &event.key, (event.n, event.fails)).await
}

#[consumer(name = "cutover.count-postgres")]
async fn count_postgres(event: CountedV1, tx: &mut PgTransaction<'_>, build: State<Arc<Build>>) -> Handled {
    build.handle::<PostgresStore>(tx, &event.key, (event.n, event.fails)).await
}

#[consumer(name = "cutover.see-postgres")]
async fn see_postgres(event: SeenV1, tx: &mut PgTransaction<'_>, build: State<Arc<Build>>) -> Handled {
    build.handle::<PostgresStore>(tx, "seen", (event.n, event.fails)).await
}
