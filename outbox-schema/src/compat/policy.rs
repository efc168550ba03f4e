//! What breaks consumers though every payload is read: fields that vanish in silence, formats, topic, key and order.

use super::diff::{Change, ChangeKind};
use super::finding::{Evidence, Finding, FindingId};
use super::formats::{self, Formats};
use super::gate::{Gate, is_near, path_of, reader_of};
use super::normalise::normalise;
use super::wording::beside;
use super::{Witness, alias, generate, real, reserved, witness};
use crate::Contract;
use crate::contract::ordering_word;
use serde_json::Value;

/// What the policy finds beside the findings of the three questions.
pub(super) fn check(gate: &Gate<'_>, known: &[Finding]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let covered = |change: &Change| {
        let within = |path: &[String]| path.len() >= change.path.len() && is_near(&change.path, path);
        known.iter().any(|finding| within(&path_of(&finding.pointer)))
    };
    let is_new = |change: &&Change| !gate.writes.contains(change);
    for change in gate.writes.iter().chain(gate.reads.iter().filter(is_new)) {
        let id = match change.kind {
            ChangeKind::Removed => FindingId::FieldRemoved,
            ChangeKind::Format { .. } => FindingId::FormatChanged,
            ChangeKind::Default { .. } => FindingId::DefaultChanged,
            _ => continue,
        };
        if covered(change) || id == FindingId::FieldRemoved && is_renamed_for_readers(gate, change) {
            continue;
        }
        let dropped = || {
            let payload = generate::example(&gate.released.writes)?;
            let pointer = pointer_into(&payload, &change.path)?;
            // Refused for something else, it shows nothing of this.
            gate.event.is_none_or(|event| real::written(event, &payload).is_some()).then_some(())?;
            Some((Evidence::Dropped(payload), pointer))
        };
        let dropped = if id == FindingId::FieldRemoved { dropped() } else { None };
        let (evidence, pointer) = dropped.unwrap_or_else(|| (Evidence::Contracts, pointer_of(change)));
        let together: Vec<&Change> = std::iter::once(change).chain(gate.under_another_name(change)).collect();
        findings.push(gate.finding(id, &together, pointer, evidence));
    }
    findings.extend(aliases(gate));
    findings.extend(reserved::reused(gate));
    findings.extend(declaration(gate));
    findings.extend(retired_earlier(gate));
    findings
}

/// Names under which the released reader found a field or a variant and the new one does not; no schema knows them.
fn aliases(gate: &Gate<'_>) -> Vec<Finding> {
    let released = alias::all(gate.released);
    let released =
        released.flat_map(|(place, name, aliases)| aliases.iter().map(move |alias| (place, name, alias)));
    let removed =
        released.filter(|(place, _, alias)| alias::is_read(gate.current, place, alias) == Some(false));
    removed.map(|(place, name, alias)| alias_removed(gate, place, name, alias)).collect()
}

fn alias_removed(gate: &Gate<'_>, place: &str, name: &str, alias: &str) -> Finding {
    let of_field = alias::is_field(gate.released, place, name);
    let field = if of_field { format!("{place}/{}", escaped(name)) } else { place.to_owned() };
    let called = alias::called(gate.released, place, name);
    let evidence = under_alias(gate, place, name, alias);
    let pointer = evidence.as_ref().map_or(field, |(_, pointer)| pointer.clone());
    let finding = gate.finding(
        FindingId::AliasRemoved,
        &[],
        pointer,
        evidence.map_or(Evidence::Contracts, |(evidence, _)| evidence),
    );
    Finding {
        what: format!("{called} is no longer read as `{alias}`"),
        fix: format!("put `#[serde(alias = \"{alias}\")]` back on {}", called.trim_start_matches("field ")),
        ..finding
    }
}

/// A payload that the released reader took under the name `alias`, what the new one makes of it, and where.
fn under_alias(gate: &Gate<'_>, place: &str, name: &str, alias: &str) -> Option<(Evidence, String)> {
    let (payload, pointer) = alias::under(gate.released, place, name, alias)?;
    let reader = reader_of(gate.current, &gate.released.reads);
    let reader = formats::options(Formats::Asserted).build(&normalise(&reader).ok()?).ok()?;
    let evidence = match witness::refusal(&reader, &payload) {
        Some((error, _)) => Evidence::Refused(Witness { payload, error, pointer: pointer.clone() }),
        None => Evidence::Dropped(payload),
    };
    Some((evidence, pointer))
}

