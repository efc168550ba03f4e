//! What is said about each kind of finding at length: the page `docs/findings.md`, and its parts for a terminal.

use super::FindingId;

/// The command that writes the page.
#[cfg(test)]
const COMMAND: &str = "cargo xtask schema-check --explain all > docs/findings.md";

const INTRODUCTION: &str = "\
# What the schema check finds

Each finding of `cargo xtask schema-check` has an id that stays the same from release to release. A *breaking*, *not
proven* or *stale* finding fails the check; a *warning* does not. `cargo xtask schema-check --explain ID` prints one of
the sections below.

This page is printed by `cargo xtask schema-check --explain all`.

| id | weight | what it says |
|---|---|---|
";

/// The whole page.
pub(crate) fn page() -> String {
    let row = |id: &FindingId| {
        let (name, weight) = (id.as_str(), id.severity().as_str());
        format!("| [`{name}`](#{name}) | {weight} | {} |\n", id.title())
    };
    let rows: String = FindingId::ALL.iter().map(row).collect();
    let sections: String = FindingId::ALL.iter().map(|&id| format!("\n## {}", section(id))).collect();
    format!("{INTRODUCTION}{rows}{sections}")
}

/// Everything about one kind.
pub(crate) fn section(id: FindingId) -> String {
    let title = id.title();
    let (first, rest) = title.split_at(title.chars().next().map_or(0, char::len_utf8));
    format!(
        "{}\n\n{}{rest} ({}).\n\n{}",
        id.as_str(),
        first.to_uppercase(),
        id.severity().as_str(),
        id.explanation()
    )
}

/// A line for each kind.
pub(crate) fn list() -> String {
    let width = FindingId::ALL.iter().map(|id| id.as_str().len()).max().unwrap_or_default();
    let line = |id: &FindingId| format!("{:width$}  {}\n", id.as_str(), id.title());
    FindingId::ALL.iter().map(line).collect()
}

/// The kind whose name is nearest to `name`, if any is near.
pub(crate) fn nearest(name: &str) -> Option<FindingId> {
    let distance = |id: &FindingId| strsim::levenshtein(&name.to_lowercase(), id.as_str());
    let nearest = FindingId::ALL.iter().copied().min_by_key(distance)?;
    // A third of the letters may be wrong; beyond that the guess would help nobody.
    (distance(&nearest) <= nearest.as_str().len() / 3).then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_committed_page_is_up_to_date() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/findings.md");
        let committed = std::fs::read_to_string(path).unwrap_or_default();
        assert!(committed == page(), "docs/findings.md is stale; run `{COMMAND}`");
    }

    #[test]
    fn a_slip_of_the_pen_finds_the_kind_that_was_meant() {
        assert_eq!(nearest("field-remvoed"), Some(FindingId::FieldRemoved));
        assert_eq!(nearest("Reader_Refuses_Released"), Some(FindingId::ReaderRefusesReleased));
        assert_eq!(nearest("nonsense"), None);
        assert_eq!(nearest(""), None);
    }
}
