//! Asks the three questions about a released contract and the one that takes its place.
//!
//! ```text
//!              old writer ──BACKWARD──▶ new reader      events that are already written
//!              new writer ──FORWARD───▶ old reader      consumers that are not upgraded yet
//!  what the old reader took ──READER──▶ new reader      other writers, and the releases before
//! ```

use super::diff::{self, Change, ChangeKind};
use super::finding::{Evidence, Finding, FindingId, Location};
use super::wording;
use super::{Formats, Verdict, close_writer, compare, policy};
use crate::{Contract, EventDescriptor};
use serde_json::Value;

/// Everything that speaks against `current` in the place of `released`; both are of one event type and version.
///
/// With `event`, a finding names the place in its source.
#[must_use]
pub fn check(released: &Contract, current: &Contract, event: Option<&EventDescriptor>) -> Vec<Finding> {
    if released == current {
        return Vec::new();
    }
    let gate = Gate {
        released,
        current,
        event,
        reads: diff::changes(&released.reads, &current.reads),
        writes: diff::changes(&released.writes, &current.writes),
    };
    let mut findings = gate.questions();
    findings.extend(policy::check(&gate, &findings));
    findings
}

/// Two contracts, and what changed between them.
pub(super) struct Gate<'a> {
    pub(super) released: &'a Contract,
    pub(super) current: &'a Contract,
    pub(super) event: Option<&'a EventDescriptor>,
    pub(super) reads: Vec<Change>,
    pub(super) writes: Vec<Change>,
}

impl Gate<'_> {
    fn questions(&self) -> Vec<Finding> {
        let (old, new) = (self.released, self.current);
        let mut findings = Vec::new();
        findings.extend(self.ask(FindingId::ReaderRefusesReleased, &old.writes, &new.reads, &self.reads));
        findings.extend(self.ask(FindingId::ReleasedReaderRefuses, &new.writes, &old.reads, &self.writes));
        // Whatever the old writer wrote the old reader took, so this would only repeat a break that is known.
        if !findings.iter().any(|finding| finding.id == FindingId::ReaderRefusesReleased) {
            findings.extend(self.ask(FindingId::ReaderNarrowed, &old.reads, &new.reads, &self.reads));
        }
        findings
    }

    fn ask(&self, id: FindingId, writer: &Value, reader: &Value, changes: &[Change]) -> Option<Finding> {
        let (id, evidence, pointer) = match compare(&close_writer(writer), reader, Formats::Asserted) {
            Verdict::Holds => return None,
            Verdict::Breaks(witness) => {
                let pointer = witness.pointer.clone();
                (id, Evidence::Refused(witness), pointer)
            }
            Verdict::NotProven(reason) => (FindingId::NotProven, Evidence::Undecided(reason), String::new()),
        };
        let path = path_of(&pointer);
        let mut near: Vec<&Change> = changes.iter().filter(|change| is_near(&change.path, &path)).collect();
        if near.is_empty() {
            near =
                self.reads.iter().chain(&self.writes).filter(|change| is_near(&change.path, &path)).collect();
        }
        // First what explains this payload: a value that is there is refused for its type, not for being required.
        if let Evidence::Refused(witness) = &evidence {
            let is_there = witness.payload.pointer(&pointer).is_some();
            near.sort_by_key(|change| change.kind.is_presence() == is_there);
        }
        near.extend(near.first().and_then(|change| self.under_another_name(change)));
        Some(self.finding(id, &near, pointer, evidence))
    }

    /// The one field that came where `change` took one away, or went where it added one: most often one thing with
    /// a new name.
    pub(super) fn under_another_name(&self, change: &Change) -> Option<&Change> {
        let is_counterpart = |other: &&Change| {
            let apart = matches!(
                (&change.kind, &other.kind),
                (ChangeKind::Removed, ChangeKind::Added { .. })
                    | (ChangeKind::Added { .. }, ChangeKind::Removed)
            );
            apart && other.path.split_last().map(|last| last.1) == change.path.split_last().map(|last| last.1)
        };
        let mut counterparts = self.writes.iter().filter(is_counterpart);
        counterparts.next().filter(|_| counterparts.next().is_none())
    }

    /// A finding about `changes`, at the Rust field they go through.
    pub(super) fn finding(
        &self,
        id: FindingId,
        changes: &[&Change],
        pointer: String,
        evidence: Evidence,
    ) -> Finding {
        let removed = changes
            .first()
            .is_some_and(|change| change.kind == ChangeKind::Removed && change.path.len() == 1);
        let through = changes.first().and_then(|change| change.path.first().cloned());
        let through = through.or_else(|| path_of(&pointer).into_iter().next());
        Finding {
            id,
            event_type: self.current.event_type.clone(),
            event_version: self.current.event_version,
            what: wording::what(changes),
            evidence,
            location: self.locate(through.as_deref(), removed),
            fix: wording::fix(id, changes, self.current.event_version),
            pointer,
        }
    }

    pub(super) fn locate(&self, name: Option<&str>, removed: bool) -> Option<Location> {
        Some(locate(self.event?, name.filter(|_| !removed)))
    }
}

/// The field called `name` on the wire, or the struct.
pub(super) fn locate(event: &EventDescriptor, name: Option<&str>) -> Location {
    let named = name.and_then(|name| {
        let mut fields = event.fields.iter();
        let own = fields.find(|field| field.writes == Some(name) || field.reads.contains(&name));
        // A field that is there without being one of the struct's own came in by `flatten`.
        own.or_else(|| event.flattened(name))
    });
    Location { file: event.file.to_owned(), line: named.map_or(event.line, |field| field.line) }
}

/// The parts of a JSON pointer, with `*` for positions in a list.
pub(super) fn path_of(pointer: &str) -> Vec<String> {
    let part = |part: &str| match part.parse::<u64>() {
        Ok(_) => "*".to_owned(),
        Err(_) => part.replace("~1", "/").replace("~0", "~"),
    };
    pointer.split('/').skip(1).map(part).collect()
}

/// Whether a change at `change` may be what a payload is refused for at `refused`.
pub(super) fn is_near(change: &[String], refused: &[String]) -> bool {
    change.iter().zip(refused).all(|(left, right)| left == right || left == "*")
}

#[cfg(test)]
mod tests;
