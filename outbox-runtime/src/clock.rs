//! The time that processes measure for themselves: waits, and ages that go on while the machine is suspended.
//!
//! What the database decides (leases, due times, windows) it decides by its own clock.

use crate::simulated;
use std::time::Duration;

/// A moment since boot, suspended time included, so that a machine which slept finds its lease expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BootTime(Duration);

impl BootTime {
    /// The current moment.
    #[must_use]
    pub(crate) fn now() -> Self {
        if let Some(now) = simulated::boot_time() {
            return Self(now);
        }
        #[cfg(target_os = "linux")]
        {
            let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
            let secs = u64::try_from(time.tv_sec).expect("time since boot is not negative");
            let nanos = u32::try_from(time.tv_nsec).expect("nanoseconds are below a second");
            Self(Duration::new(secs, nanos))
        }
        #[cfg(not(target_os = "linux"))]
        {
            // Wall time goes on in a suspended machine too; where it is set back a lease is only given up early.
            Self(std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default())
        }
    }
}

impl BootTime {
    /// Nanoseconds since boot.
    pub(crate) fn as_nanos(self) -> u64 {
        u64::try_from(self.0.as_nanos()).expect("584 years since boot")
    }
}

impl std::ops::Add<Duration> for BootTime {
    type Output = Self;

    fn add(self, span: Duration) -> Self {
        Self(self.0 + span)
    }
}
