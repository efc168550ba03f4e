//! What a stage has settled: appended rows of progress, and the rows of its old holes.

use crate::sim::Mutation;
use crate::sim::database::{ProgressRow, Tables, TxId, View};
use crate::sim::server::{Statement, passing};
use crate::sim::world::World;
use outbox::StoreError;
use outbox::envelope::Seq;
use outbox::lease::Fence;
use outbox_runtime::gaps::{Progress, Record, Written};
use std::sync::Arc;

/// The newest row of a stage.
pub(in crate::sim) fn newest<'t>(
    tables: &'t Tables,
    view: &'t View<'_>,
    stage: &str,
) -> Option<(i64, &'t ProgressRow)> {
    let of_stage = (stage.to_owned(), 0)..=(stage.to_owned(), i64::MAX);
    tables.progress.range(view, of_stage).map(|((_, row_id), row)| (*row_id, row)).next_back()
}

/// The old holes of a stage, first to last.
pub(in crate::sim) fn holes<'t>(
    tables: &'t Tables,
    view: &'t View<'_>,
    stage: &str,
) -> impl Iterator<Item = (i64, i64)> + 't {
    let of_stage = (stage.to_owned(), 0)..=(stage.to_owned(), i64::MAX);
    tables.hole.range(view, of_stage).map(|((_, first), last)| (*first, *last))
}

/// Where the stage stands, if the fence holds; `None`: the stage is new.
pub(super) async fn load(world: Arc<World>, tx: TxId, fence: Fence) -> Result<Option<Progress>, StoreError> {
    let statement = Statement::begin(&world, tx)?;
    let (lease, stage) = (fence.lease(), fence.stage.as_str());
    let is_ours = |leader: &&_| **leader == (fence.owner, fence.epoch);
    let progress = statement
        .read(|tables, view| {
            tables.leader.get(view, &lease.as_str().to_owned()).filter(is_ours)?;
            let stored = holes(tables, view, stage).collect();
            let newest = newest(tables, view, stage);
            Some(newest.map(|(row_id, row)| {
                let (settled, inline) = (row.settled, row.inline.clone());
                Progress { row_id, settled, inline, stored }
            }))
        })
        .await?;
    progress.ok_or_else(|| StoreError::LeaseLost { lease: lease.to_string() })
}

pub(super) async fn register(world: Arc<World>, tx: TxId, fence: Fence) -> Result<(), StoreError> {
    Statement::begin(&world, tx)?.lock_fence(&fence).await?;
    let row = ProgressRow { settled: Seq::ORIGIN.0, inline: Vec::new() };
    append(&Statement::begin(&world, tx)?, fence.stage.as_str(), row).await.map(|_| ())
}

/// Appends a row; gives its id.
async fn append(statement: &Statement<'_>, stage: &str, row: ProgressRow) -> Result<i64, StoreError> {
    let append = |tables: &mut Tables, view: &View<'_>| {
        let row_id = tables.next_number();
        tables.progress.insert(view, (stage.to_owned(), row_id), row.clone()).map(|_| row_id)
    };
    statement.write(append).await
}

/// Writes the rows of holes, and appends a row of progress if `before` is the newest.
pub(super) async fn settle(
    world: Arc<World>,
    tx: TxId,
    fence: Fence,
    before: i64,
    record: Record,
) -> Result<Written, StoreError> {
    let stage = fence.stage.as_str();
    let of_holes = Statement::begin(&world, tx)?;
    for first in &record.holes.delete {
        of_holes.write(|tables, view| tables.hole.delete(view, &(stage.to_owned(), *first))).await?;
    }
    for (first, last) in &record.holes.insert {
        let key = (stage.to_owned(), *first);
        if !of_holes.write(|tables, view| tables.hole.insert(view, key.clone(), *last)).await? {
            return Err(passing("settle the log", "a hole is there already"));
        }
    }
    let statement = Statement::begin(&world, tx)?;
    statement.lock_fence(&fence).await?;
    let newest = statement.read(|tables, view| newest(tables, view, stage).map(|(row_id, _)| row_id)).await?;
    if newest != Some(before) && world.mutation != Mutation::MemoryOutlivesConnection {
        return Err(passing("settle the log", "the stage stands elsewhere"));
    }
    let settled = match world.mutation {
        Mutation::SettledFromSequence => world.database().sequence.last().max(record.settled),
        _ => record.settled,
    };
    let row_id =
        append(&statement, stage, ProgressRow { settled, inline: record.holes.inline.clone() }).await?;
    world.tell(|| format!("{stage} is to settle {record:?}"));
    let xid = if world.mutation == Mutation::ProofTooEarly { -1 } else { statement.xid()? as i64 };
    Ok(Written { row_id, xid })
}
