//! Dead letters from code: list them, and ask for their replay or removal.

use crate::{
    dead_letter::{DeadLetter, DeadLetterFilter, Request},
    enqueue::Outbox,
    store::{Store, StoreError},
};

impl<S: Store> Outbox<S> {
    /// The dead letters that match, by number, at most `max`. Page with [`DeadLetterFilter::after`].
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    ///
    /// # Cancel safety
    /// It only reads.
    pub async fn dead_letters(
        &self,
        filter: &DeadLetterFilter,
        max: u32,
    ) -> Result<Vec<DeadLetter>, StoreError> {
        self.store().dead_letters(filter, max).await
    }

    /// Asks that every matching dead letter be tried again; its attempts start at zero, its history stays. The leader
    /// of its stage acts on it within one poll interval. Gives how many were asked for: one that is asked for already,
    /// or under way, is not counted again.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was asked.
    ///
    /// # Cancel safety
    /// If dropped, all or none were asked for; asking again is safe.
    pub async fn replay(&self, filter: &DeadLetterFilter) -> Result<u64, StoreError> {
        self.store().request(filter, Request::Replay).await
    }

    /// Asks that every matching dead letter be removed for good; a key that waits for it goes on.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was asked.
    ///
    /// # Cancel safety
    /// If dropped, all or none were asked for; asking again is safe.
    pub async fn discard(&self, filter: &DeadLetterFilter) -> Result<u64, StoreError> {
        self.store().request(filter, Request::Discard).await
    }
}
