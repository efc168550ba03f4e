//! Finds the event that ends the process which works on it, without a charge to any other.
//!
//! ```text
//!             bad end                  a lot of the suspects in work
//!  ordinary ─────────▶ all that was in work is suspect ──▶ good end: the next lot ──▶ none is left: ordinary
//!     ▲                                                ├─▶ bad end: that lot is suspect
//!     │                                                └─▶ bad end of one alone: charged, held, and from then on
//!     └────────────────────────────────────────────────────  only tried alone until its attempts are used up
//! ```
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
    suspects: u32,
    /// The most suspects in work together.
    lot: u32,
    /// The event that was alone in work at a bad end; to be charged instead of worked.
    ended: Option<EventId>,
    turn: Option<Turn>,
    since: Instant,
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
        if suspicion.suspects > 0 || suspicion.ended.is_some() {
            tracing::warn!(
                lease = grant.fence.lease().as_str(),
                suspects = suspicion.suspects.max(1),
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
        Self { most, suspects, lot, ended, turn: None, since: Instant::now() }
    }

    /// Whether anything is suspected.
    pub(crate) fn is_on(&self) -> bool {
        self.suspects > 0
    }

    /// The most events that may be in work together.
    pub(crate) fn taken_max(&self) -> u32 {
        if self.is_on() { self.lot.min(self.most) } else { self.most }
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
        store.mark(&grant.fence, &Marker { suspects: self.suspects, taken, alone }).await
    }

    /// The work that began has ended well: so many suspects less. With `was_last`, nothing is left that may have been in work
    /// at a bad end.
    pub(crate) async fn end<S: Store>(
        &mut self,
        store: &S,
        grant: &Grant,
        cleared: u32,
        was_last: bool,
    ) -> Result<(), StoreError> {
        let ends_search = was_last && self.is_on();
        if self.turn.is_none() && !ends_search {
            return Ok(());
        }
        self.suspects = if ends_search { 0 } else { self.suspects.saturating_sub(cleared) };
        self.give_up_turn(store, grant).await
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
        let marker = Marker { suspects: self.suspects, taken, alone: self.ended };
        store.mark(&grant.fence, &marker).await
    }

    /// The good end.
    pub(crate) async fn put_down<S: Store>(&self, store: &S, grant: &Grant) -> Result<(), StoreError> {
        let marker = Marker { suspects: self.suspects, taken: 0, alone: self.ended };
        store.mark(&grant.fence, &marker).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: u32 = 1_000;

    /// Works through `count` events, of which the one at `culprit` ends the process; gives the bad ends until it is charged
    /// first.
    fn bad_ends(culprit: u32, count: u32) -> u32 {
        let mut left = Marker { suspects: 0, taken: MOST, alone: None };
        let (mut done, mut ends) = (0, 0);
        // The first bad end is in ordinary times.
        done += culprit / MOST * MOST;
        for epoch in 1.. {
            ends += 1;
            let mut suspicion = Suspicion::after(Some((epoch, left)), epoch + 1, MOST);
            loop {
                let taken = suspicion.taken_max().min(count - done);
                left = Marker { suspects: suspicion.suspects, taken, alone: None };
                if (done..done + taken).contains(&culprit) {
                    if taken == 1 {
                        return ends + 1;
                    }
                    break;
                }
                done += taken;
                suspicion.suspects = suspicion.suspects.saturating_sub(taken);
                assert!(suspicion.is_on(), "{culprit} was passed");
            }
        }
        unreachable!()
    }

    #[test]
    fn the_culprit_of_a_page_of_1000_is_alone_at_the_third_bad_end_wherever_it_stands() {
        for culprit in 0..MOST {
            let ends = bad_ends(culprit, 2 * MOST);
            assert!(ends <= 3, "{ends} bad ends for the one at {culprit}");
        }
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
