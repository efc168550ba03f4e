//! The record of what a stage has settled: loaded when a log is opened, appended at each settle.

use super::{
    PostgresStore,
    error::during,
    precondition,
    transaction::{commit_own, lock_fence, lost},
};
use crate::{
    cursor::Start,
    envelope::Seq,
    gaps::{Progress, Record, Written},
    lease::Fence,
    store::StoreError,
};
use sqlx::{Connection, PgConnection, Row};

/// The settled seq and the holes of the fence's stage; a stage without progress is registered at `start` first.
pub(super) async fn load_or_register(
    store: &PostgresStore,
    connection: &mut PgConnection,
    fence: &Fence,
    start: Start,
) -> Result<Progress, StoreError> {
    if let Some(progress) = load(store, connection, fence).await? {
        return Ok(progress);
    }
    register(store, connection, fence, start).await?;
    Ok(load(store, connection, fence).await?.expect("a stage that was registered has progress"))
}

async fn load(
    store: &PostgresStore,
    connection: &mut PgConnection,
    fence: &Fence,
) -> Result<Option<Progress>, StoreError> {
    let action = "load the progress of a stage";
    let row = sqlx::query(store.sql().load_progress.clone())
        .bind(fence.lease().as_str())
        .bind(fence.owner.0)
        .bind(fence.epoch)
        .bind(fence.stage.as_str())
        .fetch_optional(connection)
        .await
        .map_err(during(action))?
        .ok_or_else(|| lost(fence))?;
    let Some(row_id) = row.try_get("id").map_err(during(action))? else { return Ok(None) };
    let settled = row.try_get("settled_seq").map_err(during(action))?;
    let inline: Option<Vec<i64>> = row.try_get("holes").map_err(during(action))?;
    let firsts: Vec<i64> = row.try_get("first_seqs").map_err(during(action))?;
    let lasts: Vec<i64> = row.try_get("last_seqs").map_err(during(action))?;
    let stored = firsts.into_iter().zip(lasts).collect();
    Ok(Some(Progress { row_id, settled, inline: inline.unwrap_or_default(), stored }))
}

async fn register(
    store: &PostgresStore,
    connection: &mut PgConnection,
    fence: &Fence,
    start: Start,
) -> Result<(), StoreError> {
    let action = "register a stage";
    let begin = store.sql().begin_write.clone();
    let mut tx = connection.begin_with(begin).await.map_err(during(action))?;
    lock_fence(store, &mut tx, fence).await?;
    let sql = store.sql();
    let (statement, settled, time) = match start {
        Start::Earliest => (sql.register_at_seq.clone(), Seq::ORIGIN, None),
        Start::From(seq) => (sql.register_at_seq.clone(), before(store, &mut tx, seq).await?, None),
        Start::Latest => (sql.register_at_latest.clone(), Seq::ORIGIN, None),
        Start::At(time) => (sql.register_at_time.clone(), Seq::ORIGIN, Some(time)),
    };
    let query = sqlx::query(statement).bind(fence.stage.as_str()).bind(fence.epoch).bind(settled.0);
    let query = match time {
        Some(time) => query.bind(time),
        None => query,
    };
    query.execute(&mut *tx).await.map_err(during(action))?;
    commit_own(tx).await
}

/// What is settled where a stage begins at `start`. A number that is yet to be given would hide the events that get it.
async fn before(store: &PostgresStore, connection: &mut PgConnection, start: Seq) -> Result<Seq, StoreError> {
    let last = Seq(precondition::last_given(store, connection).await?);
    if start.0 > last.0 + 1 {
        return Err(StoreError::StartUnknown { start, last });
    }
    Ok(Seq(start.0 - 1).max(Seq::ORIGIN))
}

/// Writes the rows of holes and the row of progress, in an open transaction.
pub(super) async fn write(
    store: &PostgresStore,
    connection: &mut PgConnection,
    fence: &Fence,
    before: i64,
    record: &Record,
) -> Result<Written, StoreError> {
    let holes = &record.holes;
    if !holes.delete.is_empty() {
        sqlx::query(store.sql().delete_holes.clone())
            .bind(fence.stage.as_str())
            .bind(&holes.delete)
            .execute(&mut *connection)
            .await
            .map_err(during("forget holes of the log"))?;
    }
    if !holes.insert.is_empty() {
        let (firsts, lasts): (Vec<i64>, Vec<i64>) = holes.insert.iter().copied().unzip();
        sqlx::query(store.sql().insert_holes.clone())
            .bind(fence.stage.as_str())
            .bind(firsts)
            .bind(lasts)
            .execute(&mut *connection)
            .await
            .map_err(during("record holes of the log"))?;
    }
    append(store, connection, fence, before, record).await
}

/// Appends the row of progress in one fenced statement, if `before` is the newest row.
pub(super) async fn append(
    store: &PostgresStore,
    connection: &mut PgConnection,
    fence: &Fence,
    before: i64,
    record: &Record,
) -> Result<Written, StoreError> {
    let action = "settle the log";
    let inline = &record.holes.inline;
    let written = sqlx::query_as(store.sql().settle_log.clone())
        .bind(fence.lease().as_str())
        .bind(fence.owner.0)
        .bind(fence.epoch)
        .bind(fence.stage.as_str())
        .bind(record.settled)
        .bind((!inline.is_empty()).then_some(inline))
        .bind(before)
        .fetch_optional(&mut *connection)
        .await
        .map_err(during(action))?;
    if let Some((row_id, xid)) = written {
        return Ok(Written { row_id, xid });
    }
    let leads: bool = sqlx::query_scalar(store.sql().is_leader.clone())
        .bind(fence.lease().as_str())
        .bind(fence.owner.0)
        .bind(fence.epoch)
        .fetch_one(connection)
        .await
        .map_err(during(action))?;
    if !leads {
        return Err(lost(fence));
    }
    let source = format!(
        "the stage `{}` has progress that this connection has not written; it is loaded again",
        fence.stage
    );
    Err(StoreError::Database { action, transient: true, source: source.into() })
}
