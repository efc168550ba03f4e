//! Decides the promises from a history.

use super::{EventName, Fate, Happening, History, Reader, TxId};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

/// The fates whose order is promised.
const ARRIVALS: [Fate; 3] = [Fate::Published, Fate::Delivered, Fate::Handled];

/// Which promise was broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// G1: an event got out whose transaction did not commit.
    Phantom,
    /// G2: a committed event is nowhere.
    Lost,
    /// G3: two ordered events of a key arrived in the other order.
    Inverted,
    /// G4: an event has two effects.
    Doubled,
    /// G5: a good event suffered from a bad one.
    NotIsolated,
}

/// A broken promise and the part of the history that shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Which promise.
    pub kind: Kind,
    /// What is wrong, in one sentence.
    pub problem: String,
    /// What happened, in order, a line each.
    pub story: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let promise = match self.kind {
            Kind::Phantom => "G1",
            Kind::Lost => "G2",
            Kind::Inverted => "G3",
            Kind::Doubled => "G4",
            Kind::NotIsolated => "G5",
        };
        write!(f, "{promise} is broken: {}\n{}", self.problem, self.story)
    }
}

/// A fault before its story is told.
pub(super) struct Finding<'a> {
    pub(super) kind: Kind,
    pub(super) stage: &'a str,
    pub(super) events: Vec<&'a EventName>,
    pub(super) problem: String,
}

/// What the record says of one event.
#[derive(Debug)]
pub(super) struct Enqueued {
    pub(super) tx: TxId,
    pub(super) began: usize,
    bad: bool,
}

/// What the record says of one transaction: the places of its entries.
#[derive(Debug, Default)]
pub(super) struct Ends {
    sent: Option<usize>,
    pub(super) committed: Option<usize>,
    rolled_back: bool,
}

/// What became of one event at one stage: each fate with the places of its entries.
#[derive(Debug, Default)]
pub(super) struct Seen(BTreeMap<Fate, Vec<usize>>);

/// The record by event, transaction and stage.
pub(super) struct Facts<'a> {
    history: &'a History,
    pub(super) events: BTreeMap<&'a EventName, Enqueued>,
    ends: BTreeMap<TxId, Ends>,
    pub(super) seen: BTreeMap<(&'a str, &'a EventName), Seen>,
    /// Events that got out, or stand anywhere.
    known: BTreeSet<&'a EventName>,
}

pub(super) fn check(history: &History) -> Result<(), Fault> {
    let facts = Facts::of(history);
    let mut findings = facts.phantoms();
    for reader in &history.readers {
        findings.extend(facts.lost(reader));
        findings.extend(facts.doubled(reader));
        findings.extend(facts.not_isolated(reader));
        for arrival in ARRIVALS {
            findings.extend(facts.inverted(reader, arrival));
        }
    }
    let told =
        findings.into_iter().map(|finding| (history.story_of(&finding.events, finding.stage), finding));
    // The first promise is the most telling one: what is lost is out of order too.
    match told.min_by_key(|(story, finding)| (finding.kind, story.len())) {
        None => Ok(()),
        Some((story, Finding { kind, problem, .. })) => {
            Err(Fault { kind, problem, story: history.tell(&story) })
        }
    }
}

impl<'a> Facts<'a> {
    fn of(history: &'a History) -> Self {
        let mut facts = Self {
            history,
            events: BTreeMap::new(),
            ends: BTreeMap::new(),
            seen: BTreeMap::new(),
            known: BTreeSet::new(),
        };
        for (place, entry) in history.entries.iter().enumerate() {
            facts.take(place, &entry.what);
        }
        facts
    }

    fn take(&mut self, place: usize, what: &'a Happening) {
        match what {
            Happening::Enqueue { tx, event, bad } => {
                self.events.insert(event, Enqueued { tx: *tx, began: place, bad: *bad });
            }
            Happening::Commit(tx) => self.ends.entry(*tx).or_default().sent = Some(place),
            Happening::Committed(tx) => self.ends.entry(*tx).or_default().committed = Some(place),
            Happening::RolledBack(tx) => self.ends.entry(*tx).or_default().rolled_back = true,
            Happening::Became { fate, stage, event } => {
                self.known.insert(event);
                let seen = self.seen.entry((stage, event)).or_default();
                seen.0.entry(*fate).or_default().push(place);
            }
            Happening::Down(_) | Happening::Up(_) => {}
        }
    }

    pub(super) fn ends_of(&self, event: &Enqueued) -> &Ends {
        const NONE: &Ends = &Ends { sent: None, committed: None, rolled_back: false };
        self.ends.get(&event.tx).unwrap_or(NONE)
    }

    /// Whether every reader must get the event.
    pub(super) fn is_due(&self, enqueued: &Enqueued) -> bool {
        let ends = self.ends_of(enqueued);
        let in_doubt = ends.sent.is_some() && ends.committed.is_none() && !ends.rolled_back;
        let got_out =
            || self.events.iter().any(|(event, other)| other.tx == enqueued.tx && self.known.contains(event));
        ends.committed.is_some() || (in_doubt && got_out())
    }

    /// Whether the relay that the reader is behind has published the event.
    fn reaches(&self, reader: &Reader, event: &EventName) -> bool {
        let Some(relay) = &reader.behind else { return true };
        self.seen.get(&(relay.as_str(), event)).is_some_and(|seen| seen.first(Fate::Published).is_some())
    }

