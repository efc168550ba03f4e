//! Held events, marks and dead letters: each change in the statements that PostgreSQL runs for it.

use super::waiting;
use crate::sim::Mutation;
use crate::sim::client::SimTx;
use crate::sim::database::{DeadRow, HeldKey, HeldRow, Mark, Mode, Tables, TxId, View};
use crate::sim::server::Statement;
use crate::sim::world::World;
use outbox::StoreError;
use outbox::envelope::{Envelope, EventId};
use outbox::held::{Change, HeldId, Lane};
use outbox::lease::Fence;
use std::sync::Arc;
use std::time::Duration;

/// The changes of one write, in a transaction that holds the fence.
pub(super) struct Recorder<'a> {
    pub(super) world: &'a Arc<World>,
    pub(super) tx: TxId,
    pub(super) stage: &'a str,
    pub(super) share: &'a str,
}

/// Locks the fence and applies the changes.
pub(super) async fn apply_fenced(
    tx: &mut SimTx,
    fence: &Fence,
    changes: &[Change],
) -> Result<(), StoreError> {
    let (fence, changes) = (fence.clone(), changes.to_vec());
    let apply = |world: Arc<World>, tx| async move {
        let statement = Statement::begin(&world, tx)?;
        if let Err(lost) = statement.lock_fence(&fence).await {
            if world.mutation != Mutation::WriteBesideFence {
                return Err(lost);
            }
            statement.write_as(&fence);
        }
        let recorder = Recorder { world: &world, tx, stage: fence.stage.as_str(), share: &fence.share.0 };
        recorder.apply(changes).await
    };
    tx.run("record a stage's changes", apply).await
}

