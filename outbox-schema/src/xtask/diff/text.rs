//! The words of a difference.

use super::{Change, Entry, Kind};
use std::fmt::Write;

/// Everything by event, and the text for the CHANGELOG.
pub(super) fn for_people(from: &str, to: &str, entries: &[Entry], changelog: &str) -> String {
    if entries.is_empty() {
        return format!("nothing changed from {from} to {to}\n");
    }
    let mut text = format!("from {from} to {to}\n");
    for Entry { event_type, event_version, kind } in entries {
        let said = match kind {
            Kind::Added(topic) => {
                writeln!(text, "\n{event_type} version {event_version}: new, on topic {topic}")
            }
            Kind::Removed => {
                writeln!(text, "\n{event_type} version {event_version}: removed [version-removed]")
            }
            Kind::Changed(changes) => {
                writeln!(
                    text,
                    "\n{event_type} version {event_version}: changed\n{}",
                    lines(changes).trim_end()
                )
            }
        };
        said.expect("a String takes any text");
    }
    text + "\nfor the CHANGELOG:\n\n" + changelog
}

fn lines(changes: &[Change]) -> String {
    let line = |change: &Change| match change.breaks.is_empty() {
        true => format!("  {}\n", change.what),
        false => format!("  breaking: {} [{}]\n", change.what, change.breaks.join(", ")),
    };
    changes.iter().map(line).collect()
}

/// Lists as keepachangelog.com has them; empty if nothing changed.
pub(super) fn changelog(entries: &[Entry]) -> String {
    let (mut added, mut changed, mut removed) = (String::new(), String::new(), String::new());
    for Entry { event_type, event_version, kind } in entries {
        let event = format!("`{event_type}` version {event_version}");
        match kind {
            Kind::Added(topic) => added.push_str(&format!("- Event {event}, on topic `{topic}`.\n")),
            Kind::Removed => removed.push_str(&format!("- **Breaking:** event {event}.\n")),
            Kind::Changed(changes) => changes.iter().for_each(|change| {
                let breaking = if change.breaks.is_empty() { "" } else { "**Breaking:** " };
                changed.push_str(&format!("- {breaking}{event}: {}.\n", change.what));
            }),
        }
    }
    let lists = [("Added", added), ("Changed", changed), ("Removed", removed)];
    let lists = lists.iter().filter(|(_, list)| !list.is_empty());
    lists.map(|(name, list)| format!("### {name}\n{list}")).collect::<Vec<_>>().join("\n")
}
