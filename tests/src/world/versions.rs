//! An event with a history of versions, the consumer of the newest, and what all of them do.

use super::TestStore;
use outbox::postgres::PostgresStore;
use outbox::sqlite::SqliteStore;
use outbox::{Event, State, consumer, permanent};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlx::{PgTransaction, SqliteTransaction};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Something moved, as it was told at first.
#[derive(Debug, Clone, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "world.moved", version = 1, topic = "world")]
pub struct MovedV1 {
    /// What moved.
    #[event(key)]
    pub key: String,
    /// How far, in metres. Less than nothing can't be, until the handler is mended.
    pub metres: i64,
}

/// Something moved, as it was told next.
#[derive(Debug, Clone, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "world.moved", version = 2, topic = "world", upcast_from = MovedV1)]
pub struct MovedV2 {
    /// What moved.
    #[event(key)]
    pub key: String,
    /// How far.
    pub centimetres: i64,
}

/// Something moved.
#[derive(Debug, Clone, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "world.moved", version = 3, topic = "world", upcast_from = MovedV2)]
pub struct Moved {
    /// What moved.
    #[event(key)]
    pub key: String,
    /// How far.
    pub millimetres: i64,
}

impl From<MovedV1> for MovedV2 {
    fn from(old: MovedV1) -> Self {
        Self { key: old.key, centimetres: old.metres * 100 }
    }
}

impl From<MovedV2> for Moved {
    fn from(old: MovedV2) -> Self {
        Self { key: old.key, millimetres: old.centimetres * 10 }
    }
}

#[consumer(name = "world.follow-sqlite", retry(attempts = 2, base = "10ms", max = "50ms"))]
async fn follow_sqlite(
    event: Moved,
    tx: &mut SqliteTransaction<'_>,
    mended: State<Arc<AtomicBool>>,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    follow::<SqliteStore>(&event, tx, &mended).await
}

#[consumer(name = "world.follow-postgres", retry(attempts = 2, base = "10ms", max = "50ms"))]
async fn follow_postgres(
    event: Moved,
    tx: &mut PgTransaction<'_>,
    mended: State<Arc<AtomicBool>>,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    follow::<PostgresStore>(&event, tx, &mended).await
}

async fn follow<S: TestStore>(
    event: &Moved,
    connection: &mut S::Connection,
    mended: &AtomicBool,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    S::write_effect(connection, &event.key, event.millimetres).await?;
    if event.millimetres < 0 && !mended.load(Ordering::SeqCst) {
        return Err(permanent("nothing moves less than nothing").into());
    }
    Ok(())
}
