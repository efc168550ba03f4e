//! Deliveries in memory, in order within a lane, one at a time of each.

use crate::{
    broker::Delivery,
    envelope::EventId,
    held::{HeldEvent, Lane},
};
use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{Mutex, MutexGuard},
};

/// One piece of a consumer's work.
#[derive(Debug)]
pub(super) enum Work {
    /// From the broker or the log.
    Delivered(Delivery),
    /// The head of a lane that waits.
    Held(HeldEvent),
}

impl Work {
    /// The event's id, or the stand-in of a delivery that is no event.
    pub(super) fn id(&self) -> EventId {
        match self {
            Self::Delivered(delivery) => match &delivery.event {
                Ok(envelope) => envelope.id,
                Err(malformed) => malformed.envelope.id,
            },
            Self::Held(held) => held.envelope.id,
        }
    }

    pub(super) fn lane(&self) -> Lane {
        match self {
            Self::Delivered(delivery) => match &delivery.event {
                Ok(envelope) => Lane::of(envelope),
                Err(malformed) => Lane::of(&malformed.envelope),
            },
            Self::Held(held) => Lane::of(&held.envelope),
        }
    }
}

/// The queue of work that has not begun, shared by a loop and its steps. Its size is bounded by whoever fills it.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    queue: Mutex<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    lanes: HashMap<Lane, VecDeque<Work>>,
    /// Lanes with work and nothing in progress, the longest waiting first.
    ready: VecDeque<Lane>,
    busy: HashSet<Lane>,
    len: usize,
    is_closed: bool,
}

impl Lanes {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().expect("no panic holds this lock")
    }

    /// Work that has not begun.
    pub(super) fn len(&self) -> usize {
        self.queue().len
    }

    /// Adds a delivery behind the others of its lane.
    pub(super) fn push(&self, delivery: Delivery) {
        let work = Work::Delivered(delivery);
        let lane = work.lane();
        let mut inner = self.queue();
        let queue = &mut *inner;
        let waiting = queue.lanes.entry(lane.clone()).or_default();
        if waiting.is_empty() && !queue.busy.contains(&lane) {
            queue.ready.push_back(lane);
        }
        waiting.push_back(work);
        queue.len += 1;
    }

    /// Adds the head of a lane that waits, before the deliveries of that lane. Not added when the lane is busy or its
    /// head is here already: it comes again with the next look.
    pub(super) fn push_head(&self, held: HeldEvent) {
        let work = Work::Held(held);
        let lane = work.lane();
        let mut inner = self.queue();
        let queue = &mut *inner;
        if queue.busy.contains(&lane) {
            return;
        }
        let waiting = queue.lanes.entry(lane.clone()).or_default();
        match waiting.front() {
            Some(Work::Held(_)) => return,
            Some(Work::Delivered(_)) => {}
            None => queue.ready.push_back(lane),
        }
        waiting.push_front(work);
        queue.len += 1;
    }

    /// Whether nothing is to begin now.
    pub(super) fn close(&self, is_closed: bool) {
        self.queue().is_closed = is_closed;
    }

    /// Whether some work could begin now.
    pub(super) fn is_ready(&self) -> bool {
        let queue = self.queue();
        !queue.is_closed && !queue.ready.is_empty()
    }

    /// The next work, whose lane is busy until [`Lanes::finished`].
    pub(super) fn pop(&self) -> Option<(Lane, Work)> {
        let mut queue = self.queue();
        if queue.is_closed {
            return None;
        }
        let lane = queue.ready.pop_front()?;
        let waiting = queue.lanes.get_mut(&lane).expect("a ready lane has a queue");
        let work = waiting.pop_front().expect("a ready lane has work");
        queue.len -= 1;
        queue.busy.insert(lane.clone());
        Some((lane, work))
    }

    /// The lane's work is done; its next may begin.
    pub(super) fn finished(&self, lane: Lane) {
        let mut queue = self.queue();
        queue.busy.remove(&lane);
        match queue.lanes.get(&lane) {
            Some(waiting) if !waiting.is_empty() => queue.ready.push_back(lane),
            _ => {
                queue.lanes.remove(&lane);
            }
        }
    }
}
