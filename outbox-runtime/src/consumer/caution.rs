//! Works through what may hold an event that ends the process: in small lots, each to its end.

use super::{
    lanes::Work,
    run::{Session, WAIT_MAX, token_of},
    step::StepError,
};
use crate::{
    broker::{AckToken, Subscription},
    held::HeldEvent,
    store::Store,
};
use futures_util::stream::{self, StreamExt};
use std::{collections::HashMap, pin::pin, time::Duration};

/// How long heads that are due wait for deliveries on their way, so that those come to be in the same lot.
const HEADS_WAIT: Duration = Duration::from_millis(250);

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
            if !lot.is_empty() {
                self.work_through(subscription, lot, false).await?;
                continue;
            }
            subscription.flush().await?;
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
        self.work_through(subscription, vec![Work::Held(head)], true).await
    }

    /// The next events, due heads first.
    async fn lot(&mut self, subscription: &mut (dyn Subscription + 'static)) -> Result<Vec<Work>, StepError> {
        let max = self.suspicion.taken_max();
        let consumer = &self.worker.consumer;
        let mut heads = self.watch.look(consumer.outbox.store(), &consumer.fence, max).await?;
        if let Some(alone) = heads.iter().position(|head| head.tried_alone) {
            return Ok(vec![Work::Held(heads.swap_remove(alone))]);
        }
        let mut lot: Vec<Work> = heads.into_iter().map(Work::Held).collect();
        let room = max.saturating_sub(u32::try_from(lot.len()).unwrap_or(u32::MAX));
        if room > 0 && !self.is_full() {
            lot.extend(subscription.take(room).await?.into_iter().map(Work::Delivered));
        }
        Ok(lot)
    }

    /// Works a lot to its end. Which of it ended a process is not known, so it is the lot that is small, and within it lanes
    /// go on side by side as ever: one slow event must not hold the others up.
    async fn work_through(
        &mut self,
        subscription: &mut (dyn Subscription + 'static),
        lot: Vec<Work>,
        is_tried_alone: bool,
    ) -> Result<(), StepError> {
        let store = self.worker.consumer.outbox.store();
        let taken = u32::try_from(lot.len()).unwrap_or(u32::MAX);
        let only = if let [work] = &lot[..] { Some(work.id()) } else { None };
        self.suspicion.begin(store, self.grant, taken, only, is_tried_alone).await?;
        let worked = if subscription.acks_in_transaction() {
            self.one_after_the_other(subscription, &lot).await
        } else {
            self.side_by_side(subscription, lot).await
        };
        if let Err(error) = worked {
            self.suspicion.leave_off(store, self.grant).await?;
            return Err(error);
        }
        subscription.flush().await?;
        Ok(self.suspicion.end(store, self.grant).await?)
    }

    async fn one_after_the_other(
        &mut self,
        subscription: &mut (dyn Subscription + 'static),
        lot: &[Work],
    ) -> Result<(), StepError> {
        let consumer = &self.worker.consumer;
        for work in lot {
            self.grant.moved();
            let token = token_of(work);
            let handled = match token {
                Some(token) => consumer.handle(work, Some((&mut *subscription, token))).await?,
                None => self.worker.handle(work).await?,
            };
            self.note(token, handled);
            subscription.ack(token.as_slice()).await?;
        }
        Ok(())
    }

    async fn side_by_side(
        &mut self,
        subscription: &mut (dyn Subscription + 'static),
        lot: Vec<Work>,
    ) -> Result<(), StepError> {
        let (worker, grant) = (self.worker, self.grant);
        let work_lane = async |lane: Vec<Work>| {
            let mut done = Vec::with_capacity(lane.len());
            for work in lane {
                grant.moved();
                done.push((token_of(&work), worker.handle(&work).await?));
            }
            Ok::<_, StepError>(done)
        };
        let lanes = stream::iter(lanes_of(lot)).map(work_lane).buffer_unordered(worker.concurrency());
        let mut lanes = pin!(lanes);
        while let Some(done) = lanes.next().await {
            let done = done?;
            let tokens: Vec<AckToken> = done.iter().filter_map(|(token, _)| *token).collect();
            done.into_iter().for_each(|(token, handled)| self.note(token, handled));
            subscription.ack(&tokens).await?;
        }
        Ok(())
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
