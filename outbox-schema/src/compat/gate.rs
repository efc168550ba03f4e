//! Asks the three questions about a released contract and the one that takes its place.
//!
//! ```text
//!              old writer ──BACKWARD──▶ new reader      events that are already written
//!              new writer ──FORWARD───▶ old reader      consumers that are not upgraded yet
//!  what the old reader took ──READER──▶ new reader      other writers, and the releases before
//! ```

use super::diff::{self, Change, ChangeKind};
use super::finding::{Evidence, Finding, FindingId, Location};
use super::loosen::loosen;
use super::real::{self, Side};
use super::verdict::{Deciders, decide};
use super::wording;
use super::{Formats, Verdict, Witness, alias, close_writer, open, policy};
use crate::{Contract, EventDescriptor};
use serde_json::Value;

/// Places of a payload that are told in answer to one question.
const PLACES_MAX: usize = 20;

/// Everything that speaks against `current` in the place of `released`; both are of one event type and version.
///
/// With `event`, a finding names the place in its source.
#[must_use]
pub fn check(released: &Contract, current: &Contract, event: Option<&EventDescriptor>) -> Vec<Finding> {
    check_with(released, current, event, &Deciders::OURS)
}

pub(super) fn check_with(
    released: &Contract,
    current: &Contract,
    event: Option<&EventDescriptor>,
    deciders: &Deciders,
) -> Vec<Finding> {
    if released == current {
        return Vec::new();
    }
    let reads = diff::changes(&released.reads, &current.reads);
    let mut writes = diff::changes(&released.writes, &current.writes);
    // An `Option` is always written, and yet nobody calls it required.
    for change in &mut writes {
        let optional = Change { path: change.path.clone(), kind: ChangeKind::Added { required: false } };
        if matches!(change.kind, ChangeKind::Added { .. }) && reads.contains(&optional) {
            *change = optional;
        }
    }
    let gate = Gate { deciders, released, current, event, reads, writes };
    let mut findings = gate.questions();
    findings.extend(policy::check(&gate, &findings));
    findings
}

/// Two contracts, and what changed between them.
pub(super) struct Gate<'a> {
    deciders: &'a Deciders,
    pub(super) released: &'a Contract,
    pub(super) current: &'a Contract,
    pub(super) event: Option<&'a EventDescriptor>,
    pub(super) reads: Vec<Change>,
    pub(super) writes: Vec<Change>,
}

impl Gate<'_> {
    fn questions(&self) -> Vec<Finding> {
        let (old, new) = (self.released, self.current);
        let mut findings = self.ask(
            FindingId::ReaderRefusesReleased,
            &old.writes,
            &reader_of(new, &old.writes),
            &self.reads,
        );
        let is_refused = !findings.is_empty();
        let old_reads = reader_of(old, &new.writes);
        findings.extend(self.ask(FindingId::ReleasedReaderRefuses, &new.writes, &old_reads, &self.writes));
        // Whatever the old writer wrote the old reader took, so this would only repeat a break that is known.
        if !is_refused {
            // Names that mean more now are another matter.
            let taken = open::opened(old.reads.clone(), &old.open, &new.reads);
            let new_reads = reader_of(new, &old.reads);
            findings.extend(self.ask(FindingId::ReaderNarrowed, &taken, &new_reads, &self.reads));
        }
        findings
    }

    /// A finding for each place of a payload that is refused: one of them must not hide the others, least of all when it
    /// is waived.
    fn ask(&self, id: FindingId, writer: &Value, reader: &Value, changes: &[Change]) -> Vec<Finding> {
        let writer = close_writer(writer);
        let mut reader = reader.clone();
        let mut findings = Vec::new();
        while findings.len() < PLACES_MAX {
            let witness = match decide(&writer, &reader, Formats::Asserted, self.deciders) {
                Verdict::Holds => break,
                Verdict::Breaks(witness) => witness,
                Verdict::NotProven(reason) => {
                    let evidence = Evidence::Undecided(reason);
                    findings.push(self.answer(FindingId::NotProven, evidence, String::new(), &[], changes));
                    break;
                }
            };
            let pointer = witness.pointer.clone();
            let path = self.cause_of(place_in(&writer, path_of(&pointer)), changes);
            let rest = loosen(&reader, &path).filter(|_| findings.len() + 1 < PLACES_MAX);
            let witness = self.borne_out(id, witness, &writer, &reader);
            // The last one stands for everything that may be behind it.
            let about = if rest.is_some() { path.as_slice() } else { &[] };
            findings.push(self.answer(id, Evidence::Refused(witness), pointer, about, changes));
            match rest {
                Some(rest) => reader = rest,
                None => break,
            }
        }
        findings
    }

    /// The witness as the type bears it out, where it is at hand.
    fn borne_out(&self, id: FindingId, witness: Witness, writer: &Value, reader: &Value) -> Witness {
        let side = if id == FindingId::ReleasedReaderRefuses { Side::Writer } else { Side::Reader };
        match self.event {
            Some(event) => real::borne_out(event, side, witness, writer, reader),
            None => witness,
        }
    }

    /// The outermost change around the refused place, or the place itself: an enum that is told apart in another way is
    /// refused at every variant, and is one change.
    fn cause_of(&self, refused: Vec<String>, changes: &[Change]) -> Vec<String> {
        let around = changes
            .iter()
            .filter(|change| change.path.len() < refused.len() && is_near(&change.path, &refused));
        around.map(|change| change.path.clone()).min_by_key(Vec::len).unwrap_or(refused)
    }

    /// A finding about the changes at `path`.
    fn answer(
        &self,
        id: FindingId,
        evidence: Evidence,
        pointer: String,
        path: &[String],
        changes: &[Change],
    ) -> Finding {
        let mut near: Vec<&Change> = changes.iter().filter(|change| is_near(&change.path, path)).collect();
        if near.is_empty() {
            near =
                self.reads.iter().chain(&self.writes).filter(|change| is_near(&change.path, path)).collect();
        }
        // First what explains this payload: a value that is there is refused for its type, not for being required.
        if let Evidence::Refused(witness) = &evidence {
            let is_there = witness.payload.pointer(&pointer).is_some();
            near.sort_by_key(|change| change.kind.is_presence() == is_there);
        }
        near.extend(near.first().and_then(|change| self.under_another_name(change)));
        self.finding(id, &near, pointer, evidence)
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

/// The JSON Schema of what the type of `contract` really reads of what `writer` writes: with open enums, and with the
/// aliases that are in question.
#[must_use]
pub fn reader_of(contract: &Contract, writer: &Value) -> Value {
    open::opened(alias::aliased(contract, writer), &contract.open, &Value::Bool(true))
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

/// The refused place, or the map around it, where `writer` can write any name: each would be refused like it.
fn place_in(writer: &Value, mut refused: Vec<String>) -> Vec<String> {
    let Some((name, around)) = refused.split_last() else { return refused };
    let place: String = around.iter().map(|part| format!("/{}", alias::escaped(part))).collect();
    let names = alias::names_at(writer, &place);
    if names.contains(&None) && !names.contains(&Some(name.as_str())) {
        refused.pop();
    }
    refused
}

/// Whether a change at `change` may be what a payload is refused for at `refused`.
pub(super) fn is_near(change: &[String], refused: &[String]) -> bool {
    change.iter().zip(refused).all(|(left, right)| left == right || left == "*")
}

#[cfg(test)]
mod tests;
