//! Finds events of one key that reached a reader in another order than they were enqueued in.

use super::check::{Enqueued, Facts, Finding, Kind, Seen};
use super::{EventName, Fate, Reader, TxId};
use std::collections::BTreeMap;

/// The first arrival of one event.
struct Arrival<'f, 'a> {
    /// The place of its entry; that of an event which has not arrived lies behind all others.
    place: usize,
    event: &'a EventName,
    enqueued: &'f Enqueued,
}

const NOT_YET: usize = usize::MAX;

impl<'a> Facts<'a> {
    /// The inversions of one kind of arrival at a reader, at most one in each key.
    pub(super) fn inverted(&self, reader: &'a Reader, arrival: Fate) -> Vec<Finding<'a>> {
        let stage = reader.stage.as_str();
        let is_recorded =
            |((at, _), seen): (&(&str, _), &Seen)| *at == stage && seen.first(arrival).is_some();
        if !self.seen.iter().any(is_recorded) {
            return Vec::new();
        }
        let mut lanes: BTreeMap<_, Vec<Arrival<'_, 'a>>> = BTreeMap::new();
        for (event, enqueued) in self.events.iter().filter(|(event, _)| reader.takes(event)) {
            let Some(key) = &event.key else { continue };
            let seen = self.seen.get(&(stage, *event));
            if self.is_exempt(reader, event) || !self.is_due(enqueued) {
                continue;
            }
            let place = seen.and_then(|seen| seen.first(arrival)).unwrap_or(NOT_YET);
            lanes.entry((&event.topic, key)).or_default().push(Arrival { place, event, enqueued });
        }
        let inversions = lanes.into_values().filter_map(|lane| self.inversion(lane));
        let finding = |(before, after): (&'a EventName, &'a EventName)| {
            let problem = format!("{before} came before {after}, and {stage} first got the other");
            Finding { kind: Kind::Inverted, stage, events: vec![before, after], problem }
        };
        inversions.map(finding).collect()
    }

    /// Two events of one lane of which the first should have arrived before the second.
    fn inversion(&self, mut lane: Vec<Arrival<'_, 'a>>) -> Option<(&'a EventName, &'a EventName)> {
        lane.sort_by_key(|arrival| arrival.place);
        // From the end, of what arrived later: the earliest commit, and in each transaction the earliest enqueue.
        let mut committed: Option<(usize, &EventName)> = None;
        let mut enqueued: BTreeMap<TxId, (usize, &EventName)> = BTreeMap::new();
        for arrival in lane.iter().rev() {
            let Enqueued { tx, began, .. } = arrival.enqueued;
            let in_same = enqueued.get(tx).copied();
            if arrival.place != NOT_YET
                && let Some((_, before)) = committed.into_iter().chain(in_same).find(|(at, _)| at < began)
            {
                return Some((before, arrival.event));
            }
            let ended = self.ends_of(arrival.enqueued).committed;
            committed = earlier(committed, ended.map(|at| (at, arrival.event)));
            let first = earlier(in_same, Some((*began, arrival.event))).expect("one of them is there");
            enqueued.insert(*tx, first);
        }
        None
    }
}

fn earlier<T>(one: Option<(usize, T)>, other: Option<(usize, T)>) -> Option<(usize, T)> {
    one.into_iter().chain(other).min_by_key(|(at, _)| *at)
}
