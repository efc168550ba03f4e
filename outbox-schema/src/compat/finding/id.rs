//! The kinds of findings: one entry here, and one text in `explain/` that says more. Nothing else names them all.

use super::Severity;

/// Declares the kinds from one table, so that none is without its name, weight and text.
macro_rules! finding_ids {
    ($($variant:ident { name: $name:literal, severity: $severity:ident, title: $title:literal, whom: $whom:literal, })*) => {
        /// The kinds of findings, each with a stable name; the page `docs/findings.md` explains them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum FindingId {
            $(#[doc = concat!("`", $name, "`: ", $title, ".")] $variant,)*
        }

        impl FindingId {
            /// Every kind.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The stable name.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// How much the finding weighs.
            #[must_use]
            pub const fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity,)* }
            }

            /// What it is, in a few words.
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)* }
            }

            /// Whom it breaks and how, in one sentence; empty where nobody breaks.
            #[must_use]
            pub const fn whom(self) -> &'static str {
                match self { $(Self::$variant => $whom,)* }
            }

            /// Why it breaks them, an example and the fix, as Markdown.
            #[must_use]
            pub const fn explanation(self) -> &'static str {
                match self { $(Self::$variant => include_str!(concat!("explain/", $name, ".md")),)* }
            }
        }
    };
}

finding_ids! {
    ReaderRefusesReleased {
        name: "reader-refuses-released",
        severity: Breaking,
        title: "the new code can't read events that are already written",
        whom: "events that are already written (in the log, on the broker, among the dead letters) can't be read any more",
    }
    ReleasedReaderRefuses {
        name: "released-reader-refuses",
        severity: Breaking,
        title: "released consumers can't read what the new code writes",
        whom: "consumers that are not upgraded yet refuse what the new code writes",
    }
    ReaderNarrowed {
        name: "reader-narrowed",
        severity: Breaking,
        title: "the new code refuses payloads that the released code took",
        whom: "payloads that released readers took are refused, such as those of earlier releases and other writers",
    }
    FieldRemoved {
        name: "field-removed",
        severity: Breaking,
        title: "a field is gone, and nobody is told",
        whom: "readers that use the field get nothing any more, and no error tells them",
    }
    ReservedNameReused {
        name: "reserved-name-reused",
        severity: Breaking,
        title: "a removed name comes back with another meaning",
        whom: "events of earlier releases hold something else under that name, and their consumers expect it",
    }
    AliasRemoved {
        name: "alias-removed",
        severity: Breaking,
        title: "a field is no longer read under one of its names",
        whom: "payloads with that name, which released readers took, lose the field or are refused",
    }
    FormatChanged {
        name: "format-changed",
        severity: Breaking,
        title: "a value means something else under the same JSON type",
        whom: "readers take the value for what it was, and lose or misread it without an error",
    }
    DefaultChanged {
        name: "default-changed",
        severity: Warning,
        title: "an absent field is read as another value than before",
        whom: "",
    }
    TopicChanged {
        name: "topic-changed",
        severity: Breaking,
        title: "a released version moved to another topic",
        whom: "consumers listen on the old topic and get no event any more",
    }
    KeyChanged {
        name: "key-changed",
        severity: Breaking,
        title: "the partition key of a released version comes from somewhere else",
        whom: "events of one key land in other partitions, and overtake those written before",
    }
    OrderingChanged {
        name: "ordering-changed",
        severity: Breaking,
        title: "events of one key gained or lost their order",
        whom: "consumers that rely on the order of a key lose it, or wait where they did not",
    }
    VersionRemoved {
        name: "version-removed",
        severity: Breaking,
        title: "a released version is no longer declared",
        whom: "events of that version still travel, and nothing here can read or check them",
    }
    VersionRetired {
        name: "version-retired",
        severity: Warning,
        title: "a version is gone after the day on which it was retired",
        whom: "",
    }
    RetiredEarlier {
        name: "retired-earlier",
        severity: Warning,
        title: "a version is retired earlier than was announced",
        whom: "",
    }
    BehaviourRefusesReleased {
        name: "behaviour-refuses-released",
        severity: Breaking,
        title: "the type refuses released payloads that its own schema allows",
        whom: "payloads that the released code read are refused, and no schema tells anybody",
    }
    BehaviourWritesUnreadable {
        name: "behaviour-writes-unreadable",
        severity: Breaking,
        title: "the type writes what released readers refuse and its own schema does not say",
        whom: "consumers that are not upgraded yet refuse what the new code really writes",
    }
    SampleRefused {
        name: "sample-refused",
        severity: Breaking,
        title: "a recorded payload can't be read any more",
        whom: "payloads like the recorded one (in the log, on the broker, among the dead letters) can't be read any more",
    }
    BehaviourRefusesDeclared {
        name: "behaviour-refuses-declared",
        severity: NotProven,
        title: "the type refuses everything that its schema allows in one place",
        whom: "",
    }
    BehaviourWritesUndeclared {
        name: "behaviour-writes-undeclared",
        severity: NotProven,
        title: "the type writes what its own schema does not say",
        whom: "",
    }
    NotProven {
        name: "not-proven",
        severity: NotProven,
        title: "whether the change breaks anyone could not be decided",
        whom: "",
    }
    ContractStale {
        name: "contract-stale",
        severity: Stale,
        title: "the committed contract is not the one of the code",
        whom: "",
    }
    ContractMissing {
        name: "contract-missing",
        severity: Stale,
        title: "an event of the code has no committed contract",
        whom: "",
    }
    WaiverExpired {
        name: "waiver-expired",
        severity: Stale,
        title: "the day until which somebody answered for a change is over",
        whom: "",
    }
    WaiverUnused {
        name: "waiver-unused",
        severity: Stale,
        title: "a waiver is left that no change needs",
        whom: "",
    }
    WaiverWithoutReason {
        name: "waiver-without-reason",
        severity: Stale,
        title: "a waiver does not say why",
        whom: "",
    }
}

impl FindingId {
    /// The kind of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|id| id.as_str() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn every_kind_has_a_kebab_case_name_of_its_own_and_a_text_of_the_common_form() {
        let names: BTreeSet<&str> = FindingId::ALL.iter().map(|id| id.as_str()).collect();
        assert_eq!(names.len(), FindingId::ALL.len());
        for id in FindingId::ALL {
            let (name, text) = (id.as_str(), id.explanation());
            assert!(
                name.split('-').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase()))
            );
            assert_eq!(FindingId::named(name), Some(*id));
            let parts = ["\n\nBefore:\n\n```rust\n", "\n```\n\nAfter:\n\n```rust\n", "\n```\n\nFix: "];
            let at: Option<Vec<usize>> = parts.iter().map(|part| text.find(part)).collect();
            let at = at.unwrap_or_else(|| panic!("explain/{name}.md needs, in this order: {parts:?}"));
            assert!(at[0] > 100 && at.is_sorted(), "explain/{name}.md: why, then before, after and fix");
            assert!(
                text.ends_with('\n') && !text.ends_with("\n\n"),
                "explain/{name}.md ends with one line break"
            );
            assert!(
                text.lines().all(|line| line.chars().count() <= 120),
                "explain/{name}.md has a line over 120"
            );
            assert!(!id.title().ends_with('.') && !id.whom().ends_with('.'), "{name}: no full stop");
        }
    }

    #[test]
    fn no_text_is_left_of_a_kind_that_is_gone() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/compat/finding/explain");
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            assert!(FindingId::named(&name).is_some(), "no finding is called `{name}`; remove its text");
        }
    }
}
