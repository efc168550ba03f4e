//! Chance that follows from a seed, whatever version of whatever library is linked.
//!
//! Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014 (splitmix64).

use std::sync::atomic::{AtomicU64, Ordering};

/// A sequence of numbers.
#[derive(Debug)]
pub(super) struct Chance(AtomicU64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    /// A number below `end`, or zero. Small ends only: the remainder favours none of them noticeably.
    pub(super) fn below(&self, end: u64) -> u64 {
        const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
        let mut z = self.0.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % end.max(1)
    }
}
