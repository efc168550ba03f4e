//! Publishes one page to its end: read, publish in key order, settle.
//!
//! Invariant: progress moves past an event only in the write that follows its confirmation, or that holds it or sets it
//! aside. A crash in between publishes it again; the consumer's inbox absorbs the copy.
//!
//! Within a page the events of one lane go out one after the other, each after the confirmation of the one before, and
//! lanes side by side: so a leader that was paused can only repeat a prefix of each key, in order.

use super::{RelayConfig, page::PageInWork, topics::Topics};
use crate::{
    broker::{Broker, BrokerError, Published},
    cursor::LogCursor,
    held::{Change, Lane},
    held_watch::HeldWatch,
    leadership::Grant,
    store::{Store, StoreError},
    suspicion::Suspicion,
    telemetry::{self, Outcome},
};
use std::collections::HashSet;

/// What one step did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relayed {
    /// There was nothing to do.
    Idle,
    /// A page went out; more is likely to be there when `full`.
    Page { full: bool },
    /// Nothing of the page was confirmed, and its events are held for later.
    Postponed,
}

/// Why a step has no end. What was confirmed is remembered and not published again by this leader.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RelayError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Broker(#[from] BrokerError),
    /// The broker answers, yet says of every event that it should be tried again.
    #[error("the broker confirmed no event of a page")]
    Unconfirmed(#[source] BrokerError),
}

impl RelayError {
    pub(crate) fn is_lease_lost(&self) -> bool {
        matches!(self, Self::Store(StoreError::LeaseLost { .. }))
    }

    /// Whether the stage must end. What a broker refuses somebody may allow again, and no other stage is to suffer.
    pub(crate) fn is_for_good(&self) -> bool {
        matches!(self, Self::Store(error) if !error.is_transient())
    }

    /// Whether a person must act before it passes.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Self::Broker(error) | Self::Unconfirmed(error) if !error.is_transient())
    }
}

/// One leader's work on the log.
pub(crate) struct Step<'a, S: Store> {
    pub(crate) store: &'a S,
    pub(crate) broker: &'a dyn Broker,
    pub(crate) config: &'a RelayConfig,
    pub(crate) grant: &'a Grant,
    pub(crate) log: S::Log,
    pub(crate) watch: HeldWatch,
    pub(crate) page: Option<PageInWork>,
    /// How often in a row nothing of the page was confirmed.
    pub(crate) troubles: u32,
    pub(crate) topics: Topics,
    pub(crate) suspicion: Suspicion,
    /// Whether the page is of one event that ended a process before.
    pub(crate) is_tried_alone: bool,
}

/// How often a page of which nothing is confirmed is published before its first events are held, so that others go on.
const TROUBLES_MAX: u32 = 3;

