//! Tells the part of a history that shows a fault.

use super::{Entry, EventName, Fate, Happening, History, TxId};
use std::fmt::{self, Write};

impl History {
    /// Where the story of these events at this stage stands in the history.
    pub(super) fn story_of(&self, events: &[&EventName], stage: &str) -> Vec<usize> {
        let is_one = |event: &EventName| events.contains(&event);
        let enqueues = self.entries.iter().filter_map(|entry| match &entry.what {
            Happening::Enqueue { tx, event, .. } if is_one(event) => Some(*tx),
            _ => None,
        });
        let transactions: Vec<TxId> = enqueues.collect();
        let belongs = |entry: &Entry| match &entry.what {
            Happening::Enqueue { event, .. } => is_one(event),
            Happening::Commit(tx) | Happening::Committed(tx) | Happening::RolledBack(tx) => {
                transactions.contains(tx)
            }
            Happening::Became { stage: at, event, .. } => at == stage && is_one(event),
            Happening::Down(_) | Happening::Up(_) => false,
        };
        (0..self.entries.len()).filter(|at| belongs(&self.entries[*at])).collect()
    }

    /// These entries, a line each.
    pub(super) fn tell(&self, places: &[usize]) -> String {
        let mut text = String::new();
        for place in places {
            let Entry { at, what } = &self.entries[*place];
            writeln!(text, "  {:>10.3}s  {what}", at.as_secs_f64()).expect("a string takes any text");
        }
        text
    }
}

impl fmt::Display for Happening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Enqueue { tx, event, bad: false } => write!(f, "tx {} enqueues {event}", tx.0),
            Self::Enqueue { tx, event, bad: true } => write!(f, "tx {} enqueues {event}, a bad one", tx.0),
            Self::Commit(tx) => write!(f, "tx {} sends its commit", tx.0),
            Self::Committed(tx) => write!(f, "tx {} is told that it committed", tx.0),
            Self::RolledBack(tx) => write!(f, "tx {} is rolled back", tx.0),
            Self::Became { fate, stage, event } => write!(f, "{stage} {} {event}", fate.verb()),
            Self::Down(stage) => write!(f, "{stage} cannot work"),
            Self::Up(stage) => write!(f, "{stage} can work"),
        }
    }
}

impl Fate {
    fn verb(self) -> &'static str {
        match self {
            Self::Published => "has published",
            Self::Delivered => "is given",
            Self::Handled => "has handled",
            Self::Held => "holds",
            Self::Parked => "has set aside, with its key,",
            Self::Skipped => "has skipped",
            Self::Replayed => "is asked to replay",
            Self::Discarded => "is asked to discard",
        }
    }
}