/// Whether a field that was only read goes on being read, under an alias.
fn is_renamed_for_readers(gate: &Gate<'_>, change: &Change) -> bool {
    let Some((name, around)) = change.path.split_last() else { return false };
    let place: String = around.iter().map(|part| format!("/{}", escaped(part))).collect();
    !gate.writes.contains(change) && alias::is_read(gate.current, &place, name) == Some(true)
}

/// What is declared beside the fields.
fn declaration(gate: &Gate<'_>) -> Vec<Finding> {
    let (old, new) = (gate.released, gate.current);
    let orders = [ordering_word(old.ordering), ordering_word(new.ordering)];
    let changed = [
        (FindingId::TopicChanged, "topic", &*old.topic, &*new.topic),
        (FindingId::KeyChanged, "partition key", &*old.key, &*new.key),
        (FindingId::OrderingChanged, "ordering", orders[0], orders[1]),
    ];
    // An order that comes or goes takes the key with it: that is one change.
    let is_own = |id: FindingId| id != FindingId::KeyChanged || orders[0] == orders[1];
    let changed = changed.into_iter().filter(|&(id, _, old, new)| old != new && is_own(id));
    changed
        .map(|(id, name, old, new)| {
            let finding = gate.finding(id, &[], String::new(), Evidence::Contracts);
            let key = new.strip_prefix("field ").filter(|_| id == FindingId::KeyChanged);
            Finding {
                what: format!("the {name} changed from `{old}` to `{new}`"),
                location: gate.locate(key, false),
                fix: format!("change the {name} back to `{old}`; or {}", beside(gate.current.event_version)),
                ..finding
            }
        })
        .collect()
}

/// A day of retirement that was announced and is moved up; readers have planned with it. One that is put off or taken back
/// harms nobody.
fn retired_earlier(gate: &Gate<'_>) -> Option<Finding> {
    let (old, new) = (gate.released.retired.as_ref()?, gate.current.retired.as_ref()?);
    let finding = gate.finding(FindingId::RetiredEarlier, &[], String::new(), Evidence::Contracts);
    (new < old).then(|| Finding {
        what: format!("this version is retired on {new}, and {old} was announced"),
        fix: format!("put `retired = \"{old}\"` back, unless every reader agreed"),
        ..finding
    })
}

/// A released version that the code no longer declares on the day `today`, as `2026-12-31`. It may go after the day that
/// the release itself announced.
pub(crate) fn version_removed(released: &Contract, today: &str) -> Finding {
    let (event, version) = (&released.event_type, released.event_version);
    let what = format!("version {version} of `{event}` is no longer declared");
    let back = format!(
        "bring the struct with `#[event(type = \"{event}\", version = {version}, …)]` back beside the newer one, \
         and name its crate in the xtask with `use … as _;`"
    );
    let (id, what, fix) = match released.retired.as_deref() {
        Some(last) if last < today => (
            FindingId::VersionRetired,
            format!("{what}; it was retired on {last}"),
            "delete its contract and its samples from the folder of schemas".to_owned(),
        ),
        Some(last) => (
            FindingId::VersionRemoved,
            format!("{what}, and it is to be kept through {last}, the day of its retirement"),
            format!("{back}; remove it after that day"),
        ),
        None => (
            FindingId::VersionRemoved,
            what,
            format!(
                "{back}; to let it go later, release it with `retired = \"…\"`, the last day it is needed"
            ),
        ),
    };
    let evidence = match id {
        FindingId::VersionRemoved => generate::example(&released.writes).map(Evidence::Dropped),
        _ => None,
    };
    Finding {
        id,
        event_type: event.clone(),
        event_version: version,
        what,
        evidence: evidence.unwrap_or(Evidence::Contracts),
        pointer: String::new(),
        location: None,
        fix,
    }
}

pub(super) fn pointer_of(change: &Change) -> String {
    change.path.iter().map(|part| format!("/{}", escaped(part))).collect()
}

/// Where the first value at `path` is in the payload; `None` if there is none.
fn pointer_into(payload: &Value, path: &[String]) -> Option<String> {
    let mut pointer = String::new();
    for part in path {
        let part = match payload.pointer(&pointer)? {
            Value::Array(_) if part == "*" => "0".to_owned(),
            Value::Object(members) if part == "*" => members.keys().next()?.clone(),
            _ => part.clone(),
        };
        pointer.push_str(&format!("/{}", escaped(&part)));
    }
    payload.pointer(&pointer).map(|_| pointer)
}

fn escaped(part: &str) -> String {
    part.replace('~', "~0").replace('/', "~1")
}