impl<S: Store> Step<'_, S> {
    /// Does one page and the heads that are due.
    ///
    /// # Cancel safety
    /// If dropped, the page may be published again, by this leader or the next.
    pub(crate) async fn relay_once(&mut self) -> Result<Relayed, RelayError> {
        self.grant.moved();
        let mut page = match self.page.take() {
            Some(page) => page,
            None => self.read().await?,
        };
        if !page.is_empty() {
            let (taken, only) = (page.len(), page.only());
            self.suspicion.begin(self.store, self.grant, taken, only, self.is_tried_alone).await?;
        }
        let published = self.publish(&mut page).await;
        if let Err(error) = published {
            // The page stays, with what was confirmed of it.
            self.page = Some(page);
            self.suspicion.leave_off(self.store, self.grant).await?;
            return Err(error);
        }
        let relayed = match page.is_empty() {
            true => Relayed::Idle,
            false if self.troubles > 0 => Relayed::Postponed,
            false => Relayed::Page { full: page.is_full() },
        };
        self.troubles = 0;
        let (cleared, charged) = (page.to_clear(), page.is_charged);
        self.settle(page).await?;
        if charged {
            self.suspicion.charged(self.store, self.grant).await?;
        }
        self.suspicion.end(self.store, self.grant, cleared).await?;
        Ok(relayed)
    }

    async fn read(&mut self) -> Result<PageInWork, RelayError> {
        let fence = &self.grant.fence;
        let (max, heads_max) = (self.suspicion.taken_max(), self.suspicion.heads_max());
        let due = self.watch.look(self.store, fence, heads_max).await?;
        let was_last_head = due.len() < heads_max as usize;
        let (alone, mut heads) = self.suspicion.choose(due);
        self.is_tried_alone = alone.is_some();
        if let Some(alone) = alone {
            heads = vec![alone];
        }
        let room = max.saturating_sub(u32::try_from(heads.len()).unwrap_or(u32::MAX));
        let is_cut = self.is_tried_alone || (self.suspicion.is_on() && room == 0);
        let is_full = self.watch.is_full(fence, self.config.waiting_keys_max);
        if is_cut || is_full {
            let mut page = PageInWork::of_heads(heads);
            page.was_last_head = was_last_head && !self.is_tried_alone;
            page.was_last_new = is_full;
            return Ok(self.prepared(page));
        }
        let page_max = if self.suspicion.is_on() { room } else { self.config.page_max };
        let page = self.log.read(page_max).await?;
        let mut waiting = HashSet::new();
        if self.watch.lanes() > 0 && !page.events.is_empty() {
            let lanes = page.events.iter().map(|event| Lane::of(&event.envelope)).collect();
            waiting = self.watch.waiting_of(self.store, fence, lanes).await?;
        }
        let rows = page.events.len() + page.late_unmatched.len();
        let was_last_new = !page.full && rows < page_max as usize;
        let mut page = PageInWork::new(heads, page, &waiting);
        (page.was_last_head, page.was_last_new) = (was_last_head, was_last_new);
        Ok(self.prepared(page))
    }

    /// A page without what is not to be published now.
    fn prepared(&mut self, mut page: PageInWork) -> PageInWork {
        if self.suspicion.ended().is_some_and(|ended| page.charge(ended)) {
            self.is_tried_alone = false;
        }
        page.hold_back(&mut self.topics);
        page
    }

    /// Publishes what is open: in each wave the first open event of every lane.
    async fn publish(&mut self, page: &mut PageInWork) -> Result<(), RelayError> {
        loop {
            let wave = page.next_wave(self.broker.capabilities().ordered_pipeline);
            if wave.is_empty() {
                break;
            }
            // A leader that was paused must not go on: another may have passed it.
            self.grant.valid().await?;
            let answers = {
                let batch = page.outgoing(&wave);
                let publish = self.broker.publish(&batch);
                match tokio::time::timeout(self.config.publish_timeout, publish).await {
                    Ok(answers) => answers?,
                    Err(elapsed) => return Err(unavailable(self.broker, "confirm a batch in time", elapsed)),
                }
            };
            self.grant.moved();
            self.take_answers(page, &wave, answers).await?;
        }
        Ok(())
    }

    /// Takes the broker's word on a wave.
    ///
    /// A broker in trouble as a whole is waited for, and no event is charged. But an event that is never confirmed looks
    /// the same when it is alone in its page: so if the broker is well, the events are held without a charge and those
    /// behind them in the log go on.
    async fn take_answers(
        &mut self,
        page: &mut PageInWork,
        wave: &[usize],
        mut answers: Vec<Published>,
    ) -> Result<(), RelayError> {
        if answers.len() != wave.len() {
            return Err(unavailable(self.broker, "answer for each event of a batch", "answers are missing"));
        }
        let is_in_trouble = page.is_in_trouble(&answers);
        if is_in_trouble {
            self.troubles += 1;
            // Heads are held already, so nothing is moved if it is the broker after all.
            if !page.is_of_heads(wave) {
                self.await_better_times(&mut answers).await?;
            }
        }
        page.take_answers(wave, answers, is_in_trouble);
        Ok(())
    }

    /// Fails as long as nothing tells that the broker is well.
    async fn await_better_times(&mut self, answers: &mut Vec<Published>) -> Result<(), RelayError> {
        if self.troubles < TROUBLES_MAX
            && let Some(Published::TryAgain(error)) = answers.pop()
        {
            return Err(RelayError::Unconfirmed(error));
        }
        match tokio::time::timeout(self.config.publish_timeout, self.broker.connect()).await {
            Ok(connected) => connected.map_err(RelayError::Unconfirmed),
            Err(elapsed) => Err(unavailable(self.broker, "answer in time", elapsed)),
        }
    }

    /// Records the page: progress, and what is to become of the events that failed.
    async fn settle(&mut self, mut page: PageInWork) -> Result<(), RelayError> {
        page.judge(&mut self.topics);
        let changes = page.changes(self.config, self.grant.takeover);
        let published = page.published();
        let settled = page.settled();
        if settled.through.is_none() && settled.late.is_empty() {
            if !changes.is_empty() {
                self.store.apply(&self.grant.fence, &changes).await?;
            }
        } else {
            self.log.settle(&self.grant.fence, &settled, &changes).await?;
        }
        self.count(published, &changes);
        if !changes.is_empty() {
            self.watch.changed_by(&changes);
        }
        Ok(())
    }

    fn count(&self, (fresh, duplicates): (u64, u64), changes: &[Change]) {
        let dead = changes.iter().filter(|change| matches!(change, Change::Dead { .. })).count() as u64;
        let done = changes.iter().filter(|change| matches!(change, Change::Done { .. })).count() as u64;
        let held = changes.len() as u64 - dead - done;
        let counts = [
            (Outcome::Published, fresh),
            (Outcome::Duplicate, duplicates),
            (Outcome::Held, held),
            (Outcome::Dead, dead),
        ];
        for (outcome, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
            telemetry::count_events(self.grant.fence.stage.as_str(), outcome, count);
        }
    }
}

fn unavailable(
    broker: &dyn Broker,
    action: &'static str,
    source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> RelayError {
    BrokerError::Unavailable { broker: broker.capabilities().name, action, source: source.into() }.into()
}
