//! The waits of a loop whose work fails as a whole: growing, capped, spread, and logged once.

use crate::backoff::RetryPolicy;
use std::time::Duration;

const POLICY: RetryPolicy =
    RetryPolicy { attempts: u32::MAX, base: Duration::from_millis(100), max: Duration::from_secs(5) };

/// Counts failures in a row.
#[derive(Debug, Default)]
pub(crate) struct Pauses {
    failures: u32,
}

impl Pauses {
    /// Work succeeded.
    pub(crate) fn reset(&mut self) {
        self.failures = 0;
    }

    /// The wait after one more failure.
    pub(crate) fn next(&mut self) -> Duration {
        self.failures = self.failures.saturating_add(1);
        POLICY.wait_after(self.failures)
    }

    /// Logs the first failure of a row only: an outage is one line.
    pub(crate) fn log_once(&self, log: impl FnOnce()) {
        if self.failures == 0 {
            log();
        }
    }
}
