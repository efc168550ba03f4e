//! Dead letters from code: list and count them, ask for their replay or removal, and read what was done. Replays of ranges of
//! the log.

use crate::{
    dead_letter::{AuditEntry, AuditFilter, DeadLetter, DeadLetterCount, DeadLetterFilter, Request, Terms},
    enqueue::Outbox,
    range::{Range, RangePlan, RangeReplay},
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

    /// How many dead letters match, by stage, type, version and reason: what a request with this filter would reach.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    ///
    /// # Cancel safety
    /// It only reads.
    pub async fn count_dead_letters(
        &self,
        filter: &DeadLetterFilter,
    ) -> Result<Vec<DeadLetterCount>, StoreError> {
        self.store().count_dead_letters(filter).await
    }

    /// Asks that every matching dead letter be tried again; its attempts start at zero, its history stays. The leader
    /// of its stage acts on it within one poll interval, or as fast as [`Terms::per_second`] allows. Gives how many were
    /// asked for: one that is asked for already, or under way, is not counted again.
    ///
    /// The request is kept by the database, so it needs no process of the one who asks. A leader that dies half-way leaves
    /// the rest to its successor.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was asked.
    ///
    /// # Cancel safety
    /// If dropped, all or none were asked for; asking again is safe.
    pub async fn replay(&self, filter: &DeadLetterFilter, terms: &Terms) -> Result<u64, StoreError> {
        self.store().request(filter, Request::Replay, terms).await
    }

    /// Asks that every matching dead letter be removed for good; a key that waits for it goes on. What it was stays in the
    /// audit log, without its payload.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was asked.
    ///
    /// # Cancel safety
    /// If dropped, all or none were asked for; asking again is safe.
    pub async fn discard(&self, filter: &DeadLetterFilter, terms: &Terms) -> Result<u64, StoreError> {
        self.store().request(filter, Request::Discard, terms).await
    }

    /// Takes back what was asked of matching dead letters, as far as nobody has acted on it yet: it stops a replay at a
    /// limited rate. Gives how many requests were taken back.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was taken back.
    ///
    /// # Cancel safety
    /// If dropped, all or none were taken back.
    pub async fn cancel_requests(&self, filter: &DeadLetterFilter, terms: &Terms) -> Result<u64, StoreError> {
        self.store().cancel_requests(filter, terms).await
    }

    /// What was done with dead letters, who asked for it and why: the entries that match, by number, at most `max`. Page
    /// with [`AuditFilter::after`].
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    ///
    /// # Cancel safety
    /// It only reads.
    pub async fn audit(&self, filter: &AuditFilter, max: u32) -> Result<Vec<AuditEntry>, StoreError> {
        self.store().audit(filter, max).await
    }

    /// What a replay of this range of the log would reach.
    ///
    /// # Errors
    /// [`StoreError::ReadsNoLog`] when its stage does not read this log.
    ///
    /// # Cancel safety
    /// It only reads.
    pub async fn plan_range(&self, range: &Range) -> Result<RangePlan, StoreError> {
        self.store().plan_range(range).await
    }

    /// Asks that a range of the log be replayed to one relay, one consumer or a topic of its own, beside live traffic. The
    /// leader of the stage takes the events up in order, within one poll interval, or as fast as [`Terms::per_second`]
    /// allows; each goes before newer events of its key. Gives the number of the replay, and `None` where nothing is to be
    /// replayed.
    ///
    /// A relay publishes each with a fresh message id, so that a broker does not drop it; its own id stays, so consumers
    /// that have handled it drop it. A consumer handles what it has not handled; with [`Range::again`] all of it once more.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was asked.
    ///
    /// # Cancel safety
    /// If dropped, it was asked for or not; look at [`Outbox::range_replays`] before asking again.
    pub async fn replay_range(
        &self,
        range: &Range,
        terms: &Terms,
    ) -> Result<(Option<i64>, RangePlan), StoreError> {
        self.store().replay_range(range, terms).await
    }

    /// The replays of ranges and how far they are, the newest first, at most `max`.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    ///
    /// # Cancel safety
    /// It only reads.
    pub async fn range_replays(&self, max: u32) -> Result<Vec<RangeReplay>, StoreError> {
        self.store().range_replays(max).await
    }

    /// Takes back the rest of a replay of a range; whether it was running. What was taken up goes on.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was taken back.
    ///
    /// # Cancel safety
    /// If dropped, it was taken back or not; asking again is safe.
    pub async fn cancel_range(&self, id: i64) -> Result<bool, StoreError> {
        self.store().cancel_range(id).await
    }
}
