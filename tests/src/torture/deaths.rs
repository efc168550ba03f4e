//! How many processes each deadly payload ended: a few until it is found, and then one an attempt.

use super::ATTEMPTS;
use super::record::{Line, Step};
use crate::history::{EventName, Fate, Happening};
use std::collections::BTreeMap;
use std::fmt;

/// The deaths until a culprit is alone, if nothing else ends a process meanwhile: one in ordinary work, one in a lot.
const SEARCH: u64 = 2;

/// What one payload did at one stage.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Deaths {
    stage: String,
    event: EventName,
    /// How many processes it ended there.
    pub(super) count: u64,
    /// How often it was asked for again there.
    replays: u64,
}

impl Deaths {
    /// More are not explained by the torture's own kills, each of which may have the search begin again.
    fn max(&self) -> u64 {
        let once = SEARCH + u64::from(ATTEMPTS);
        once * (2 + self.replays)
    }

    /// Whether it ended more than it may.
    pub(super) fn are_too_many(&self) -> bool {
        self.count > self.max()
    }
}

impl fmt::Display for Deaths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stage, event, count, replays } = self;
        let max = self.max();
        write!(
            f,
            "{event} ended {count} processes at {stage}, asked for again {replays} times; at most {max}"
        )
    }
}

/// The payloads that ended processes, each at each stage.
pub(super) fn of(lines: &[Line]) -> Vec<Deaths> {
    let mut counts: BTreeMap<(&str, &EventName), (u64, u64)> = BTreeMap::new();
    for Line { step, .. } in lines {
        match step {
            Step::Dies { stage, event } => counts.entry((stage, event)).or_default().0 += 1,
            Step::Happened(Happening::Became { fate: Fate::Replayed, stage, event }) => {
                counts.entry((stage, event)).or_default().1 += 1;
            }
            _ => {}
        }
    }
    let deaths = counts.into_iter().map(|((stage, event), (count, replays))| Deaths {
        stage: stage.to_owned(),
        event: event.clone(),
        count,
        replays,
    });
    deaths.filter(|deaths| deaths.count > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAGE: &str = "relay/default";

    fn dies(event: &EventName) -> Line {
        Line { at: 0, step: Step::Dies { stage: STAGE.to_owned(), event: event.clone() } }
    }

    #[test]
    fn deaths_are_counted_and_more_of_them_allowed_to_what_is_asked_for_again() {
        let event = EventName::new("torture", Some("a"), 1);
        let replayed = Line { at: 0, step: Step::Happened(Fate::Replayed.of(STAGE, &event)) };
        let other = Line {
            at: 0,
            step: Step::Happened(Fate::Replayed.of(STAGE, &EventName::new("torture", Some("a"), 2))),
        };
        let mut lines: Vec<Line> = (0..17).map(|_| dies(&event)).collect();

        assert!(of(&lines)[0].are_too_many());

        lines.extend([replayed, other]);
        let deaths = of(&lines);
        assert_eq!(deaths, [Deaths { stage: STAGE.to_owned(), event, count: 17, replays: 1 }]);
        assert!(!deaths[0].are_too_many());
    }
}
