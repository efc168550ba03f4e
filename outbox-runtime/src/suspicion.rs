//! Finds the event that ends the process which works on it, without a charge to any other.
//!
//! ```text
//!             bad end                  a lot of the suspects in work
//!  ordinary ─────────▶ all that was in work is suspect ──▶ good end: the next lot ──▶ none is left: ordinary
//!     ▲                                                ├─▶ bad end: that lot is suspect
//!     │                                                └─▶ bad end of one alone: charged, held, and from then on
//!     └────────────────────────────────────────────────────  only tried alone until its attempts are used up
//! ```
//! Suspects are due heads, or what comes next from the log or the broker; the mark does not say how many of which. So each of
//! both is counted by itself, and a lot has no more than half of heads: behind each head that is done another may be due, and
//! the suspects behind them all would never have their turn.
//!
//! A lot is the 32nd part of the suspects: a mark before each costs little, and a bad end costs a take-over. So of a page of
//! 1,000 the culprit is alone at the third bad end: one in ordinary work, one of a lot, and its own. An end by hand-over
//! is a good one. After a lost connection or lease nobody is suspected as long as the same process goes on. Nor is what
//! nobody had before: at the end of what the one before may have had in work, the search is over.
//!
//! A process may lead many stages, and its end does not say which of them did it. So in one process only one suspect is alone
//! in work at a time, and no lot beside it; only what is in work is divided or charged. Where lots of several stages were,
//! those that are divided in vain are soon through. An event that ended a process rests the longer the oftener it did, so
//! that everybody else gets on meanwhile.

use crate::{
    envelope::EventId,
    held::{Failure, HeldEvent},
    leadership::Grant,
    marker::Marker,
    store::{Store, StoreError},
};
use std::time::Duration;
use tokio::{
    sync::{RwLock, RwLockReadGuard, RwLockWriteGuard},
    time::Instant,
};

/// Into how many lots suspects are divided.
const LOTS: u32 = 32;

/// The fewest in a lot, unless each suspect is one.
const LOT_MIN: u32 = 16;

/// How many take-overs an event rests for each process that it ended: a take-over is what its next one costs everybody.
const TAKEOVERS: u32 = 2;

/// How long an event is waited for that is to be charged, until another is tried alone: the mark names only one.
const CHARGE_WAIT: Duration = Duration::from_secs(10);

/// Whoever works on suspects in this process: on one alone, or on lots beside each other.
static TURN: RwLock<()> = RwLock::const_new(());

/// How often a stage that waits for its turn says that it is well.
const WAIT: Duration = Duration::from_secs(1);

/// Reasons that stores know: what failed for one of them is tried alone.
const PROCESS_ENDED: &str = "process-ended";
const CONNECTION_LOST: &str = "connection-lost";

/// The failure of an event that was alone in work when its process ended.
pub(crate) fn failure() -> Failure {
    let error_chain = "the process ended while this event was the only one in work".to_owned();
    Failure { reason: PROCESS_ENDED, error_chain }
}

/// The failure of an event whose handler lost its connection.
pub(crate) fn connection_lost(error_chain: String) -> Failure {
    Failure { reason: CONNECTION_LOST, error_chain }
}

/// How long an event rests for each attempt that was charged, after this failure and beside the wait of its retry policy.
pub(crate) fn rest_after(failure: &Failure, takeover: Duration) -> Duration {
    match failure.reason {
        PROCESS_ENDED | CONNECTION_LOST => takeover.saturating_mul(TAKEOVERS),
        _ => Duration::ZERO,
    }
}

/// One stage's knowledge of how the process before ended.
#[derive(Debug)]
pub(crate) struct Suspicion {
    /// The most events in work when nobody is suspected.
    most: u32,
    left: Suspects,
    /// Whether the next lot of one may be a head.
    is_turn_of_heads: bool,
    /// The most suspects in work together.
    lot: u32,
    /// The event that was alone in work at a bad end; to be charged instead of worked.
    ended: Option<EventId>,
    turn: Option<Turn>,
    since: Instant,
}

