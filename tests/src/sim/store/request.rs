//! Dead letters for people, and what they ask of them.

use super::record::{Recorder, delete_dead};
use crate::sim::database::{DeadRow, HeldRow, Mode, TxId};
use crate::sim::server::Statement;
use crate::sim::world::World;
use outbox::StoreError;
use outbox::dead_letter::{DeadLetter, DeadLetterFilter, Request};
use outbox::envelope::EventId;
use outbox::held::Stage;
use outbox::lease::Fence;
use std::sync::Arc;
use std::time::Duration;

fn matches(filter: &DeadLetterFilter, stage: &str, dead: &DeadRow) -> bool {
    (filter.ids.is_empty() || filter.ids.contains(&dead.number))
        && filter.stage.as_ref().is_none_or(|wanted| wanted.as_str() == stage)
}

pub(super) async fn dead_letters(
    world: Arc<World>,
    tx: TxId,
    filter: DeadLetterFilter,
    max: usize,
) -> Result<Vec<DeadLetter>, StoreError> {
    let statement = Statement::begin(&world, tx)?;
    let failed_at = super::moment(Duration::ZERO);
    statement
        .read(|tables, view| {
            let dead = tables.dead.iter(view).filter(|((stage, _), dead)| matches(&filter, stage, dead));
            let letters = dead.map(|((stage, _), dead)| {
                DeadLetter::from_row(
                    dead.number,
                    Stage::from_text(stage.clone()),
                    dead.envelope.clone(),
                    (dead.reason.to_owned(), String::new()),
                    dead.attempts,
                    (failed_at, failed_at),
                    dead.parks_key,
                    dead.is_replaying,
                )
            });
            letters.take(max).collect()
        })
        .await
}

pub(super) async fn request(
    world: Arc<World>,
    tx: TxId,
    filter: DeadLetterFilter,
    request: Request,
) -> Result<u64, StoreError> {
    let statement = Statement::begin(&world, tx)?;
    let is_asked_for = |dead: &DeadRow| !(dead.is_replaying && request == Request::Replay);
    let wanted: Vec<(String, EventId)> = statement
        .read(|tables, view| {
            let dead = tables.dead.iter(view).filter(|((stage, _), dead)| matches(&filter, stage, dead));
            dead.filter(|(_, dead)| is_asked_for(dead)).map(|(key, _)| key.clone()).collect()
        })
        .await?;
    let mut recorded = 0;
    for key in wanted {
        recorded += statement
            .write(|tables, view| {
                // FOR KEY SHARE: the dead letter does not go while it is asked for.
                if tables.dead.lock(view, &key, Mode::Share, |_| true)?.is_none() {
                    return Ok(0);
                }
                let is_new = tables.request.insert(view, key.clone(), (request, world.now()))?;
                Ok(u64::from(is_new))
            })
            .await?;
    }
    Ok(recorded)
}

pub(super) async fn act_on_requests(
    world: Arc<World>,
    tx: TxId,
    fence: Fence,
    max: usize,
) -> Result<u32, StoreError> {
    Statement::begin(&world, tx)?.lock_fence(&fence).await?;
    let stage = fence.stage.as_str();
    let recorder = Recorder { world: &world, tx, stage, share: &fence.share.0 };
    let take = recorder.statement()?;
    let mut wanted: Vec<_> = take
        .read(|tables, view| {
            let requests = tables.request.iter(view).filter(|((at, _), _)| at == stage);
            let of_share = |key: &_| tables.dead.get(view, key).filter(|dead| dead.share == fence.share.0);
            requests
                .filter_map(|(key, (request, at))| {
                    Some((*at, key.clone(), *request, of_share(key)?.lane.clone()))
                })
                .collect()
        })
        .await?;
    wanted.sort_by_key(|(at, key, ..)| (*at, key.clone()));
    wanted.truncate(max);
    let mut taken = Vec::new();
    for (_, key, request, lane) in wanted {
        if take.write(|tables, view| tables.request.delete(view, &key)).await?.is_some() {
            taken.push((key, request, lane));
        }
    }
    let mut lanes: Vec<&str> = taken.iter().map(|(_, _, lane)| lane.as_str()).collect();
    lanes.sort_unstable();
    lanes.dedup();
    for lane in lanes {
        recorder.lock_lane(lane, Duration::ZERO).await?;
    }
    for (key, request, lane) in &taken {
        recorder.lock_lane(lane, Duration::ZERO).await?;
        match request {
            Request::Discard => discard(&recorder, key).await?,
            Request::Replay => replay(&recorder, key).await?,
        }
        recorder.advance(lane).await?;
    }
    Ok(u32::try_from(taken.len()).expect("at most `max` rows"))
}

async fn discard(recorder: &Recorder<'_>, key: &(String, EventId)) -> Result<(), StoreError> {
    let statement = recorder.statement()?;
    let Some(dead) = delete_dead(&statement, key).await? else { return Ok(()) };
    let held = (key.0.clone(), dead.lane, dead.envelope.seq.0, key.1);
    statement.write(|tables, view| tables.held.delete(view, &held)).await.map(|_| ())
}

async fn replay(recorder: &Recorder<'_>, key: &(String, EventId)) -> Result<(), StoreError> {
    let statement = recorder.statement()?;
    let replaying = statement
        .write(|tables, view| {
            let dead = tables.dead.lock(view, key, Mode::Exclusive, |_| true)?;
            if let Some(dead) = &dead {
                tables.dead.replace(view, key, DeadRow { is_replaying: true, ..dead.clone() });
            }
            Ok(dead)
        })
        .await?;
    let Some(DeadRow { lane, envelope, .. }) = replaying else { return Ok(()) };
    let held = (key.0.clone(), lane, envelope.seq.0, key.1);
    let row = HeldRow { envelope, attempts: 0, is_replayed: true };
    statement
        .write(|tables, view| {
            if !tables.held.insert(view, held.clone(), row.clone())?
                && tables.held.lock_newest(view, &held, Mode::Exclusive)?.is_some()
            {
                tables.held.replace(view, &held, row.clone());
            }
            Ok(())
        })
        .await
}
