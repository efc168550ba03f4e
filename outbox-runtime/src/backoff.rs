//! Capped exponential backoff with full jitter.
//!
//! Source: Marc Brooker, "Exponential Backoff and Jitter", AWS Architecture Blog, 2015: a uniform draw between zero and
//! the capped exponential spreads retries of many keys best.

use crate::simulated;
use rand::RngExt;
use std::time::Duration;

/// How often and how far apart a failing event is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts before an event is poison, the first one included; at least 1.
    pub attempts: u32,
    /// The cap of the wait after the first attempt; doubles with each further one.
    pub base: Duration,
    /// The largest cap.
    pub max: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl RetryPolicy {
    /// Eight attempts, from one second up to ten minutes apart.
    pub const DEFAULT: Self =
        Self { attempts: 8, base: Duration::from_secs(1), max: Duration::from_secs(600) };

    /// A random wait of about `span`, at least half of it: what was held in one moment is not due in one moment.
    pub(crate) fn about(span: Duration) -> Duration {
        span.mul_f64(rand::rng().random_range(0.5..=1.0))
    }

    /// A random wait after `attempts` failed attempts: between zero and `min(max, base * 2^(attempts - 1))`.
    #[must_use]
    pub fn wait_after(&self, attempts: u32) -> Duration {
        let doublings = attempts.saturating_sub(1).min(31);
        let cap = self.base.saturating_mul(1 << doublings).min(self.max);
        let draw = simulated::chance().unwrap_or_else(|| rand::rng().random_range(0.0..=1.0));
        cap.mul_f64(draw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_never_exceeds_its_cap() {
        let policy =
            RetryPolicy { attempts: 5, base: Duration::from_millis(100), max: Duration::from_secs(1) };
        for attempts in 0..200_u32 {
            let cap = Duration::from_millis(100 << attempts.saturating_sub(1).min(4)).min(policy.max);
            assert!(policy.wait_after(attempts) <= cap, "after {attempts} attempts");
        }
    }
}
