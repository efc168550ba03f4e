//! Works through what may hold an event that ends the process: in small lots, each to its end.

use super::{
    chain::Chain,
    lanes::Work,
    run::{Session, WAIT_MAX, token_of},
    step::{Handled, StepError},
};
use crate::{
    broker::{AckToken, Subscription},
    held::HeldEvent,
    store::Store,
    suspicion::Cleared,
};
use futures_util::stream::{self, StreamExt};
use std::{collections::HashMap, pin::pin, time::Duration};

/// How long heads that are due wait for deliveries on their way, so that those come to be in the same lot.
const HEADS_WAIT: Duration = Duration::from_millis(250);

/// What is in work together.
struct Lot {
    work: Vec<Work>,
    /// Whether it is one held event that ended a process before.
    is_tried_alone: bool,
    /// Whether every head that is due is in it.
    was_last_head: bool,
    /// Whether deliveries were taken, or none will be for now.
    may_be_last_new: bool,
}

impl Lot {
    /// One held event that ended a process before.
    fn alone(head: HeldEvent) -> Self {
        let work = vec![Work::Held(head)];
        Self { work, is_tried_alone: true, was_last_head: false, may_be_last_new: false }
    }
}

impl Cleared {
    /// Counts what may have been in work before: not what was handled then, and came again as its ack was lost.
    fn add(&mut self, is_head: bool, handled: Handled) {
        let count = u32::from(!matches!(handled, Handled::Duplicate | Handled::Ignored));
        match is_head {
            true => self.heads += count,
            false => self.new += count,
        }
    }
}

