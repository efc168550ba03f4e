//! Forgetting a relay or consumer that is gone, so that retention no longer waits for it.

use crate::{
    dead_letter::Terms,
    enqueue::Outbox,
    held::Stage,
    store::{Forgetting, Store, StoreError},
};

impl<S: Store> Outbox<S> {
    /// Forgets a relay or consumer that nobody runs: its progress, so that the log is no longer kept for it, and its place
    /// among those who lead. What it holds or has set aside is events that were not delivered; with the terms of `discard`
    /// they are removed too, each with an entry in the audit log, and without them nothing is done while there are any. Its
    /// inbox stays for its window, so that one which comes back applies nothing twice; it begins where a new one does.
    ///
    /// # Errors
    /// [`StoreError`]; nothing was changed.
    ///
    /// # Cancel safety
    /// If dropped, it is done or not done; asking again is safe.
    pub async fn forget(&self, stage: &Stage, discard: Option<&Terms>) -> Result<Forgetting, StoreError> {
        self.store().forget(stage, discard).await
    }
}
