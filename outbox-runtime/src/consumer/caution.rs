//! Works through what may hold an event that ends the process: few at a time, one after the other, each lot to its end.

use super::{
    lanes::Work,
    run::{Session, WAIT_MAX, token_of},
    step::{Handled, StepError},
};
use crate::{broker::Subscription, held::HeldEvent, store::Store};

impl<S: Store> Session<'_, S> {
    /// Works until nothing is suspected any more, or the grant ends.
    pub(super) async fn cautiously(
        &mut self,
        subscription: &mut (dyn Subscription + 'static),
    ) -> Result<(), StepError> {
        while self.suspicion.is_on() && !self.grant.hand_over.is_cancelled() {
            self.grant.moved();
            let lot = self.lot(subscription).await?;
            if !lot.is_empty() {
                self.work_through(subscription, &lot, false).await?;
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
        self.work_through(subscription, &[Work::Held(head)], true).await
    }

    /// The next events, due heads first.
    async fn lot(&mut self, subscription: &mut (dyn Subscription + 'static)) -> Result<Vec<Work>, StepError> {
        let max = self.suspicion.taken_max();
        let consumer = &self.worker.consumer;
        let heads = self.watch.look(consumer.outbox.store(), &consumer.fence, max).await?;
        let mut lot: Vec<Work> = heads.into_iter().map(Work::Held).collect();
        let room = max.saturating_sub(u32::try_from(lot.len()).unwrap_or(u32::MAX));
        if room > 0 && !self.is_full() {
            lot.extend(subscription.take(room).await?.into_iter().map(Work::Delivered));
        }
        Ok(lot)
    }

    async fn work_through(
        &mut self,
        subscription: &mut (dyn Subscription + 'static),
        lot: &[Work],
        is_tried_alone: bool,
    ) -> Result<(), StepError> {
        let store = self.worker.consumer.outbox.store();
        let taken = u32::try_from(lot.len()).unwrap_or(u32::MAX);
        let only = if let [work] = lot { Some(work.id()) } else { None };
        self.suspicion.begin(store, self.grant, taken, only, is_tried_alone).await?;
        for work in lot {
            if let Err(error) = self.work_on(subscription, work).await {
                self.suspicion.leave_off(store, self.grant).await?;
                return Err(error);
            }
        }
        subscription.flush().await?;
        Ok(self.suspicion.end(store, self.grant).await?)
    }

    async fn work_on(
        &mut self,
        subscription: &mut (dyn Subscription + 'static),
        work: &Work,
    ) -> Result<(), StepError> {
        self.grant.moved();
        let consumer = &self.worker.consumer;
        let token = token_of(work);
        let handled = match token {
            Some(token) if subscription.acks_in_transaction() => {
                consumer.handle(work, Some((&mut *subscription, token))).await?
            }
            _ => self.worker.handle(work).await?,
        };
        self.pauses.reset();
        if matches!(handled, Handled::Held | Handled::Dead) || token.is_none() {
            self.watch.changed();
        }
        Ok(subscription.ack(token.as_slice()).await?)
    }
}
