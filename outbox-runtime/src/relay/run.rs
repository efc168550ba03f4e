//! Runs steps until the grant ends, and waits between them.

use super::{
    RelayConfig,
    step::{RelayError, Relayed, Step},
    topics::Topics,
};
use crate::{
    broker::Broker,
    cursor::Start,
    enqueue::Outbox,
    held_watch::HeldWatch,
    leadership::Grant,
    pause::Pauses,
    store::{News, Store},
    suspicion::Suspicion,
    wake::Readiness,
};
use std::{sync::Arc, time::Duration};

/// One relay, with everything its work needs.
pub(crate) struct RelayWorker<S: Store> {
    pub(crate) outbox: Outbox<S>,
    pub(crate) broker: Arc<dyn Broker>,
    pub(crate) config: RelayConfig,
    pub(crate) start: Start,
    pub(crate) poll: Duration,
}

/// Works until the grant ends. Errors that may pass are waited out.
///
/// # Errors
/// What a person must mend in the database.
pub(crate) async fn run<S: Store>(worker: &RelayWorker<S>, grant: &Grant) -> Result<(), RelayError> {
    let mut pauses = Pauses::default();
    loop {
        let Err(error) = worker.session(grant, &mut pauses).await else { return Ok(()) };
        if error.is_lease_lost() {
            return Ok(());
        }
        worker.wait_out(error, grant, &mut pauses).await?;
        if grant.hand_over.is_cancelled() {
            return Ok(());
        }
    }
}

impl<S: Store> RelayWorker<S> {
    /// Opens the log and works until the grant ends or the store fails. After an error of the broker the same page is
    /// taken up again, with what was confirmed of it.
    async fn session(&self, grant: &Grant, pauses: &mut Pauses) -> Result<(), RelayError> {
        let store = self.outbox.store();
        let mut readiness = Readiness::new(self.outbox.wake().subscribe(), News::Logged);
        // What the session before was interrupted in may have been written all the same, or be about to be.
        store.await_writes(&grant.fence).await?;
        let log = store.open_log(&grant.fence, self.config.filter.clone(), self.start).await?;
        let suspicion = Suspicion::take_up(store, grant, self.config.page_max).await?;
        let mut step = Step {
            store,
            broker: &*self.broker,
            config: &self.config,
            grant,
            log,
            watch: HeldWatch::new(self.poll, self.config.filter.clone()),
            page: None,
            troubles: 0,
            topics: Topics::default(),
            suspicion,
            is_tried_alone: false,
        };
        while !grant.hand_over.is_cancelled() {
            match step.relay_once().await {
                Ok(relayed) => {
                    if relayed != Relayed::Postponed {
                        pauses.reset();
                    }
                    if relayed != Relayed::Idle {
                        readiness.found();
                    }
                    if relayed == (Relayed::Page { full: true }) {
                        continue;
                    }
                }
                Err(error @ (RelayError::Broker(_) | RelayError::Unconfirmed(_))) => {
                    self.wait_out(error, grant, pauses).await?;
                    continue;
                }
                Err(error) => return Err(error),
            }
            let at_most = step.watch.pause().min(self.poll);
            tokio::select! { biased;
                () = grant.hand_over.cancelled() => {}
                () = readiness.wait(store, at_most) => {}
            }
        }
        Ok(step.suspicion.put_down(store, grant).await?)
    }

    /// Waits after an error that may pass; gives back one that a person must mend.
    async fn wait_out(
        &self,
        error: RelayError,
        grant: &Grant,
        pauses: &mut Pauses,
    ) -> Result<(), RelayError> {
        if error.is_for_good() {
            return Err(error);
        }
        pauses.log_once(|| {
            let (relay, cause) = (&self.config.name, &error as &dyn std::error::Error);
            if error.is_refusal() {
                tracing::error!(
                    relay,
                    error = cause,
                    "the broker refuses a relay's work, which is tried again and again"
                );
            } else {
                tracing::warn!(relay, error = cause, "a relay's work was interrupted and is taken up again");
            }
        });
        grant.moved();
        tokio::select! { biased;
            () = grant.hand_over.cancelled() => {}
            () = tokio::time::sleep(pauses.next()) => {}
        }
        Ok(())
    }
}
