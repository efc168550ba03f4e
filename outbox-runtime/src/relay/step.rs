//! Publishes one page to its end: read, publish in key order, settle.
//!
//! Invariant: progress moves past an event only in the write that follows its confirmation, or that holds it or sets it
//! aside. A crash in between publishes it again; the consumer's inbox absorbs the copy.
//!
//! Within a page the events of one lane go out one after the other, each after the confirmation of the one before, and
//! lanes side by side: so a leader that was paused can only repeat a prefix of each key, in order.

use super::{RelayConfig, page::PageInWork};
use crate::{
    broker::{Broker, BrokerError},
    cursor::LogCursor,
    held::Lane,
    held_watch::HeldWatch,
    leadership::Grant,
    store::{Store, StoreError},
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
        let relayed = if page.is_empty() { Relayed::Idle } else { Relayed::Page { full: page.is_full() } };
        self.settle(page).await?;
        Ok(relayed)
    }

    async fn read(&mut self) -> Result<PageInWork, RelayError> {
        let fence = &self.grant.fence;
        let heads = self.watch.look(self.store, fence, self.config.page_max).await?;
        if self.watch.lanes() >= self.config.waiting_keys_max {
            return Ok(PageInWork::of_heads(heads));
        }
        let page = self.log.read(self.config.page_max).await?;
        let mut waiting = HashSet::new();
        if self.watch.lanes() > 0 && !page.events.is_empty() {
            let lanes: HashSet<String> =
                page.events.iter().map(|event| Lane::of(&event.envelope).as_str().to_owned()).collect();
            let lanes: Vec<String> = lanes.into_iter().collect();
            waiting.extend(self.store.waiting_lanes(fence, &lanes).await?.into_iter().map(Lane::from_text));
        }
        Ok(PageInWork::new(heads, page, &waiting))
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
                let batch = page.outgoing(&wave);
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
        let changes = page.changes(&self.config.retry);
        let settled = page.settled();
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
