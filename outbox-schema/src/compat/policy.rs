//! What breaks consumers though every payload is read: fields that vanish in silence, formats, topic, key and order.

use super::diff::{Change, ChangeKind};
use super::finding::{Evidence, Finding, FindingId};
use super::gate::Gate;
use super::generate;
use crate::Contract;
use crate::contract::ordering_word;

/// What the policy finds beside the findings of the three questions.
pub(super) fn check(gate: &Gate<'_>, known: &[Finding]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let covered = |change: &Change| {
        let pointer = pointer_of(change);
        known
            .iter()
            .any(|finding| finding.pointer == pointer || finding.pointer.starts_with(&format!("{pointer}/")))
    };
    let is_new = |change: &&Change| !gate.writes.contains(change);
    for change in gate.writes.iter().chain(gate.reads.iter().filter(is_new)) {
        let id = match change.kind {
            ChangeKind::Removed => FindingId::FieldRemoved,
            ChangeKind::Format { .. } => FindingId::FormatChanged,
            ChangeKind::Default { .. } => FindingId::DefaultChanged,
            _ => continue,
        };
        if covered(change) {
            continue;
        }
        let evidence = match id {
            FindingId::FieldRemoved => generate::example(&gate.released.writes).map(Evidence::Dropped),
            _ => None,
        };
        let evidence = evidence.unwrap_or(Evidence::Contracts);
        let mut together = vec![change];
        // Removed here and added there is most often a new name for one thing.
        let sibling = gate.writes.iter().find(|other| is_added_beside(other, change));
        together.extend(sibling.filter(|_| id == FindingId::FieldRemoved));
        findings.push(gate.finding(id, &together, pointer_of(change), evidence));
    }
    findings.extend(aliases(gate));
    findings.extend(declaration(gate));
    findings
}

fn is_added_beside(other: &Change, removed: &Change) -> bool {
    let parent = |change: &Change| change.path.split_last().map(|(_, parent)| parent.to_vec());
    matches!(other.kind, ChangeKind::Added { .. }) && parent(other) == parent(removed)
}

/// Names under which the released reader found a field and the new one does not; no schema knows them.
fn aliases(gate: &Gate<'_>) -> Vec<Finding> {
    let id = FindingId::AliasRemoved;
    let fields = gate.current.reads["properties"].as_object();
    let is_read = |name: &String| {
        fields.is_some_and(|fields| fields.contains_key(name))
            || gate.current.aliases.values().any(|names| names.contains(name))
    };
    let released =
        gate.released.aliases.iter().flat_map(|(field, names)| names.iter().map(move |name| (field, name)));
    let removed = released.filter(|(_, name)| !is_read(name));
    removed
        .map(|(field, name)| {
            let finding = gate.finding(id, &[], format!("/{field}"), Evidence::Contracts);
            Finding {
                what: format!("field `{field}` is no longer read as `{name}`"),
                fix: format!("put `#[serde(alias = \"{name}\")]` back on `{field}`"),
                ..finding
            }
        })
        .collect()
}

/// What is declared beside the fields.
fn declaration(gate: &Gate<'_>) -> Vec<Finding> {
    let (old, new) = (gate.released, gate.current);
    let orders = [ordering_word(old.ordering), ordering_word(new.ordering)];
    let changed = [
        (FindingId::TopicChanged, "the topic", &*old.topic, &*new.topic),
        (FindingId::KeyChanged, "the partition key", &*old.key, &*new.key),
        (FindingId::OrderingChanged, "the ordering", orders[0], orders[1]),
    ];
    let changed = changed.into_iter().filter(|(_, _, old, new)| old != new);
    changed
        .map(|(id, name, old, new)| {
            let finding = gate.finding(id, &[], String::new(), Evidence::Contracts);
            Finding { what: format!("{name} changed from `{old}` to `{new}`"), ..finding }
        })
        .collect()
}

/// A released version that the code no longer declares.
pub(crate) fn version_removed(released: &Contract) -> Finding {
    let id = FindingId::VersionRemoved;
    let (event, version) = (&released.event_type, released.event_version);
    Finding {
        id,
        event_type: event.clone(),
        event_version: version,
        what: format!("version {version} of `{event}` is no longer declared"),
        evidence: generate::example(&released.writes).map_or(Evidence::Contracts, Evidence::Dropped),
        pointer: String::new(),
        location: None,
        fix: format!(
            "bring the struct with `#[event(type = \"{event}\", version = {version}, …)]` back beside the newer one, \
             and name its crate in the xtask with `use … as _;`"
        ),
    }
}

fn pointer_of(change: &Change) -> String {
    change.path.iter().map(|part| format!("/{}", part.replace('~', "~0").replace('/', "~1"))).collect()
}
