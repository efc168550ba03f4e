//! The one place that spawns tasks.

use crate::{store::Store, wake::WakeReceiver};
use std::time::Duration;

/// The shortest time between two notifications to other processes.
const NOTIFY_INTERVAL: Duration = Duration::from_millis(2);

/// Tells other processes of this process's nudges, at most one in [`NOTIFY_INTERVAL`]; ends with the outbox.
pub(crate) fn spawn_notifier<S: Store>(store: S, mut wake: WakeReceiver) {
    tokio::spawn(async move {
        while wake.nudged().await.is_some() {
            if let Err(error) = store.notify().await {
                tracing::debug!(
                    error = &error as &dyn std::error::Error,
                    "a notification was not sent; readers poll"
                );
            }
            tokio::time::sleep(NOTIFY_INTERVAL).await;
        }
    });
}
