//! The consumers of a world, one of each kind for each store. A program that links this library links them all.

use super::{Heard, Noted, Plan, TestStore, Told};
use outbox::consumer::{DeliveryParts, FromDelivery};
use outbox::postgres::PostgresStore;
use outbox::sqlite::SqliteStore;
use outbox::{Context, State, consumer, permanent};
use sqlx::{PgTransaction, SqliteTransaction};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// Whose event it is: the header `tenant`.
#[derive(Debug)]
pub(super) struct Tenant(String);

impl FromDelivery for Tenant {
    fn from_delivery(parts: &DeliveryParts<'_>) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let tenant = parts.context().headers().get("tenant");
        Ok(Self(tenant.map_or_else(|| "nobody".to_owned(), Clone::clone)))
    }
}

/// How often the consumer that spreads was called in this process.
#[derive(Debug, Default)]
pub struct Calls(AtomicU32);

impl Calls {
    fn add_one(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    /// The calls so far, duplicates and failed attempts included.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }
}

#[consumer(
    name = "world.note-sqlite",
    retry(attempts = 4, base = "10ms", max = "50ms"),
    timeout = "2s",
    concurrency = 8
)]
async fn note_sqlite(
    event: Noted,
    tx: &mut SqliteTransaction<'_>,
    ctx: &Context,
    mended: State<Arc<AtomicBool>>,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    note::<SqliteStore>(&event, tx, ctx, &mended).await
}

#[consumer(
    name = "world.note-postgres",
    retry(attempts = 4, base = "10ms", max = "50ms"),
    timeout = "2s",
    concurrency = 8
)]
async fn note_postgres(
    event: Noted,
    tx: &mut PgTransaction<'_>,
    ctx: &Context,
    mended: State<Arc<AtomicBool>>,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    note::<PostgresStore>(&event, tx, ctx, &mended).await
}

async fn note<S: TestStore>(
    event: &Noted,
    connection: &mut S::Connection,
    ctx: &Context,
    mended: &AtomicBool,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    S::write_effect(connection, &event.key, event.n).await?;
    let attempt = ctx.attempt();
    match event.plan {
        Plan::FailFirst(count) if attempt <= count => Err("the plan says to fail".into()),
        Plan::FailUntilMended if !mended.load(Ordering::SeqCst) => {
            Err("the plan says to fail until mended".into())
        }
        Plan::FailForGood => Err(permanent("the plan says that no retry can help").into()),
        Plan::PanicFirst(count) if attempt <= count => panic!("the plan says to panic"),
        Plan::SwallowFirst(count) if attempt <= count => {
            S::swallow_an_error(connection).await;
            Ok(())
        }
        Plan::CommitAndFailFirst(count) if attempt <= count => {
            S::commit_early(connection).await;
            Err("the plan says to fail after the commit".into())
        }
        Plan::HangFirst if attempt == 1 => std::future::pending().await,
        Plan::KillProcess => crate::kill_this_process(),
        Plan::TakeMillis(millis) => {
            tokio::time::sleep(Duration::from_millis(u64::from(millis))).await;
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Writes what it was told, under its tenant, and lets the world hear of each note.
#[consumer(name = "world.spread-sqlite", retry(attempts = 4, base = "10ms", max = "50ms"), timeout = "2s")]
async fn spread_sqlite(
    calls: State<Arc<Calls>>,
    event: Told,
    tenant: Tenant,
    ctx: &Context,
    tx: &mut SqliteTransaction<'_>,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    calls.add_one();
    let (key, n) = effect_of(&event, &tenant);
    SqliteStore::write_effect(tx, &key, n).await?;
    if let Told::Noted(note) = event {
        ctx.enqueue(tx, &Heard { n: note.n }).await?;
    }
    Ok(())
}

/// Writes what it was told, under its tenant, and lets the world hear of each note.
#[consumer(name = "world.spread-postgres", retry(attempts = 4, base = "10ms", max = "50ms"), timeout = "2s")]
async fn spread_postgres(
    calls: State<Arc<Calls>>,
    event: Told,
    tenant: Tenant,
    ctx: &Context,
    tx: &mut PgTransaction<'_>,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    calls.add_one();
    let (key, n) = effect_of(&event, &tenant);
    PostgresStore::write_effect(tx, &key, n).await?;
    if let Told::Noted(note) = event {
        ctx.enqueue(tx, &Heard { n: note.n }).await?;
    }
    Ok(())
}

fn effect_of(event: &Told, tenant: &Tenant) -> (String, i64) {
    match event {
        Told::Noted(note) => (format!("{}/{}", tenant.0, note.key), note.n),
        Told::Heard(heard) => ("heard".to_owned(), heard.n),
    }
}
