//! What a torture counts.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;

/// Counts by what was counted.
#[derive(Debug, Default)]
pub(super) struct Figures(Mutex<BTreeMap<String, u64>>);

impl Figures {
    pub(super) fn add(&self, what: &str, count: u64) {
        *self.0.lock().expect("nobody panics here").entry(what.to_owned()).or_default() += count;
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = self.0.lock().expect("nobody panics here");
        counts.iter().try_for_each(|(what, count)| writeln!(f, "{count:>10}  {what}"))
    }
}
