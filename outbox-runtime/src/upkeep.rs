//! Keeps the tables small: retention of the log and the inbox, in small steps under a lease of its own.

use crate::{
    leadership::Grant,
    pause::Pauses,
    store::{Retention, Store, StoreError},
};
use std::time::Duration;

/// The wait between two rounds when there is nothing left to do.
const ROUND: Duration = Duration::from_secs(30);

/// Sweeps until the grant ends. After an error that will not pass (a role without the right to) it ends too: the lease
/// goes round, and a process that has the right takes it up.
pub(crate) async fn run<S: Store>(store: &S, retention: &Retention, grant: &Grant) -> Result<(), StoreError> {
    let mut pauses = Pauses::default();
    while !grant.hand_over.is_cancelled() {
        grant.moved();
        let pause = match store.sweep(grant.fence.owner, retention).await {
            Ok(true) => {
                pauses.reset();
                continue;
            }
            Ok(false) => {
                pauses.reset();
                ROUND
            }
            Err(error) => {
                pauses.log_once(|| {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "retention did not succeed and is repeated"
                    );
                });
                if !error.is_transient() {
                    tokio::select! { biased;
                        () = grant.hand_over.cancelled() => {}
                        () = tokio::time::sleep(ROUND) => {}
                    }
                    return Ok(());
                }
                pauses.next()
            }
        };
        tokio::select! { biased;
            () = grant.hand_over.cancelled() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
    Ok(())
}
