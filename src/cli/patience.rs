//! Waiting for a server that cannot be reached yet.

use crate::StoreError;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// The wait between two tries.
const PAUSE: Duration = Duration::from_millis(250);

/// How long one call may take in any case, also without patience.
const ANSWER_MIN: Duration = Duration::from_secs(1);

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

    /// Calls until it succeeds, fails for good, or patience is over; then gives the last error. A call that gets no
    /// answer at all is given up with it.
    pub(super) async fn until_ok<T>(
        self,
        call: impl AsyncFn() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut last = None;
        loop {
            match timeout(self.left().max(ANSWER_MIN), call()).await {
                Ok(Err(error)) if error.is_transient() && !self.left().is_zero() => last = Some(error),
                Ok(result) => return result,
                Err(elapsed) => {
                    let source = Box::new(elapsed);
                    let silent = StoreError::Database { action: "answer", transient: true, source };
                    return Err(last.unwrap_or(silent));
                }
            }
            tokio::time::sleep(PAUSE.min(self.left())).await;
        }
    }
}
