//! Deliveries in memory, in order within a lane, one at a time of each.

use crate::{
    broker::Delivery,
    envelope::EventId,
    held::{HeldEvent, Lane},
};
use std::collections::{HashMap, HashSet, VecDeque};

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

/// The queue of work that has not begun. Its size is bounded by whoever fills it.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    queues: HashMap<Lane, VecDeque<Work>>,
    /// Lanes with work and nothing in progress, the longest waiting first.
    ready: VecDeque<Lane>,
    busy: HashSet<Lane>,
    len: usize,
}

impl Lanes {
    /// Work that has not begun.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Adds a delivery behind the others of its lane.
    pub(super) fn push(&mut self, delivery: Delivery) {
        let work = Work::Delivered(delivery);
        let lane = work.lane();
        let queue = self.queues.entry(lane.clone()).or_default();
        if queue.is_empty() && !self.busy.contains(&lane) {
            self.ready.push_back(lane);
        }
        queue.push_back(work);
        self.len += 1;
    }

    /// Adds the head of a lane that waits, before the deliveries of that lane. Not added when the lane is busy or its
    /// head is here already: it comes again with the next look.
    pub(super) fn push_head(&mut self, held: HeldEvent) {
        let work = Work::Held(held);
        let lane = work.lane();
        if self.busy.contains(&lane) {
            return;
        }
        let queue = self.queues.entry(lane.clone()).or_default();
        match queue.front() {
            Some(Work::Held(_)) => return,
            Some(Work::Delivered(_)) => {}
            None => self.ready.push_back(lane),
        }
        queue.push_front(work);
        self.len += 1;
    }

    /// The next work, whose lane is busy until [`Lanes::finished`].
    pub(super) fn pop(&mut self) -> Option<(Lane, Work)> {
        let lane = self.ready.pop_front()?;
        let queue = self.queues.get_mut(&lane).expect("a ready lane has a queue");
        let work = queue.pop_front().expect("a ready lane has work");
        self.len -= 1;
        self.busy.insert(lane.clone());
        Some((lane, work))
    }

    /// The lane's work is done; its next may begin.
    pub(super) fn finished(&mut self, lane: Lane) {
        self.busy.remove(&lane);
        match self.queues.get(&lane) {
            Some(queue) if !queue.is_empty() => self.ready.push_back(lane),
            _ => {
                self.queues.remove(&lane);
            }
        }
    }
}