/// How many due heads, and how many events from the log or the broker, may be suspects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Suspects {
    heads: u32,
    new: u32,
}

/// What of a lot has ended well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Cleared {
    /// Heads.
    pub(crate) heads: u32,
    /// Events from the log or the broker.
    pub(crate) new: u32,
    /// Whether no other head was due.
    pub(crate) was_last_head: bool,
    /// Whether nothing new is left that may have been in work at a bad end.
    pub(crate) was_last_new: bool,
}

/// Held while suspects are in work.
#[derive(Debug)]
enum Turn {
    Alone { _guard: RwLockWriteGuard<'static, ()> },
    Lot { _guard: RwLockReadGuard<'static, ()> },
}

impl Turn {
    async fn alone() -> Self {
        Self::Alone { _guard: TURN.write().await }
    }

    async fn lot() -> Self {
        Self::Lot { _guard: TURN.read().await }
    }
}

impl Suspicion {
    /// Reads what the leader before has left, and marks that this one works.
    pub(crate) async fn take_up<S: Store>(store: &S, grant: &Grant, most: u32) -> Result<Self, StoreError> {
        let left = store.marker(&grant.fence).await?;
        let suspicion = Self::after(left, grant.fence.epoch, most);
        if suspicion.is_on() || suspicion.ended.is_some() {
            tracing::warn!(
                lease = grant.fence.lease().as_str(),
                suspects = suspicion.suspects().max(1),
                "the process before ended in mid-work; in case an event did that, few are worked at a time"
            );
        }
        suspicion.rest(store, grant).await?;
        Ok(suspicion)
    }

    fn after(left: Option<(i64, Marker)>, epoch: i64, most: u32) -> Self {
        let (suspects, ended) = match left {
            None => (0, None),
            // A new session of the same process: it lives.
            Some((by, marker)) if by == epoch => {
                (marker.suspects, marker.alone.filter(|_| marker.taken != 1))
            }
            // Those beside it are suspect still: it may be one that was held before they came to be.
            Some((_, Marker { taken: 1, alone: Some(id), suspects })) => {
                (suspects.saturating_sub(1), Some(id))
            }
            // A good end.
            Some((_, Marker { taken: 0, suspects, alone })) => (suspects, alone),
            Some((_, Marker { taken, alone, .. })) => (taken, alone),
        };
        let lot = if suspects <= LOTS { 1 } else { (suspects / LOTS).max(LOT_MIN) };
        let left = Suspects { heads: suspects, new: suspects };
        Self { most, left, is_turn_of_heads: true, lot, ended, turn: None, since: Instant::now() }
    }

    fn suspects(&self) -> u32 {
        self.left.heads.max(self.left.new)
    }

    /// Whether anything is suspected.
    pub(crate) fn is_on(&self) -> bool {
        self.suspects() > 0
    }

    /// The most events that may be in work together.
    pub(crate) fn taken_max(&self) -> u32 {
        if self.is_on() { self.lot.min(self.most) } else { self.most }
    }

    /// How many of these may be due heads.
    pub(crate) fn heads_max(&self) -> u32 {
        match self.taken_max() {
            most if self.left.new == 0 => most,
            1 => u32::from(self.is_turn_of_heads),
            most => most / 2,
        }
    }

    /// The event to charge, until [`Suspicion::charged`].
    pub(crate) fn ended(&self) -> Option<EventId> {
        self.ended
    }

    /// The event is charged, and that is recorded.
    pub(crate) async fn charged<S: Store>(&mut self, store: &S, grant: &Grant) -> Result<(), StoreError> {
        self.ended = None;
        match self.turn {
            // The end of the work marks it.
            Some(_) => Ok(()),
            None => self.rest(store, grant).await,
        }
    }

    /// Of the heads that are due, the one to be tried alone now, and those that may be worked with others.
    pub(crate) fn choose(&self, heads: Vec<HeldEvent>) -> (Option<HeldEvent>, Vec<HeldEvent>) {
        let (mut alone, others): (Vec<_>, Vec<_>) = heads.into_iter().partition(|head| head.tried_alone);
        let to_charge = alone.iter().position(|head| Some(head.envelope.id) == self.ended);
        let is_awaited = self.ended.is_some() && self.since.elapsed() < CHARGE_WAIT;
        let chosen = match to_charge {
            None if is_awaited || alone.is_empty() => None,
            place => Some(alone.swap_remove(place.unwrap_or(0))),
        };
        (chosen, others)
    }

    /// Before work on `taken` events, of which `only` is the one alone. Nothing is written in ordinary times, unless an
    /// event that ended a process before `is_tried_alone`.
    pub(crate) async fn begin<S: Store>(
        &mut self,
        store: &S,
        grant: &Grant,
        taken: u32,
        only: Option<EventId>,
        is_tried_alone: bool,
    ) -> Result<(), StoreError> {
        if !self.is_on() && !is_tried_alone {
            return Ok(());
        }
        while self.turn.is_none() {
            grant.moved();
            self.turn = match only {
                Some(_) => tokio::time::timeout(WAIT, Turn::alone()).await.ok(),
                None => tokio::time::timeout(WAIT, Turn::lot()).await.ok(),
            };
        }
        let alone = only.or(self.ended);
        store.mark(&grant.fence, &Marker { suspects: self.suspects(), taken, alone }).await
    }

    /// The work that began has ended well, or there was none to begin: so many suspects less.
    pub(crate) async fn end<S: Store>(
        &mut self,
        store: &S,
        grant: &Grant,
        cleared: Cleared,
    ) -> Result<(), StoreError> {
        let before = self.left;
        self.clear(cleared);
        if self.turn.is_none() && self.left == before {
            return Ok(());
        }
        self.give_up_turn(store, grant).await
    }

    fn clear(&mut self, cleared: Cleared) {
        let Suspects { heads, new } = self.left;
        self.left = Suspects {
            heads: if cleared.was_last_head { 0 } else { heads.saturating_sub(cleared.heads) },
            new: if cleared.was_last_new { 0 } else { new.saturating_sub(cleared.new) },
        };
        self.is_turn_of_heads = !self.is_turn_of_heads;
    }

    /// The work that began is left off for now, with nothing said of its events.
    pub(crate) async fn leave_off<S: Store>(&mut self, store: &S, grant: &Grant) -> Result<(), StoreError> {
        if self.turn.is_none() {
            return Ok(());
        }
        self.give_up_turn(store, grant).await
    }

    async fn give_up_turn<S: Store>(&mut self, store: &S, grant: &Grant) -> Result<(), StoreError> {
        self.rest(store, grant).await?;
        self.turn = None;
        Ok(())
    }

    /// Between two works: ordinary ones follow each other unmarked.
    async fn rest<S: Store>(&self, store: &S, grant: &Grant) -> Result<(), StoreError> {
        let taken = if self.is_on() { 0 } else { self.most };
        let marker = Marker { suspects: self.suspects(), taken, alone: self.ended };
        store.mark(&grant.fence, &marker).await
    }

    /// The good end.
    pub(crate) async fn put_down<S: Store>(&self, store: &S, grant: &Grant) -> Result<(), StoreError> {
        let marker = Marker { suspects: self.suspects(), taken: 0, alone: self.ended };
        store.mark(&grant.fence, &marker).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: u32 = 1_000;

    /// Works through `count` new events, of which the one at `culprit` ends the process, beside so many heads that are due at
    /// any time; gives the bad ends until it is charged first.
    fn bad_ends(culprit: u32, count: u32, heads_due: u32) -> u32 {
        let mut left = Marker { suspects: 0, taken: MOST, alone: None };
        let (mut done, mut ends) = (0, 0);
        // The first bad end is in ordinary times.
        done += culprit / MOST * MOST;
        for epoch in 1.. {
            ends += 1;
            let mut suspicion = Suspicion::after(Some((epoch, left)), epoch + 1, MOST);
            loop {
                let heads = suspicion.heads_max().min(heads_due);
                let new = (suspicion.taken_max() - heads).min(count - done);
                left = Marker { suspects: suspicion.suspects(), taken: heads + new, alone: None };
                if (done..done + new).contains(&culprit) {
                    if heads + new == 1 {
                        return ends + 1;
                    }
                    break;
                }
                done += new;
                let was_last_head = heads < suspicion.heads_max();
                suspicion.clear(Cleared { heads, new, was_last_head, was_last_new: false });
                assert!(suspicion.is_on(), "{culprit} was passed");
            }
        }
        unreachable!()
    }

    #[test]
    fn the_culprit_of_a_page_of_1000_is_alone_at_the_third_bad_end_wherever_it_stands() {
        for culprit in 0..MOST {
            let ends = bad_ends(culprit, 2 * MOST, 0);
            assert!(ends <= 3, "{ends} bad ends for the one at {culprit}");
        }
    }

    #[test]
    fn heads_that_are_due_all_the_time_hide_no_culprit() {
        for heads_due in [1, 5, 14, 16, 200] {
            for culprit in 0..MOST {
                let ends = bad_ends(culprit, 2 * MOST, heads_due);
                assert!(ends <= 3, "{ends} bad ends for the one at {culprit} beside {heads_due} heads");
            }
        }
    }

    #[test]
    fn a_head_among_the_suspects_is_reached_whatever_else_comes() {
        let mut suspicion =
            Suspicion::after(Some((1, Marker { suspects: 0, taken: 16, alone: None })), 2, MOST);
        let mut reached = 0;
        while suspicion.is_on() {
            let heads = suspicion.heads_max();
            reached += heads;
            suspicion.clear(Cleared { heads, new: suspicion.taken_max() - heads, ..Cleared::default() });
        }
        assert!(reached >= 16, "{reached}");
    }

    #[test]
    fn what_ended_its_process_rests_longer_than_a_takeover() {
        let takeover = Duration::from_secs(10);
        assert!(rest_after(&failure(), takeover) > takeover);
        assert!(rest_after(&connection_lost(String::new()), takeover) > takeover);
        let refused = Failure { reason: "refused", error_chain: String::new() };
        assert_eq!(rest_after(&refused, takeover), Duration::ZERO);
    }

    #[test]
    fn a_good_end_and_the_same_process_leave_nobody_to_suspect() {
        let working = Marker { suspects: 0, taken: MOST, alone: None };
        let alone = Marker { taken: 1, alone: Some(EventId::now()), ..working };
        assert!(!Suspicion::after(None, 1, MOST).is_on());
        assert!(!Suspicion::after(Some((1, Marker { taken: 0, ..working })), 2, MOST).is_on());
        assert!(!Suspicion::after(Some((2, working)), 2, MOST).is_on());
        assert_eq!(Suspicion::after(Some((2, alone)), 2, MOST).ended(), None);
        assert!(Suspicion::after(Some((1, working)), 2, MOST).is_on());
        assert_eq!(Suspicion::after(Some((1, alone)), 2, MOST).ended(), alone.alone);
    }

    #[test]
    fn a_charge_that_is_not_recorded_yet_outlives_every_end() {
        let ended = Some(EventId::now());
        for taken in [0, 7, MOST] {
            let left = Marker { suspects: 0, taken, alone: ended };
            for epoch in [1, 2] {
                assert_eq!(Suspicion::after(Some((epoch, left)), 2, MOST).ended(), ended, "{taken} {epoch}");
            }
        }
    }
}
