//! Waiting for a server that cannot be reached yet.

use crate::StoreError;
use std::time::{Duration, Instant};

/// The wait between two tries.
const PAUSE: Duration = Duration::from_millis(250);

/// How long a command still waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    ends: Instant,
}

impl Patience {
    pub(super) fn new(span: Duration) -> Self {
        let now = Instant::now();
        Self { ends: now.checked_add(span).unwrap_or(now + Duration::from_secs(u32::MAX.into())) }
    }

    /// The rest of it.
    pub(super) fn left(self) -> Duration {
        self.ends.saturating_duration_since(Instant::now())
    }

    /// Calls until it succeeds, fails for good, or patience is over; then gives the last error.
    pub(super) async fn until_ok<T>(
        self,
        call: impl AsyncFn() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        loop {
            match call().await {
                Err(error) if error.is_transient() && !self.left().is_zero() => {
                    tokio::time::sleep(PAUSE.min(self.left())).await;
                }
                result => return result,
            }
        }
    }
}
