//! What a simulation decides in place of the machine: the time since boot, and chance. By thread, since a simulation is one.

use rand::{RngExt, SeedableRng, rngs::StdRng};
use std::{
    cell::{Cell, RefCell},
    time::Duration,
};

thread_local! {
    static BOOT_TIME: Cell<Option<Duration>> = const { Cell::new(None) };
    static CHANCE: RefCell<Option<StdRng>> = const { RefCell::new(None) };
}

/// Sets the time since boot for this thread; `None` gives it back to the machine.
pub fn set_boot_time(now: Option<Duration>) {
    BOOT_TIME.set(now);
}

/// Makes chance in this thread follow from a seed; `None` gives it back to the machine.
pub fn seed_chance(seed: Option<u64>) {
    CHANCE.set(seed.map(StdRng::seed_from_u64));
}

pub(crate) fn boot_time() -> Option<Duration> {
    BOOT_TIME.get()
}

/// A number between zero and one.
pub(crate) fn chance() -> Option<f64> {
    CHANCE.with_borrow_mut(|chance| chance.as_mut().map(|chance| chance.random_range(0.0..=1.0)))
}
