//! Publishes one page to its end: read, publish in key order, settle.
//!
//! Invariant: progress moves past an event only in the write that follows its confirmation, or that holds it or sets it
//! aside. A crash in between publishes it again; the consumer's inbox absorbs the copy.
//!
//! Within a page the events of one lane go out one after the other, each after the confirmation of the one before, and
//! lanes side by side: so a leader that was paused can only repeat a prefix of each key, in order.

use super::RelayConfig;
use crate::{
    broker::{Broker, BrokerError, Outgoing, Published},
    cursor::{LogCursor, LogEvent, Settled},
    envelope::{Envelope, Seq},
    held::{Change, Failure, HeldEvent, HeldId, Lane},
    held_watch::HeldWatch,
    leadership::Grant,
    poison::Attempt,
    store::{Store, StoreError},
    telemetry,
};
use std::collections::HashSet;

/// What one step did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relayed {
    /// There was nothing to do.
    Idle,
    /// A page went out; more is likely to be there when `full`.
    Page { full: bool },
}

/// Why a step has no end. What was confirmed is remembered and not published again by this leader.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RelayError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Broker(#[from] BrokerError),
}

impl RelayError {
    pub(crate) fn is_lease_lost(&self) -> bool {
        matches!(self, Self::Store(StoreError::LeaseLost { .. }))
    }

    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Self::Store(error) => error.is_transient(),
            Self::Broker(error) => error.is_transient(),
        }
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
}

/// A page between its reading and its settling.
#[derive(Debug, Default)]
pub(crate) struct PageInWork {
    items: Vec<Item>,
    through: Option<Seq>,
    late: Vec<Seq>,
    full: bool,
}

/// One event of a page, or the head of a lane that waits.
#[derive(Debug)]
struct Item {
    envelope: Envelope,
    lane: Lane,
    /// Attempts charged and whether it is a replay; `None` when it comes from the log.
    held: Option<(u32, bool)>,
    outcome: Outcome,
}

#[derive(Debug)]
enum Outcome {
    /// To be published.
    Open,
    /// Confirmed by the broker.
    Confirmed,
    /// Not confirmed: refused for good, or to be tried again.
    Failed { failure: Failure, for_good: bool },
    /// Behind an event of its lane that failed or waits.
    Behind,
}

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
        let published = self.publish(&mut page).await;
        if let Err(error) = published {
            // The page stays, with what was confirmed of it.
            self.page = Some(page);
            return Err(error);
        }
        let relayed = if page.is_empty() { Relayed::Idle } else { Relayed::Page { full: page.full } };
        self.settle(page).await?;
        Ok(relayed)
    }

    async fn read(&mut self) -> Result<PageInWork, RelayError> {
        let fence = &self.grant.fence;
        let heads = self.watch.look(self.store, fence, self.config.page_max).await?;
        let mut page =
            PageInWork { items: heads.into_iter().map(Item::from_held).collect(), ..PageInWork::default() };
        if self.watch.lanes() >= self.config.waiting_keys_max {
            return Ok(page);
        }
        let read = self.log.read(self.config.page_max).await?;
        page.through = read.through;
        page.full = read.full;
        page.late = read.late_unmatched;
        page.late.extend(read.events.iter().filter(|event| event.late).map(|event| event.envelope.seq));
        let mut items: Vec<Item> = read.events.into_iter().map(Item::from_log).collect();
        if self.watch.lanes() > 0 && !items.is_empty() {
            let lanes: HashSet<String> = items.iter().map(|item| item.lane.as_str().to_owned()).collect();
            let lanes: Vec<String> = lanes.into_iter().collect();
            let waiting = self.store.waiting_lanes(fence, &lanes).await?;
            for item in &mut items {
                if waiting.iter().any(|lane| lane == item.lane.as_str()) {
                    item.outcome = Outcome::Behind;
                }
            }
        }
        page.items.append(&mut items);
        Ok(page)
    }

    /// Publishes what is open: in each wave the first open event of every lane.
    async fn publish(&mut self, page: &mut PageInWork) -> Result<(), RelayError> {
        loop {
            let wave = page.next_wave(self.broker.capabilities().ordered_pipeline);
            if wave.is_empty() {
                break;
            }
            // A leader that was paused must not go on: another may have passed it.
            if !self.grant.is_valid() {
                return Err(self.grant.lost_error().into());
            }
            let answers = {
                let batch: Vec<Outgoing<'_>> =
                    wave.iter().map(|index| page.items[*index].outgoing()).collect();
                let publish = self.broker.publish(&batch);
                match tokio::time::timeout(self.config.publish_timeout, publish).await {
                    Ok(answers) => answers?,
                    Err(elapsed) => {
                        return Err(BrokerError::Unavailable {
                            broker: self.broker.capabilities().name,
                            action: "confirm a batch in time",
                            source: Box::new(elapsed),
                        }
                        .into());
                    }
                }
            };
            self.grant.moved();
            page.take_answers(&wave, answers)?;
        }
        Ok(())
    }

    /// Records the page: progress, and what is to become of the events that failed.
    async fn settle(&mut self, page: PageInWork) -> Result<(), RelayError> {
        let settled = Settled { through: page.through, late: page.late.clone() };
        let changes = page.changes(self.config);
        if settled.through.is_none() && settled.late.is_empty() {
            if !changes.is_empty() {
                self.store.apply(&self.grant.fence, &changes).await?;
            }
        } else {
            self.log.settle(&self.grant.fence, &settled, &changes).await?;
        }
        if !changes.is_empty() {
            self.watch.changed();
        }
        Ok(())
    }
}

