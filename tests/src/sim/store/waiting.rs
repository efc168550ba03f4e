//! Which lanes wait, and their heads.

use super::record::LaneState;
use crate::sim::Mutation;
use crate::sim::database::{HeldKey, HeldRow, Mark, Tables, TxId, View};
use crate::sim::server::Statement;
use crate::sim::world::World;
use outbox::StoreError;
use outbox::held::HeldEvent;
use outbox::lease::Fence;
use outbox::store::Waiting;
use std::sync::Arc;

/// The held events of a lane, the head first.
pub(super) fn held_in<'t>(
    tables: &'t Tables,
    view: &'t View<'_>,
    stage: &str,
    lane: &str,
) -> impl DoubleEndedIterator<Item = &'t HeldRow> {
    let of_lane = |(at, of, ..): &HeldKey| at == stage && of == lane;
    let rows: Vec<_> = tables.held.iter(view).filter(|(key, _)| of_lane(key)).map(|(_, row)| row).collect();
    rows.into_iter()
}

pub(super) async fn due_heads(
    world: Arc<World>,
    tx: TxId,
    fence: Fence,
    max: u32,
) -> Result<Vec<HeldEvent>, StoreError> {
    let statement = Statement::begin(&world, tx)?;
    let now = world.now();
    statement
        .read(|tables, view| {
            let marks = tables
                .waiting
                .iter(view)
                .filter(|((stage, _), mark)| stage == fence.stage.as_str() && mark.share == fence.share.0);
            let mut due: Vec<_> = marks
                .filter_map(|((_, lane), mark)| Some((mark.due_at.filter(|due_at| *due_at <= now)?, lane)))
                .collect();
            due.sort();
            let head = |lane: &str| {
                let stage = fence.stage.as_str();
                let is_parked = LaneState::of(tables, view, stage, lane).is_parked;
                let mut held = held_in(tables, view, stage, lane).filter(|row| row.is_replayed || !is_parked);
                if world.mutation == Mutation::NewestHeldFirst { held.next_back() } else { held.next() }
            };
            let heads = due.into_iter().filter_map(|(_, lane)| head(lane));
            let heads = heads.map(|row| HeldEvent {
                envelope: row.envelope.clone(),
                attempts: row.attempts,
                replayed: row.is_replayed,
                tried_alone: false,
            });
            heads.take(max as usize).collect()
        })
        .await
}

pub(super) async fn waiting(world: Arc<World>, tx: TxId, fence: Fence) -> Result<Waiting, StoreError> {
    let statement = Statement::begin(&world, tx)?;
    let now = world.now();
    statement
        .read(|tables, view| {
            let ours = |((stage, _), mark): &(&(String, String), &Mark)| {
                stage == fence.stage.as_str() && mark.share == fence.share.0
            };
            let marks: Vec<_> = tables.waiting.iter(view).filter(ours).map(|(_, mark)| mark).collect();
            let first = marks.iter().filter_map(|mark| mark.due_at).min();
            Waiting { lanes: marks.len() as u64, due_in: first.map(|due_at| due_at.saturating_sub(now)) }
        })
        .await
}

pub(super) async fn waiting_lanes(
    world: Arc<World>,
    tx: TxId,
    fence: Fence,
    lanes: Vec<String>,
) -> Result<Vec<String>, StoreError> {
    let statement = Statement::begin(&world, tx)?;
    let stage = fence.stage.as_str().to_owned();
    statement
        .read(|tables, view| {
            let waits = |lane: &String| tables.waiting.get(view, &(stage.clone(), lane.clone())).is_some();
            lanes.into_iter().filter(waits).collect()
        })
        .await
}
