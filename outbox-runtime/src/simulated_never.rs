//! Nothing is simulated: the machine decides, and no branch is left of the question.

use std::time::Duration;

pub(crate) const fn boot_time() -> Option<Duration> {
    None
}

pub(crate) const fn chance() -> Option<f64> {
    None
}