impl PageInWork {
    fn is_empty(&self) -> bool {
        self.items.is_empty() && self.through.is_none() && self.late.is_empty()
    }

    /// The events that may be in flight together. An event whose lane has a failed one before it goes behind that.
    fn next_wave(&mut self, whole_lanes: bool) -> Vec<usize> {
        let mut failed: HashSet<Lane> = HashSet::new();
        let mut taken: HashSet<Lane> = HashSet::new();
        let mut wave = Vec::new();
        for (index, item) in self.items.iter_mut().enumerate() {
            match item.outcome {
                Outcome::Failed { .. } => {
                    failed.insert(item.lane.clone());
                }
                Outcome::Open if failed.contains(&item.lane) => item.outcome = Outcome::Behind,
                Outcome::Open if whole_lanes || taken.insert(item.lane.clone()) => wave.push(index),
                Outcome::Open | Outcome::Confirmed | Outcome::Behind => {}
            }
        }
        wave
    }

    /// Takes the broker's word on a wave.
    ///
    /// # Errors
    /// When nothing of the page was confirmed or refused and all of the wave should be tried again: the broker as a
    /// whole is in trouble, and no event is charged for it.
    fn take_answers(&mut self, wave: &[usize], answers: Vec<Published>) -> Result<(), RelayError> {
        let answered = |item: &Item| !matches!(item.outcome, Outcome::Open | Outcome::Behind);
        let in_trouble = !answers.is_empty()
            && answers.iter().all(|answer| matches!(answer, Published::TryAgain(_)))
            && !self.items.iter().any(answered);
        for (index, answer) in wave.iter().zip(answers) {
            let outcome = match answer {
                Published::TryAgain(error) if in_trouble => return Err(error.into()),
                Published::Confirmed { duplicate } => {
                    if duplicate {
                        tracing::debug!("the broker had the event already");
                    }
                    Outcome::Confirmed
                }
                Published::Refused(error) => failed("refused", &error, true),
                Published::TryAgain(error) => failed("not-confirmed", &error, false),
            };
            self.items[*index].outcome = outcome;
        }
        Ok(())
    }

    /// What is to become of the events that failed, of those behind them, and of heads that are done.
    fn changes(&self, config: &RelayConfig) -> Vec<Change> {
        let change = |item: &Item| match (&item.outcome, item.held) {
            (Outcome::Confirmed, Some(_)) => Some(Change::Done { held: HeldId::of(&item.envelope) }),
            (Outcome::Failed { failure, for_good }, held) => {
                let attempt = Attempt {
                    envelope: &item.envelope,
                    attempts_before: held.map(|(attempts, _)| attempts),
                    failure: failure.clone(),
                    for_good: *for_good,
                    retry: &config.retry,
                };
                Some(attempt.judge().0)
            }
            (Outcome::Behind, _) => Some(Change::Behind { envelope: item.envelope.clone() }),
            (Outcome::Confirmed | Outcome::Open, _) => None,
        };
        self.items.iter().filter_map(change).collect()
    }
}

fn failed(reason: &'static str, error: &BrokerError, for_good: bool) -> Outcome {
    Outcome::Failed { failure: Failure { reason, error_chain: telemetry::error_chain(error) }, for_good }
}

impl Item {
    fn from_held(held: HeldEvent) -> Self {
        let lane = Lane::of(&held.envelope);
        Self {
            envelope: held.envelope,
            lane,
            held: Some((held.attempts, held.replayed)),
            outcome: Outcome::Open,
        }
    }

    fn from_log(event: LogEvent) -> Self {
        let lane = Lane::of(&event.envelope);
        Self { envelope: event.envelope, lane, held: None, outcome: Outcome::Open }
    }

    fn outgoing(&self) -> Outgoing<'_> {
        // Inside its own dedup window a broker would drop the copy that a replay asks for.
        let replayed = self.held.is_some_and(|(_, replayed)| replayed);
        let message_id = if replayed { uuid::Uuid::new_v4() } else { self.envelope.id.0 };
        Outgoing { envelope: &self.envelope, message_id }
    }
}
