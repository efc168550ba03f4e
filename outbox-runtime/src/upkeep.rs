//! What a database of events needs beside its readers, under a lease of its own: scheduled events enter the log when they
//! are due, and what is past its retention goes, in small steps.
//!
//! ```text
//!   events due ──▶ move a page, wake the readers ─┐
//!   time to sweep ──▶ one small step ─────────────┤ again, due events first
//!   neither ──▶ wait: for the next due time, for news of one that is due before it, for the next round
//! ```

use crate::{
    enqueue::Outbox,
    leadership::Grant,
    pause::Pauses,
    store::{News, Retention, Store, StoreError},
    wake::{Nudge, Readiness},
};
use std::time::Duration;
use tokio::time::Instant;

/// The wait after an error that will not pass, before the lease goes round.
const ROUND: Duration = Duration::from_secs(30);

/// The most scheduled events that are moved at once.
const MOVED_MAX: u32 = 1_000;

/// What a leader of upkeep works with.
#[derive(Debug)]
pub(crate) struct UpkeepWorker<S: Store> {
    pub(crate) outbox: Outbox<S>,
    pub(crate) retention: Retention,
    pub(crate) poll: Duration,
}

/// Works until the grant ends. After an error that will not pass (a role without the right to) it ends too: the lease
/// goes round, and a process that has the right takes it up.
pub(crate) async fn run<S: Store>(worker: &UpkeepWorker<S>, grant: &Grant) -> Result<(), StoreError> {
    let mut ready = Readiness::new(worker.outbox.wake_upkeep().subscribe(), News::Scheduled);
    let mut pauses = Pauses::default();
    let mut sweep_at = Instant::now();
    while !grant.hand_over.is_cancelled() {
        grant.moved();
        match worker.step(grant, &mut sweep_at).await {
            Ok(Duration::ZERO) => pauses.reset(),
            Ok(pause) => {
                pauses.reset();
                tokio::select! { biased;
                    () = grant.hand_over.cancelled() => {}
                    () = ready.wait(worker.outbox.store(), pause) => {}
                }
            }
            Err(error) => {
                pauses.log_once(|| {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "retention or a scheduled event did not succeed and is repeated"
                    );
                });
                let pause = if error.is_transient() { pauses.next() } else { ROUND };
                tokio::select! { biased;
                    () = grant.hand_over.cancelled() => {}
                    () = tokio::time::sleep(pause) => {}
                }
                if !error.is_transient() {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}

impl<S: Store> UpkeepWorker<S> {
    /// Moves what is due, or sweeps once if it is time to; gives how long nothing is to be done.
    async fn step(&self, grant: &Grant, sweep_at: &mut Instant) -> Result<Duration, StoreError> {
        let store = self.outbox.store();
        let mut due_in = store.due_in().await?;
        if due_in.is_some_and(|due_in| due_in.is_zero()) {
            let moved = store.move_due(&grant.fence, MOVED_MAX).await?;
            if moved > 0 {
                self.outbox.wake().nudge(Nudge::Committed);
                return Ok(Duration::ZERO);
            }
            // What is due is being taken back by a transaction that is open.
            due_in = None;
        }
        if *sweep_at <= Instant::now() {
            let pause = store.sweep(grant.fence.owner, &self.retention).await?;
            *sweep_at = Instant::now() + pause;
        }
        let next = due_in.unwrap_or(self.poll).min(self.poll);
        Ok(next.min(sweep_at.saturating_duration_since(Instant::now())))
    }
}