impl Recorder<'_> {
    pub(super) fn statement(&self) -> Result<Statement<'_>, StoreError> {
        Statement::begin(self.world, self.tx)
    }

    fn lane(&self, lane: &str) -> (String, String) {
        (self.stage.to_owned(), lane.to_owned())
    }

    fn held_key(&self, held: &HeldId) -> HeldKey {
        (self.stage.to_owned(), held.lane.as_str().to_owned(), held.seq.0, held.id)
    }

    async fn apply(&self, changes: Vec<Change>) -> Result<(), StoreError> {
        let charged = changes.iter().map(|change| match change {
            Change::Hold { attempts, .. }
            | Change::Retry { attempts, .. }
            | Change::Dead { attempts, .. } => *attempts,
            Change::Behind { .. } | Change::Done { .. } => 0,
        });
        let charged = charged.max().filter(|_| self.world.mutation == Mutation::AttemptForWholePage);
        for change in changes {
            self.world.tell(|| format!("{} is to record {change:?}", self.stage));
            match change {
                Change::Hold { envelope, attempts, retry_in, .. } => {
                    self.hold(&envelope, charged.unwrap_or(attempts), retry_in).await?;
                }
                Change::Behind { envelope } => {
                    self.hold(&envelope, charged.unwrap_or(0), Duration::ZERO).await?;
                }
                Change::Retry { held, attempts, retry_in, .. } => {
                    self.retry(&held, attempts, retry_in).await?;
                }
                Change::Done { held } => self.finish(&held).await?,
                Change::Dead { envelope, attempts, failure, park } => {
                    self.set_aside(&envelope, attempts, failure.reason, park).await?;
                }
            }
        }
        Ok(())
    }

    fn check_attempts(&self, envelope: &Envelope, attempts: u32) {
        let tries = self.world.tries(self.stage, envelope.id);
        if attempts > tries {
            let event = &envelope.payload;
            self.world.breach(format!(
                "{} charges {attempts} attempts to {event}, which was tried {tries} times",
                self.stage
            ));
        }
    }

    async fn hold(&self, envelope: &Envelope, attempts: u32, retry_in: Duration) -> Result<(), StoreError> {
        self.check_attempts(envelope, attempts);
        let lane = Lane::of(envelope).as_str().to_owned();
        self.lock_lane(&lane, retry_in).await?;
        let key = self.held_key(&HeldId::of(envelope));
        let dead = (self.stage.to_owned(), envelope.id);
        let statement = self.statement()?;
        let is_dead = statement.read(|tables, view| tables.dead.get(view, &dead).is_some()).await?;
        let row = HeldRow { envelope: envelope.clone(), attempts, is_replayed: false };
        let is_held = !is_dead
            && statement.write(|tables, view| tables.held.insert(view, key.clone(), row.clone())).await?;
        if is_held {
            return Ok(());
        }
        // The mark was set for an event that turned out to be set aside already.
        let mark = self.lane(&lane);
        let statement = self.statement()?;
        let is_needed = statement
            .read(|tables, view| {
                let state = LaneState::of(tables, view, self.stage, &lane);
                state.has_held || state.is_parked
            })
            .await?;
        if !is_needed {
            statement.write(|tables, view| tables.waiting.delete(view, &mark)).await?;
        }
        Ok(())
    }

    async fn retry(&self, held: &HeldId, attempts: u32, retry_in: Duration) -> Result<(), StoreError> {
        let (key, mark) = (self.held_key(held), self.lane(held.lane.as_str()));
        let statement = self.statement()?;
        let failed = statement
            .write(|tables, view| {
                let Some(row) = tables.held.lock(view, &key, Mode::Exclusive, |_| true)? else {
                    return Ok(None);
                };
                tables.held.replace(view, &key, HeldRow { attempts, ..row.clone() });
                Ok(Some(row.envelope))
            })
            .await?;
        let Some(envelope) = failed else { return Ok(()) };
        self.check_attempts(&envelope, attempts);
        statement
            .write(|tables, view| {
                if let Some(waiting) = tables.waiting.lock(view, &mark, Mode::Exclusive, |_| true)? {
                    let due_at = Some(self.world.now() + retry_in);
                    tables.waiting.replace(view, &mark, Mark { due_at, ..waiting });
                }
                Ok(())
            })
            .await
    }

    async fn finish(&self, held: &HeldId) -> Result<(), StoreError> {
        self.lock_lane(held.lane.as_str(), Duration::ZERO).await?;
        let key = self.held_key(held);
        let statement = self.statement()?;
        let done = statement.write(|tables, view| tables.held.delete(view, &key)).await?;
        if done.is_some_and(|row| row.is_replayed) {
            delete_dead(&statement, &(self.stage.to_owned(), held.id)).await?;
        }
        self.advance(held.lane.as_str()).await
    }

    async fn set_aside(
        &self,
        envelope: &Envelope,
        attempts: u32,
        reason: &'static str,
        parks_key: bool,
    ) -> Result<(), StoreError> {
        self.check_attempts(envelope, attempts);
        let lane = Lane::of(envelope).as_str().to_owned();
        self.lock_lane(&lane, Duration::ZERO).await?;
        let key = self.held_key(&HeldId::of(envelope));
        let statement = self.statement()?;
        statement.write(|tables, view| tables.held.delete(view, &key)).await?;
        let dead = (self.stage.to_owned(), envelope.id);
        let set_aside = |tables: &mut Tables, view: &View<'_>| {
            let number = tables.next_number();
            let (share, lane) = (self.share.to_owned(), lane.clone());
            let envelope = envelope.clone();
            let row =
                DeadRow { number, share, lane, envelope, attempts, reason, parks_key, is_replaying: false };
            if tables.dead.insert(view, dead.clone(), row.clone())? {
                return Ok(());
            }
            if let Some(before) = tables.dead.lock_newest(view, &dead, Mode::Exclusive)? {
                let (number, attempts) = (before.number, before.attempts + attempts);
                tables.dead.replace(view, &dead, DeadRow { number, attempts, ..row });
            }
            Ok(())
        };
        if self.world.mutation != Mutation::FailureForgotten {
            statement.write(set_aside).await?;
        }
        self.advance(&lane).await
    }

    /// Locks the mark of a lane; one that does not wait gets one.
    pub(super) async fn lock_lane(&self, lane: &str, retry_in: Duration) -> Result<(), StoreError> {
        let key = self.lane(lane);
        let statement = self.statement()?;
        statement
            .write(|tables, view| {
                let due_at = Some(self.world.now() + retry_in);
                let mark = Mark { share: self.share.to_owned(), due_at };
                if !tables.waiting.insert(view, key.clone(), mark)?
                    && self.world.mutation != Mutation::MarksNotLocked
                {
                    tables.waiting.lock_newest(view, &key, Mode::Exclusive)?;
                }
                Ok(())
            })
            .await
    }

    /// Lets a lane go on after its head has changed.
    pub(super) async fn advance(&self, lane: &str) -> Result<(), StoreError> {
        let key = self.lane(lane);
        let statement = self.statement()?;
        let state = statement.read(|tables, view| LaneState::of(tables, view, self.stage, lane)).await?;
        let LaneState { mut has_held, has_replayed, is_parked } = state;
        if self.world.mutation == Mutation::MarkLiftedEarly {
            has_held = false;
        }
        statement
            .write(|tables, view| {
                let Some(mark) = tables.waiting.lock(view, &key, Mode::Exclusive, |_| true)? else {
                    return Ok(());
                };
                if !has_held && !is_parked {
                    tables.waiting.remove(view, &key);
                    return Ok(());
                }
                let due_at = (has_replayed || !is_parked).then(|| self.world.now());
                tables.waiting.replace(view, &key, Mark { due_at, ..mark });
                Ok(())
            })
            .await
    }
}

/// Deletes a dead letter, and what was asked of it.
pub(super) async fn delete_dead(
    statement: &Statement<'_>,
    key: &(String, EventId),
) -> Result<Option<DeadRow>, StoreError> {
    let dead = statement.write(|tables, view| tables.dead.delete(view, key)).await?;
    statement.write(|tables, view| tables.request.delete_newest(view, key)).await?;
    Ok(dead)
}

/// What decides how a lane goes on.
pub(super) struct LaneState {
    has_held: bool,
    has_replayed: bool,
    pub(super) is_parked: bool,
}

impl LaneState {
    pub(super) fn of(tables: &Tables, view: &View<'_>, stage: &str, lane: &str) -> Self {
        let is_in = |dead: &DeadRow, at: &str| at == stage && dead.lane == lane;
        let dead: Vec<&DeadRow> =
            tables.dead.iter(view).filter(|((at, _), dead)| is_in(dead, at)).map(|(_, dead)| dead).collect();
        Self {
            has_held: waiting::held_in(tables, view, stage, lane).next().is_some(),
            has_replayed: dead.iter().any(|dead| dead.is_replaying),
            is_parked: dead.iter().any(|dead| dead.parks_key && !dead.is_replaying),
        }
    }
}
