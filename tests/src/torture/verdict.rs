//! Whether the promises were kept, from the records of all processes and from what stands in the database at the end.

use super::record::{Line, Step};
use crate::history::{EventName, Fate, Happening, History, Reader, TxId};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// What the records say of the transactions.
#[derive(Debug, Default)]
struct Transactions {
    /// Those that enqueued, with their key's lock if they had one.
    begun: BTreeMap<TxId, Option<(String, i64)>>,
    /// When each was told that it committed.
    committed: BTreeMap<TxId, u64>,
    rolled_back: BTreeSet<TxId>,
    /// Those whose row stands in the database.
    entered: BTreeSet<TxId>,
    /// When each version of a key was first locked: all lower ones had committed by then.
    locked: BTreeMap<(String, i64), u64>,
    /// Which transaction took an event back.
    cancelled: BTreeMap<EventName, TxId>,
    last: u64,
}

impl Transactions {
    fn of(lines: &[Line]) -> Self {
        let mut found = Self::default();
        for Line { at, step } in lines {
            found.last = *at;
            match step {
                Step::Locked { tx, key, version } => {
                    found.begun.insert(*tx, Some((key.clone(), *version)));
                    found.locked.entry((key.clone(), *version)).or_insert(*at);
                }
                Step::Entered(tx) => drop(found.entered.insert(*tx)),
                Step::Happened(Happening::Enqueue { tx, .. }) => drop(found.begun.entry(*tx).or_default()),
                Step::Happened(Happening::Committed(tx)) => drop(found.committed.insert(*tx, *at)),
                Step::Happened(Happening::RolledBack(tx)) => drop(found.rolled_back.insert(*tx)),
                Step::Cancelled { tx, event } => drop(found.cancelled.insert(event.clone(), *tx)),
                Step::Happened(_) | Step::Confirmed(_) | Step::Dies { .. } => {}
            }
        }
        found
    }

    /// Whether the event was taken back before it was due: then nobody may get it.
    fn is_cancelled(&self, event: &EventName) -> bool {
        self.cancelled.get(event).is_some_and(|tx| self.entered.contains(tx))
    }

    /// What cannot be, whatever the outbox does: then the database or the records are at fault.
    fn contradiction(&self) -> Option<String> {
        let gone = self.committed.keys().find(|tx| !self.entered.contains(tx));
        let undead = self.rolled_back.iter().find(|tx| self.entered.contains(tx));
        let gone = gone
            .map(|tx| format!("tx {} was told that it committed, and the database has no row of it", tx.0));
        gone.or_else(|| undead.map(|tx| format!("tx {} was rolled back, and the database has its row", tx.0)))
    }

    /// When it was known that the transaction had committed: when it was told so, or when another got its key's lock.
    fn known_at(&self, tx: TxId) -> u64 {
        let told = self.committed.get(&tx).copied().unwrap_or(self.last);
        let Some(Some((key, version))) = self.begun.get(&tx) else { return told };
        let later = self.locked.range((key.clone(), version + 1)..=(key.clone(), i64::MAX));
        later.map(|(_, at)| *at).min().map_or(told, |at| at.min(told))
    }
}

/// The history that the records tell.
///
/// # Errors
/// The records contradict the database.
pub(super) fn history_of(lines: &[Line], readers: Vec<Reader>) -> Result<History, String> {
    let transactions = Transactions::of(lines);
    if let Some(problem) = transactions.contradiction() {
        return Err(problem);
    }
    let mut entries: Vec<(u64, Happening)> = Vec::new();
    for Line { at, step } in lines {
        match step {
            Step::Happened(Happening::Committed(_)) => {}
            Step::Happened(Happening::Enqueue { event, .. }) if transactions.is_cancelled(event) => {}
            Step::Happened(what) => entries.push((*at, what.clone())),
            Step::Locked { .. }
            | Step::Entered(_)
            | Step::Cancelled { .. }
            | Step::Confirmed(_)
            | Step::Dies { .. } => {}
        }
    }
    for tx in transactions.begun.keys() {
        if transactions.entered.contains(tx) {
            entries.push((transactions.known_at(*tx), Happening::Committed(*tx)));
        } else if !transactions.rolled_back.contains(tx) {
            entries.push((transactions.last, Happening::RolledBack(*tx)));
        }
    }
    // At one time, what was known of a transaction comes before what another did then.
    entries.sort_by_key(|(at, what)| (*at, !matches!(what, Happening::Committed(_))));
    let began = entries.first().map_or(0, |(at, _)| *at);
    let mut history = History::new(readers);
    for (at, what) in entries {
        history.record(Duration::from_nanos(at - began), what);
    }
    Ok(history)
}

/// How the transactions that enqueued have ended, with the number of each.
pub(super) fn ends(lines: &[Line]) -> [(&'static str, u64); 4] {
    let transactions = Transactions::of(lines);
    let mut counts = [("commits", 0), ("rollbacks", 0), ("commits in doubt", 0), ("rollbacks in doubt", 0)];
    for tx in transactions.begun.keys() {
        let is_told = transactions.committed.contains_key(tx) || transactions.rolled_back.contains(tx);
        let is_entered = transactions.entered.contains(tx);
        counts[usize::from(!is_entered) + 2 * usize::from(!is_told)].1 += 1;
    }
    counts
}

/// The committed events that a reader must get, with when it first got them.
pub(super) fn outcomes(lines: &[Line], reader: &Reader) -> Vec<Outcome> {
    let transactions = Transactions::of(lines);
    let mut got: BTreeMap<&EventName, u64> = BTreeMap::new();
    let mut discarded = BTreeSet::new();
    for Line { at, step } in lines {
        if let Step::Happened(Happening::Became { fate, stage, event }) = step {
            let is_before = reader.behind.as_ref() == Some(stage);
            if *fate == reader.goal && *stage == reader.stage {
                got.entry(event).or_insert(*at);
            } else if *fate == Fate::Discarded && (*stage == reader.stage || is_before) {
                discarded.insert(event);
            }
        }
    }
    let mut outcomes = Vec::new();
    for Line { step, .. } in lines {
        if let Step::Happened(Happening::Enqueue { tx, event, .. }) = step
            && reader.takes(event)
            && transactions.entered.contains(tx)
            && !transactions.is_cancelled(event)
        {
            outcomes.push(Outcome {
                event: event.clone(),
                committed: transactions.known_at(*tx),
                got: got.get(event).copied(),
                is_discarded: discarded.contains(event),
            });
        }
    }
    outcomes
}

/// What a reader has yet to get, in words.
pub(super) fn missing(lines: &[Line], reader: &Reader) -> Vec<String> {
    let open = |outcome: &Outcome| outcome.got.is_none() && !outcome.is_discarded;
    let outcomes = outcomes(lines, reader).into_iter().filter(open);
    outcomes.map(|outcome| format!("{} at {}", outcome.event, reader.stage)).collect()
}

/// What became of one committed event at one reader; times are those of the records.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) event: EventName,
    /// When it was known to be committed.
    pub(super) committed: u64,
    /// When the reader first got it.
    pub(super) got: Option<u64>,
    pub(super) is_discarded: bool,
}

impl Outcome {
    /// From the commit to the reader.
    pub(super) fn took(&self) -> Option<Duration> {
        self.got.map(|got| Duration::from_nanos(got.saturating_sub(self.committed)))
    }
}
