//! Scheduled events from code: take one back, and look at those that wait. They are written by `enqueue`.

use crate::{
    enqueue::Outbox,
    envelope::EventId,
    scheduled::{Cancellation, Scheduled, ScheduledFilter},
    store::{OpenTx, Store, StoreError},
};

impl<S: Store> Outbox<S> {
    /// Takes a scheduled event back in the caller's open transaction, and with it the lower version that was written with
    /// it, until the moment it is due by the database's clock. If the transaction rolls back, the event stays.
    ///
    /// While the transaction is open, the event is not published even when it becomes due meanwhile.
    ///
    /// # Errors
    /// [`StoreError`]; roll back. One that is transient may mean that the event was moved into the log beside this
    /// transaction (of a higher isolation level than PostgreSQL's default); asked again, the answer is "too late".
    ///
    /// # Cancel safety
    /// If dropped, roll the transaction back.
    pub async fn cancel(&self, tx: &mut impl OpenTx<S>, id: EventId) -> Result<Cancellation, StoreError> {
        self.store().cancel(tx.connection(), id).await
    }

    /// The scheduled events that match, the soonest first, at most `max`. Page with [`ScheduledFilter::after`].
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    ///
    /// # Cancel safety
    /// It only reads.
    pub async fn scheduled(&self, filter: &ScheduledFilter, max: u32) -> Result<Vec<Scheduled>, StoreError> {
        self.store().scheduled(filter, max).await
    }
}