    /// Whether the event is in no order at the reader, or was in none at the relay before it.
    pub(super) fn is_exempt(&self, reader: &Reader, event: &EventName) -> bool {
        let stages = [Some(&reader.stage), reader.behind.as_ref()].into_iter().flatten();
        stages.filter_map(|stage| self.seen.get(&(stage.as_str(), event))).any(Seen::is_exempt)
    }

    fn phantoms(&self) -> Vec<Finding<'a>> {
        let mut findings = Vec::new();
        for ((stage, event), seen) in &self.seen {
            let first = ARRIVALS.iter().filter_map(|arrival| seen.first(*arrival)).min();
            let problem = match self.events.get(event).map(|enqueued| self.ends_of(enqueued)) {
                None => "was never enqueued",
                Some(Ends { rolled_back: true, .. }) => "was rolled back",
                Some(Ends { sent: None, .. }) => "was never to be committed",
                Some(Ends { sent: Some(sent), .. }) if first.is_some_and(|first| first < *sent) => {
                    "was not to be committed yet"
                }
                Some(_) => continue,
            };
            let problem = format!("{event} {problem}, and {stage} has it");
            findings.push(Finding { kind: Kind::Phantom, stage, events: vec![event], problem });
        }
        findings
    }

    fn lost(&self, reader: &'a Reader) -> Vec<Finding<'a>> {
        let mut findings = Vec::new();
        for (event, enqueued) in &self.events {
            let has = |seen: &Seen| seen.stands() || seen.first(reader.goal).is_some();
            let is_there = self.seen.get(&(reader.stage.as_str(), *event)).is_some_and(has);
            if reader.takes(event) && !is_there && self.is_due(enqueued) && self.reaches(reader, event) {
                let problem = format!("{event} was committed, and {} neither got nor holds it", reader.stage);
                let stage = &reader.stage;
                findings.push(Finding { kind: Kind::Lost, stage, events: vec![event], problem });
            }
        }
        findings
    }

    fn doubled(&self, reader: &'a Reader) -> Vec<Finding<'a>> {
        let of_reader = self.seen.iter().filter(|((stage, _), _)| *stage == reader.stage);
        let twice = of_reader.filter(|(_, seen)| seen.count(Fate::Handled) > 1);
        twice
            .map(|((stage, event), seen)| {
                let problem = format!("{event} has {} effects at {stage}", seen.count(Fate::Handled));
                Finding { kind: Kind::Doubled, stage, events: vec![event], problem }
            })
            .collect()
    }

    fn not_isolated(&self, reader: &'a Reader) -> Vec<Finding<'a>> {
        let bad_lanes: BTreeSet<_> = self
            .events
            .iter()
            .filter(|(_, enqueued)| enqueued.bad)
            .map(|(event, _)| (&event.topic, &event.key))
            .collect();
        let stage = reader.stage.as_str();
        let mut findings = Vec::new();
        for (event, enqueued) in
            self.events.iter().filter(|(event, enqueued)| !enqueued.bad && reader.takes(event))
        {
            let Some(seen) = self.seen.get(&(stage, *event)) else { continue };
            let problem = if seen.is_set_aside() {
                format!("{stage} has set {event} aside, and nothing is wrong with it")
            } else if event.key.is_none() || !bad_lanes.contains(&(&event.topic, &event.key)) {
                match self.delay(reader, enqueued, seen) {
                    Some(delay) => format!("{event} took {delay:?} to {stage}, and its key has no bad event"),
                    None => continue,
                }
            } else {
                continue;
            };
            findings.push(Finding { kind: Kind::NotIsolated, stage, events: vec![event], problem });
        }
        findings
    }

    /// How long the event took while the reader could work, if that is too long.
    fn delay(&self, reader: &Reader, enqueued: &Enqueued, seen: &Seen) -> Option<Duration> {
        let entries = &self.history.entries;
        let limit = self.history.delay_max?;
        let from = entries[self.ends_of(enqueued).committed?].at;
        let to = entries[seen.first(reader.goal)?].at;
        let mut worked = Duration::ZERO;
        let mut since = Some(Duration::ZERO);
        let within = |since: Duration, until: Duration| until.min(to).saturating_sub(since.max(from));
        for entry in entries {
            match &entry.what {
                Happening::Down(stage) if *stage == reader.stage => {
                    worked += since.take().map_or(Duration::ZERO, |since| within(since, entry.at));
                }
                Happening::Up(stage) if *stage == reader.stage => since = since.or(Some(entry.at)),
                _ => {}
            }
        }
        worked += since.map_or(Duration::ZERO, |since| within(since, to));
        (worked > limit).then_some(worked)
    }
}

impl Seen {
    pub(super) fn first(&self, fate: Fate) -> Option<usize> {
        self.0.get(&fate)?.first().copied()
    }

    fn count(&self, fate: Fate) -> usize {
        self.0.get(&fate).map_or(0, Vec::len)
    }

    fn has(&self, fates: &[Fate]) -> bool {
        fates.iter().any(|fate| self.0.contains_key(fate))
    }

    fn stands(&self) -> bool {
        self.has(&[Fate::Held, Fate::Parked, Fate::Skipped, Fate::Discarded])
    }

    fn is_set_aside(&self) -> bool {
        self.has(&[Fate::Parked, Fate::Skipped])
    }

    /// Whether it is in no order.
    fn is_exempt(&self) -> bool {
        self.has(&[Fate::Skipped, Fate::Discarded, Fate::Replayed])
    }
}
