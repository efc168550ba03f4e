//! How long nothing moved that could have: what G7 is about. An event may also come late because many stand before it, and
//! then something moves all the time.

use super::verdict::Outcome;
use std::collections::BTreeMap;
use std::time::Duration;

/// A time in which nothing moved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Stall {
    /// Nanoseconds.
    nanos: u64,
    /// What came at its end, and when.
    ended_by: Option<(String, u64)>,
}

impl Stall {
    pub(super) fn span(&self) -> Duration {
        Duration::from_nanos(self.nanos)
    }
}

/// The longest ones.
#[derive(Debug, Default)]
pub(super) struct Stalls {
    /// No event of any key came, though one waited.
    pub(super) all: Stall,
    /// No event of one key came, though one of it waited.
    pub(super) key: Stall,
}

/// Looks for them among the events that came.
pub(super) fn longest(outcomes: &[&Outcome]) -> Stalls {
    let mut keys: BTreeMap<_, Vec<&Outcome>> = BTreeMap::new();
    for outcome in outcomes {
        keys.entry(&outcome.event.key).or_default().push(outcome);
    }
    let by_key = keys.values().map(|outcomes| longest_of(outcomes));
    Stalls { all: longest_of(outcomes), key: by_key.max_by_key(|stall| stall.nanos).unwrap_or_default() }
}

fn longest_of(outcomes: &[&Outcome]) -> Stall {
    let mut came: Vec<(u64, &Outcome)> =
        outcomes.iter().filter_map(|outcome| Some((outcome.got?, *outcome))).collect();
    came.sort_by_key(|(got, _)| *got);
    // For each that came, since when any of those waited that had not come before.
    let mut waiting_since = u64::MAX;
    let mut since: Vec<u64> = came
        .iter()
        .rev()
        .map(|(_, outcome)| {
            waiting_since = waiting_since.min(outcome.committed);
            waiting_since
        })
        .collect();
    since.reverse();
    let mut longest = Stall::default();
    let mut before = 0;
    for ((got, outcome), since) in came.into_iter().zip(since) {
        let nanos = got.saturating_sub(since.max(before));
        if nanos > longest.nanos {
            longest = Stall { nanos, ended_by: Some((outcome.event.to_string(), got)) };
        }
        before = got;
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::{Outcome, longest};
    use crate::history::EventName;
    use std::time::Duration;

    fn outcome(key: &str, n: i64, committed: u64, got: u64) -> Outcome {
        let event = EventName::new("torture", Some(key), n);
        Outcome { event, committed, got: Some(got), is_discarded: false }
    }

    #[test]
    fn a_long_queue_is_no_stall_while_it_moves() {
        let queue: Vec<Outcome> = (0..10).map(|n| outcome("a", n, 0, 10 * n.cast_unsigned())).collect();

        let stalls = longest(&queue.iter().collect::<Vec<_>>());

        assert_eq!(
            (stalls.all.span(), stalls.key.span()),
            (Duration::from_nanos(10), Duration::from_nanos(10))
        );
    }

    #[test]
    fn a_key_that_stands_still_beside_others_is_a_stall_of_its_own() {
        let moving = (0..10).map(|n| outcome("a", n, 100 * n.cast_unsigned(), 100 * n.cast_unsigned() + 7));
        let all: Vec<Outcome> = moving.chain([outcome("b", 0, 50, 850), outcome("b", 1, 60, 860)]).collect();

        let stalls = longest(&all.iter().collect::<Vec<_>>());

        assert_eq!(stalls.key.span(), Duration::from_nanos(800));
        // From what came of `a` to the next of it: `b` waited all the while.
        assert_eq!(stalls.all.span(), Duration::from_nanos(100));
    }

    #[test]
    fn where_nothing_waits_nothing_stalls() {
        let all = [outcome("a", 0, 0, 5), outcome("a", 1, 1_000, 1_003)];

        let stalls = longest(&all.iter().collect::<Vec<_>>());

        assert_eq!(stalls.all.span(), Duration::from_nanos(5));
    }
}
