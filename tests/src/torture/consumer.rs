//! The handlers: each notes that it was called, writes its effect, and fares as the event plans.

use super::Plant;
use super::actor::Scene;
use super::event::{Plan, Said};
use super::store::TortureStore;
use crate::history::Fate;
use outbox::postgres::PostgresStore;
use outbox::sqlite::SqliteStore;
use outbox::{Context, State, consumer, permanent};
use sqlx::{PgTransaction, SqliteTransaction};
use std::error::Error;
use std::sync::Arc;

/// Of so many events, one meets what was planted.
const PLANTED: i64 = 10;

#[consumer(
    name = "torture.book-postgres",
    retry(attempts = 6, base = "20ms", max = "200ms"),
    timeout = "2s",
    concurrency = 8
)]
async fn book_postgres(
    event: Said,
    tx: &mut PgTransaction<'_>,
    ctx: &Context,
    scene: State<Arc<Scene>>,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    book::<PostgresStore>(&event, tx, ctx, &scene).await
}

#[consumer(
    name = "torture.book-sqlite",
    retry(attempts = 6, base = "20ms", max = "200ms"),
    timeout = "2s",
    concurrency = 8
)]
async fn book_sqlite(
    event: Said,
    tx: &mut SqliteTransaction<'_>,
    ctx: &Context,
    scene: State<Arc<Scene>>,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    book::<SqliteStore>(&event, tx, ctx, &scene).await
}

async fn book<S: TortureStore>(
    event: &Said,
    connection: &mut S::Connection,
    ctx: &Context,
    scene: &Scene,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let stage = format!("consumer/{}", ctx.consumer());
    scene.record.happened(Fate::Delivered.of(&stage, &event.name()));
    let is_planted = |plant| scene.plants(plant) && event.name().n % PLANTED == 0;
    if is_planted(Plant::Loss) {
        return Ok(());
    }
    S::write_effect(connection, ctx.consumer(), &event.name()).await?;
    if is_planted(Plant::Double) {
        S::write_effect(connection, ctx.consumer(), &event.name()).await?;
    }
    if scene.is_mended() {
        return Ok(());
    }
    match event.plan() {
        _ if is_planted(Plant::Blame) => Err(permanent("the plant says to fail").into()),
        Plan::FailTwice if ctx.attempt() <= 2 => Err("the plan says to fail".into()),
        Plan::Fail => Err("the plan says to fail".into()),
        Plan::FailForGood => Err(permanent("the plan says that no retry can help").into()),
        Plan::Panic => panic!("the plan says to panic"),
        Plan::Hang => std::future::pending().await,
        Plan::Swallow => {
            S::swallow_an_error(connection).await;
            Ok(())
        }
        Plan::KillConsumer => scene.die(&stage, event.name()),
        _ => Ok(()),
    }
}
