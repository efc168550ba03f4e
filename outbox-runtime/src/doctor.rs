//! Looking for what hurts in production, before it does.

use crate::{
    enqueue::Outbox,
    finding::{Finding, Tolerance},
    store::{Store, StoreError},
};

impl<S: Store> Outbox<S> {
    /// Looks for what is wrong in the database, or will be: stages that nobody runs, keys that wait, numbers that cannot be
    /// trusted, transactions and slots that hold the server back, … Changes nothing. Without a finding the list is empty.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read; tables that are not fit for this build are a finding.
    ///
    /// # Cancel safety
    /// It only reads.
    pub async fn examine(&self, tolerance: &Tolerance) -> Result<Vec<Finding>, StoreError> {
        self.store().examine(tolerance).await
    }
}
