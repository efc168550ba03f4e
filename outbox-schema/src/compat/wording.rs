//! The sentences of a finding: what changed, and what to do.

use super::alias;
use super::diff::{self, Change, ChangeKind};
use super::finding::FindingId;
use crate::Contract;

/// What changed, in one line.
pub(super) fn what(changes: &[&Change]) -> String {
    let mut lines: Vec<String> = changes.iter().map(|change| sentence(change)).collect();
    lines.dedup();
    if lines.is_empty() { "the contract changed".to_owned() } else { lines.join("; ") }
}

/// Everything that changed from one contract to the other in what is written and read, a sentence each.
pub(crate) fn sentences(old: &Contract, new: &Contract) -> Vec<String> {
    let mut changes = diff::changes(&old.reads, &new.reads);
    // An `Option` is always written, and yet nobody calls it required.
    let is_told = |change: &Change| {
        changes.iter().any(|known| {
            known == change || known.path == change.path && matches!(known.kind, ChangeKind::Added { .. })
        })
    };
    let written = diff::changes(&old.writes, &new.writes);
    let more: Vec<Change> = written.into_iter().filter(|change| !is_told(change)).collect();
    changes.extend(more);
    let mut sentences: Vec<String> = changes.iter().map(sentence).collect();
    for (place, name, aliases) in alias::all(new) {
        let mut known = alias::all(old).filter(|(old, known, _)| *old == place && *known == name);
        let known = known.next().map(|(_, _, aliases)| aliases).unwrap_or_default();
        let called = alias::called(new, place, name);
        let more = aliases.iter().filter(|alias| !known.contains(alias));
        sentences.extend(more.map(|alias| format!("{called} is also read as `{alias}`")));
    }
    sentences
}

/// One change as a sentence, as people speak of a struct.
pub(crate) fn sentence(change: &Change) -> String {
    let name = name_of(&change.path);
    match &change.kind {
        ChangeKind::Added { required: true } => format!("field {name} was added and is required"),
        ChangeKind::Added { required: false } => format!("field {name} was added"),
        ChangeKind::Removed => format!("field {name} was removed"),
        ChangeKind::NowRequired => format!("field {name} is required now"),
        ChangeKind::NowOptional => format!("field {name} may be absent now"),
        ChangeKind::NowNull => format!("{name} may be null now"),
        ChangeKind::NeverNull => format!("{name} can't be null any more"),
        ChangeKind::Type { old, new } => format!("{name} changed its type from {old} to {new}"),
        ChangeKind::Format { old, new } => match (old.as_str(), new.as_str()) {
            ("none", new) => format!("{name} has the format {new} now"),
            (old, "none") => format!("{name} has no longer the format {old}"),
            (old, new) => format!("{name} changed its format from {old} to {new}"),
        },
        ChangeKind::ValuesAdded(values) => format!("{name} can now be {}", quoted(values)),
        ChangeKind::ValuesRemoved(values) => format!("{name} can no longer be {}", quoted(values)),
        ChangeKind::Default { old, new } => {
            format!("{name} is read as {new} where it is absent, which was {old}")
        }
        ChangeKind::Limits { old, new } => limits_text(&name, old, new),
        ChangeKind::Representation { old, new } => {
            format!("the variants of {name} are told apart by {new}, which was by {old}")
        }
    }
}

/// The limits of a value, as a range where they are one.
fn limits_text(name: &str, old: &str, new: &str) -> String {
    let range = |limits: &str| {
        let (high, low) = limits.strip_prefix("maximum ")?.split_once(", minimum ")?;
        (!low.contains(',')).then(|| format!("{low} to {high}"))
    };
    if let (Some(old), Some(new)) = (range(old), range(new)) {
        return format!("{name} takes {new}, which was {old}");
    }
    match (old, new) {
        (old, "") => format!("{name} is no longer limited to {old}"),
        ("", new) => format!("{name} is limited to {new} now"),
        (old, new) => format!("{name} is limited to {new}, which was {old}"),
    }
}

/// What to do about it.
pub(super) fn fix(id: FindingId, changes: &[&Change], version: u32) -> String {
    let beside = beside(version);
    match id {
        FindingId::NotProven => return format!("make the change in smaller steps; or {beside}"),
        FindingId::DefaultChanged => return "make sure that readers expect the new value".to_owned(),
        _ => {}
    }
    let removed = changes.iter().find(|change| change.kind == ChangeKind::Removed);
    let added = changes.iter().find(|change| matches!(change.kind, ChangeKind::Added { .. }));
    let renamed = removed.zip(added).map(|(removed, added)| {
        let (old, new) = (last(&removed.path), name_of(&added.path));
        format!("if it was renamed, keep its name on the wire: `#[serde(rename = \"{old}\")]` on {new}; otherwise ")
    });
    let Some(change) = changes.first() else { return beside };
    format!("{}{}; or {beside}", renamed.unwrap_or_default(), mended(id, change))
}

/// The way out that is always open.
pub(super) fn beside(version: u32) -> String {
    format!(
        "add version {} as a struct of its own and keep version {version} until nobody reads it",
        version.saturating_add(1)
    )
}

/// What to do about one change.
fn mended(id: FindingId, change: &Change) -> String {
    let name = name_of(&change.path);
    match &change.kind {
        ChangeKind::Added { .. } if id == FindingId::ReleasedReaderRefuses => {
            format!("leave {name} out, as released readers refuse it")
        }
        ChangeKind::Added { .. } | ChangeKind::NowRequired => {
            format!("make {name} an `Option`, or give it `#[serde(default)]`")
        }
        ChangeKind::NeverNull => format!("make {name} an `Option` again"),
        ChangeKind::NowNull => format!("keep {name} without `Option`, as readers rely on a value"),
        ChangeKind::Removed => format!("bring {name} back"),
        ChangeKind::NowOptional => format!("write {name} always, as readers rely on it"),
        ChangeKind::Type { .. } | ChangeKind::Format { .. } => {
            format!("change {name} back, and put the new type into an optional field of another name")
        }
        ChangeKind::ValuesAdded(_) => {
            format!("write the new value into an optional field of another name than {name}")
        }
        ChangeKind::ValuesRemoved(values) => {
            format!("let {name} be {} again, at least for readers", quoted(values))
        }
        ChangeKind::Default { .. } => format!("put the default of {name} back"),
        ChangeKind::Limits { .. } if id == FindingId::ReleasedReaderRefuses => {
            format!(
                "put the limits of {name} back, and put what is beyond into an optional field of another name"
            )
        }
        ChangeKind::Limits { .. } => format!("put the limits of {name} back"),
        ChangeKind::Representation { .. } => {
            format!("put the attributes of serde back on the enum of {name} (`tag`, `content`, `untagged`)")
        }
    }
}

fn last(path: &[String]) -> &str {
    path.last().map_or("", String::as_str)
}

/// `lines[].sku`, as a path of names.
pub(super) fn name_of(path: &[String]) -> String {
    if path.is_empty() {
        return "the payload".to_owned();
    }
    let mut name = String::new();
    for part in path {
        match part.as_str() {
            "*" => name.push_str("[]"),
            part if name.is_empty() => name.push_str(part),
            part => {
                name.push('.');
                name.push_str(part);
            }
        }
    }
    format!("`{name}`")
}

fn quoted(values: &[String]) -> String {
    values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(" or ")
}
