//! Finds the event that ends the process which works on it, without a charge to any other.
//!
//! ```text
//!             bad end                    half of the suspects in work
//!  ordinary ─────────▶ all that was in work is suspect ──▶ good end: the other half is left ──▶ none left: ordinary
//!     ▲                                                ├─▶ bad end: that half is suspect
//!     │                                                └─▶ bad end of one alone: charged, held, and from then on
//!     └────────────────────────────────────────────────────  only tried alone until its attempts are used up
//! ```
//! So of a page of n the culprit is alone after log2(n) bad ends. An end by hand-over is a good one. After a lost
//! connection or lease nobody is suspected as long as the same process goes on.
//!
//! A process may lead many stages, and its end does not say which of them did it. So in one process suspects are worked
//! by one stage at a time, and only what is in work is halved or charged.

use crate::{
    envelope::EventId,
    held::Failure,
    leadership::Grant,
    marker::Marker,
    store::{Store, StoreError},
};
use std::time::Duration;
use tokio::sync::{Mutex, MutexGuard};

/// Whoever works on suspects in this process.
static TURN: Mutex<()> = Mutex::const_new(());

/// How often a stage that waits for its turn says that it is well.
const WAIT: Duration = Duration::from_secs(1);

/// The failure of an event that was alone in work when its process ended. Stores know its reason.
pub(crate) fn failure() -> Failure {
    let error_chain = "the process ended while this event was the only one in work".to_owned();
    Failure { reason: "process-ended", error_chain }
}

/// The failure of an event whose handler lost its connection. Stores know its reason.
pub(crate) fn connection_lost(error_chain: String) -> Failure {
    Failure { reason: "connection-lost", error_chain }
}

/// One stage's knowledge of how the process before ended.
#[derive(Debug)]
pub(crate) struct Suspicion {
    /// The most events in work when nobody is suspected.
    most: u32,
    suspects: u32,
    /// The event that was alone in work at a bad end; to be charged instead of worked.
    ended: Option<EventId>,
    taken: u32,
    turn: Option<MutexGuard<'static, ()>>,
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
            // A good end, or a new session of the same process: it lives.
            Some((by, marker)) if marker.taken == 0 || by == epoch => (marker.suspects, None),
            Some((_, Marker { alone: Some(id), .. })) => (0, Some(id)),
            Some((_, Marker { taken, .. })) => (taken, None),
        };
        Self { most, suspects, ended, taken: 0, turn: None }
    }

    /// Whether anything is suspected.
    pub(crate) fn is_on(&self) -> bool {
        self.suspects > 0
    }

    /// The most events that may be in work together.
    pub(crate) fn taken_max(&self) -> u32 {
        if self.suspects == 0 { self.most } else { self.suspects.div_ceil(2).min(self.most) }
    }

    /// The event to charge, until [`Suspicion::charged`].
    pub(crate) fn ended(&self) -> Option<EventId> {
        self.ended
    }

    pub(crate) fn charged(&mut self) {
        self.ended = None;
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
            self.turn = tokio::time::timeout(WAIT, TURN.lock()).await.ok();
        }
        self.taken = taken;
        store.mark(&grant.fence, &Marker { suspects: self.suspects, taken, alone: only }).await
    }

    /// The work that began has ended well.
    pub(crate) async fn end<S: Store>(&mut self, store: &S, grant: &Grant) -> Result<(), StoreError> {
        if self.turn.is_none() {
            return Ok(());
        }
        self.suspects = self.suspects.saturating_sub(self.taken);
        self.leave_off(store, grant).await
    }

    /// The work that began is left off for now, with nothing said of its events.
    pub(crate) async fn leave_off<S: Store>(&mut self, store: &S, grant: &Grant) -> Result<(), StoreError> {
        if self.turn.is_none() {
            return Ok(());
        }
        self.taken = 0;
        self.rest(store, grant).await?;
        self.turn = None;
        Ok(())
    }

    /// Between two works: ordinary ones follow each other unmarked.
    async fn rest<S: Store>(&self, store: &S, grant: &Grant) -> Result<(), StoreError> {
        let taken = if self.is_on() { 0 } else { self.most };
        store.mark(&grant.fence, &Marker { suspects: self.suspects, taken, alone: None }).await
    }

    /// The good end.
    pub(crate) async fn put_down<S: Store>(&self, store: &S, grant: &Grant) -> Result<(), StoreError> {
        store.mark(&grant.fence, &Marker { suspects: self.suspects, taken: 0, alone: None }).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: u32 = 1_000;

    /// Works through `count` events, of which the one at `culprit` ends the process; gives the bad ends until it is alone.
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
    fn the_culprit_of_a_page_of_1000_is_alone_after_eleven_bad_ends_wherever_it_stands() {
        for culprit in 0..MOST {
            let ends = bad_ends(culprit, 2 * MOST);
            assert!(ends <= 11, "{ends} bad ends for the one at {culprit}");
        }
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
}