impl<S: Store> Session<'_, S> {
    /// Works until nothing is suspected any more, or the grant ends.
    pub(super) async fn cautiously(
        &mut self,
        subscription: &mut (dyn Subscription + 'static),
    ) -> Result<(), StepError> {
        while self.suspicion.is_on() && !self.grant.hand_over.is_cancelled() {
            self.grant.moved();
            // A subscription gets on only while it is waited for, and there may be a head that is due each time.
            if !self.is_full() {
                subscription.ready(HEADS_WAIT).await?;
            }
            let lot = self.lot(subscription).await?;
            if !lot.work.is_empty() {
                self.work_through(subscription, lot).await?;
                continue;
            }
            subscription.flush().await?;
            let cleared = Cleared {
                was_last_head: lot.was_last_head,
                was_last_new: lot.may_be_last_new && subscription.has_come_to_new(),
                ..Cleared::default()
            };
            self.suspicion.end(self.worker.consumer.outbox.store(), self.grant, cleared).await?;
            if !self.suspicion.is_on() {
                continue;
            }
            let (pause, is_full) = (self.watch.pause().min(WAIT_MAX), self.is_full());
            tokio::select! { biased;
                () = self.grant.hand_over.cancelled() => {}
                ready = subscription.ready(pause), if !is_full => ready?,
                () = tokio::time::sleep(pause), if is_full => {}
            }
        }
        Ok(())
    }

    /// Tries a held event that ended a process before, while nothing else is in work.
    pub(super) async fn alone(
        &mut self,
        subscription: &mut (dyn Subscription + 'static),
        head: HeldEvent,
    ) -> Result<(), StepError> {
        let lot = Lot::alone(head);
        self.work_through(subscription, lot).await
    }

    /// The next events, due heads first.
    async fn lot(&mut self, subscription: &mut (dyn Subscription + 'static)) -> Result<Lot, StepError> {
        let (max, heads_max) = (self.suspicion.taken_max(), self.suspicion.heads_max());
        let consumer = &self.worker.consumer;
        let due = self.watch.look(consumer.outbox.store(), &consumer.fence, heads_max).await?;
        let was_last_head = due.len() < heads_max as usize;
        let (alone, heads) = self.suspicion.choose(due);
        if let Some(head) = alone {
            return Ok(Lot::alone(head));
        }
        let mut work: Vec<Work> = heads.into_iter().map(Work::Held).collect();
        let room = max.saturating_sub(u32::try_from(work.len()).unwrap_or(u32::MAX));
        let is_full = self.is_full();
        if room > 0 && !is_full {
            work.extend(subscription.take(room).await?.into_iter().map(Work::Delivered));
        }
        Ok(Lot { work, is_tried_alone: false, was_last_head, may_be_last_new: room > 0 || is_full })
    }

    /// Works a lot to its end. Which of it ended a process is not known, so it is the lot that is small, and within it lanes
    /// go on side by side as ever: one slow event must not hold the others up.
    async fn work_through(
        &mut self,
        subscription: &mut (dyn Subscription + 'static),
        lot: Lot,
    ) -> Result<(), StepError> {
        let Lot { work, is_tried_alone, was_last_head, may_be_last_new } = lot;
        let store = self.worker.consumer.outbox.store();
        let taken = u32::try_from(work.len()).unwrap_or(u32::MAX);
        let only = if let [work] = &work[..] { Some(work.id()) } else { None };
        self.suspicion.begin(store, self.grant, taken, only, is_tried_alone).await?;
        let worked = if subscription.acks_in_transaction() {
            self.one_after_the_other(subscription, &work).await
        } else {
            self.side_by_side(subscription, work).await
        };
        let mut cleared = match worked {
            Ok(cleared) => cleared,
            Err(error) => {
                self.suspicion.leave_off(store, self.grant).await?;
                return Err(error);
            }
        };
        self.note_charge().await?;
        cleared.was_last_head = was_last_head;
        cleared.was_last_new = may_be_last_new && subscription.has_come_to_new();
        Ok(self.suspicion.end(store, self.grant, cleared).await?)
    }

    /// Gives how many of the lot may have been in work before: those that were not handled then. An ack may be lost with the
    /// process, and then they come again.
    async fn one_after_the_other(
        &mut self,
        subscription: &mut (dyn Subscription + 'static),
        lot: &[Work],
    ) -> Result<Cleared, StepError> {
        let consumer = &self.worker.consumer;
        let mut cleared = Cleared::default();
        for work in lot {
            self.grant.moved();
            let token = token_of(work);
            let handled = match token {
                Some(token) => {
                    let ack = Some((&mut *subscription, token));
                    consumer.handle(work, ack, &mut Chain::of_one()).await?
                }
                None => self.worker.handle(work, &mut Chain::of_one()).await?,
            };
            cleared.add(token.is_none(), handled);
            self.note(token, handled);
            subscription.ack(token.as_slice()).await?;
        }
        Ok(cleared)
    }

    /// As [`Session::one_after_the_other`], with lanes side by side.
    async fn side_by_side(
        &mut self,
        subscription: &mut (dyn Subscription + 'static),
        lot: Vec<Work>,
    ) -> Result<Cleared, StepError> {
        let (worker, grant) = (self.worker, self.grant);
        let work_lane = async |lane: Vec<Work>| {
            let mut done = Vec::with_capacity(lane.len());
            for work in lane {
                grant.moved();
                done.push((token_of(&work), worker.handle(&work, &mut Chain::of_one()).await?));
            }
            Ok::<_, StepError>(done)
        };
        let lanes = stream::iter(lanes_of(lot)).map(work_lane).buffer_unordered(worker.concurrency());
        let mut lanes = pin!(lanes);
        let (mut cleared, mut failed) = (Cleared::default(), None);
        while let Some(done) = lanes.next().await {
            let done = match done {
                Ok(done) => done,
                Err(error) if error.is_lease_lost() => return Err(error),
                // One of the others may be about to remember what has broken all connections.
                Err(error) => {
                    failed.get_or_insert(error);
                    continue;
                }
            };
            let tokens: Vec<AckToken> = done.iter().filter_map(|(token, _)| *token).collect();
            for (token, handled) in done {
                cleared.add(token.is_none(), handled);
                self.note(token, handled);
            }
            if let Err(error) = subscription.ack(&tokens).await {
                failed.get_or_insert(error.into());
            }
        }
        failed.map_or(Ok(cleared), Err)
    }
}

/// The work by lanes, each in its order.
fn lanes_of(lot: Vec<Work>) -> Vec<Vec<Work>> {
    let mut places = HashMap::new();
    let mut lanes: Vec<Vec<Work>> = Vec::new();
    for work in lot {
        let place = *places.entry(work.lane()).or_insert(lanes.len());
        match lanes.get_mut(place) {
            Some(lane) => lane.push(work),
            None => lanes.push(vec![work]),
        }
    }
    lanes
}
