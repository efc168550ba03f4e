//! Events one after the other on one connection: the commit of one begins the transaction of the next.
//!
//! A pool asks a connection whether it stands when it gives it out and when it takes it back. With the statement that begins
//! a transaction this is as much as handling a small event takes. So while there is work, a step keeps the connection, and
//! its commit begins the next transaction in the same round trip.
//!
//! What is begun is used at once or given up: a step that waited for something else with it in hand could wait for a
//! connection that another such step has. And the connection goes back to the pool from time to time, since others wait for
//! one too.

use super::lanes::Lanes;
use crate::store::{Store, StoreError};
use std::time::Duration;
use tokio::time::Instant;

/// How long one connection is kept while others may wait for it.
const KEPT_MAX: Duration = Duration::from_millis(100);

/// A transaction that is begun for the next event, if there is one.
pub(super) struct Chain<'a, S: Store> {
    /// Where the next event comes from; `None`: each stands alone.
    lanes: Option<&'a Lanes>,
    begun: Option<S::Tx>,
    kept_since: Instant,
}

impl<'a, S: Store> Chain<'a, S> {
    /// Goes on as long as those lanes have work.
    pub(super) fn along(lanes: &'a Lanes) -> Self {
        Self { lanes: Some(lanes), begun: None, kept_since: Instant::now() }
    }

    /// One event, and no next one.
    pub(super) fn of_one() -> Self {
        Self { lanes: None, begun: None, kept_since: Instant::now() }
    }

    /// Whether the next event's transaction is begun.
    pub(super) fn goes_on(&self) -> bool {
        self.begun.is_some()
    }

    /// The transaction that the last commit began, or one of a connection from the pool.
    pub(super) async fn begin(&mut self, store: &S, timeout: Duration) -> Result<S::Tx, StoreError> {
        if let Some(tx) = self.begun.take() {
            return Ok(tx);
        }
        let tx = store.begin_handler(timeout).await?;
        self.kept_since = Instant::now();
        Ok(tx)
    }

    /// Commits what was proven, and begins the next transaction when it would be used at once.
    pub(super) async fn commit(&mut self, store: &S, tx: S::Tx, timeout: Duration) -> Result<(), StoreError> {
        let is_kept = self.lanes.is_some_and(Lanes::is_ready) && self.kept_since.elapsed() < KEPT_MAX;
        if !is_kept {
            return store.commit_proven(tx).await;
        }
        self.begun = store.commit_and_begin(tx, timeout).await?;
        Ok(())
    }

    /// Gives up what is begun.
    pub(super) async fn end(&mut self, store: &S) {
        if let Some(tx) = self.begun.take() {
            store.rollback(tx).await;
        }
    }
}
