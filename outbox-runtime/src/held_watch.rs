//! When a stage has to look for held events that are due, so that the path without failures asks nothing.
//!
//! The leader is the only one that changes marks, so what it remembers is right until it writes one.

use crate::{
    cursor::Filter,
    held::{Change, HeldEvent, Lane, Share},
    lease::Fence,
    store::{Store, StoreError, Waiting},
};
use std::{collections::HashSet, time::Duration};
use tokio::time::Instant;

/// The most requests acted on in one write.
const REQUESTS_MAX: u32 = 100;

/// The most lanes that are remembered not to wait.
const FREE_MAX: usize = 50_000;

/// One stage's memory of its marks.
#[derive(Debug)]
pub(crate) struct HeldWatch {
    waiting: Waiting,
    /// Whether marks were written since `waiting` was read.
    stale: bool,
    look_at: Instant,
    request_at: Instant,
    poll: Duration,
    /// What the stage takes from the log.
    wanted: Filter,
    /// Whether so many keys wait that the stage takes nothing new.
    is_full: bool,
    /// Lanes that were asked about and do not wait.
    free: HashSet<Lane>,
}

impl HeldWatch {
    /// Knows nothing yet, so the first look asks for marks and requests of the leader before. `poll` is the time between
    /// two looks at requests.
    pub(crate) fn new(poll: Duration, wanted: Filter) -> Self {
        let now = Instant::now();
        Self {
            waiting: Waiting::default(),
            stale: true,
            look_at: now,
            request_at: now,
            poll,
            wanted,
            is_full: false,
            free: HashSet::new(),
        }
    }

    /// Marks were written, or a due head was worked: what is due when must be asked again.
    pub(crate) fn changed(&mut self) {
        self.stale = true;
    }

    /// As [`HeldWatch::changed`], by these changes: their lanes may wait from now on.
    pub(crate) fn changed_by(&mut self, changes: &[Change]) {
        self.stale = true;
        for change in changes {
            let lane = match change {
                Change::Hold { envelope, .. }
                | Change::Behind { envelope }
                | Change::Dead { envelope, .. } => Lane::of(envelope),
                Change::Retry { held, .. } | Change::Done { held } => held.lane.clone(),
            };
            self.free.remove(&lane);
        }
    }

    /// Of these lanes, those that wait. The database is asked about each lane once, until a change of this leader concerns
    /// it: else one key that waits for long would cost every page a look at all of its keys.
    pub(crate) async fn waiting_of<S: Store>(
        &mut self,
        store: &S,
        fence: &Fence,
        lanes: HashSet<Lane>,
    ) -> Result<HashSet<Lane>, StoreError> {
        let unknown: Vec<String> = lanes
            .iter()
            .filter(|lane| !self.free.contains(lane))
            .map(|lane| lane.as_str().to_owned())
            .collect();
        if unknown.is_empty() {
            return Ok(HashSet::new());
        }
        let waiting = store.waiting_lanes(fence, &unknown).await?;
        let waiting: HashSet<Lane> = waiting.into_iter().map(Lane::from_text).collect();
        if self.free.len() + unknown.len() > FREE_MAX {
            self.free.clear();
        }
        self.free.extend(unknown.into_iter().map(Lane::from_text).filter(|lane| !waiting.contains(lane)));
        Ok(waiting)
    }

    /// Lanes that wait, as of the last look.
    pub(crate) fn lanes(&self) -> u64 {
        self.waiting.lanes
    }

    /// Whether `max` keys wait or more, as of the last look: then the stage takes nothing new. Says so once.
    pub(crate) fn is_full(&mut self, fence: &Fence, max: u64) -> bool {
        let was_full = std::mem::replace(&mut self.is_full, self.waiting.lanes >= max);
        if self.is_full && !was_full {
            tracing::error!(
                lease = fence.lease().as_str(),
                waiting_keys = self.waiting.lanes,
                max,
                "a stage takes nothing new until fewer keys wait; mend the cause, or replay or discard dead letters"
            );
        }
        self.is_full
    }

    /// The time until the next look at marks or requests.
    pub(crate) fn pause(&self) -> Duration {
        if self.stale {
            return Duration::ZERO;
        }
        let next =
            if self.waiting.due_in.is_some() { self.look_at.min(self.request_at) } else { self.request_at };
        next.saturating_duration_since(Instant::now())
    }

    /// Acts on requests if it is time, and gives the heads that are due, at most `max`. A head that is in work is given
    /// again: its mark stays due until its step ends. With a `max` of 0 only what is known of marks is made new. Of a range that is replayed, what the stage wants is taken up.
    ///
    /// # Cancel safety
    /// If dropped, the next look repeats it.
    pub(crate) async fn look<S: Store>(
        &mut self,
        store: &S,
        fence: &Fence,
        max: u32,
    ) -> Result<Vec<HeldEvent>, StoreError> {
        if Instant::now() >= self.request_at {
            let mut done = store.act_on_requests(fence, REQUESTS_MAX).await?;
            // The share of one partition cannot tell by the log which events are its own.
            if done == 0 && fence.share == Share::default() {
                done = store.take_up_range(fence, &self.wanted, REQUESTS_MAX).await?;
            }
            if done > 0 {
                // What was asked for again has a mark again.
                self.stale = true;
                self.free.clear();
            }
            self.request_at = Instant::now() + if done == REQUESTS_MAX { Duration::ZERO } else { self.poll };
        }
        if self.stale {
            self.waiting = store.waiting(fence).await?;
            self.look_at = Instant::now() + self.waiting.due_in.unwrap_or(self.poll);
            self.stale = false;
        }
        if max == 0 || self.waiting.due_in.is_none() || Instant::now() < self.look_at {
            return Ok(Vec::new());
        }
        self.look_at = Instant::now() + self.poll;
        store.due_heads(fence, max).await
    }
}
