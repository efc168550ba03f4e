//! What the gate says about one change.

use super::Witness;
use serde_json::Value;

/// One thing the gate found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// What kind of thing it is.
    pub id: FindingId,
    /// The event type.
    pub event_type: String,
    /// The event version.
    pub event_version: u32,
    /// What changed, in one sentence.
    pub what: String,
    /// Whom it breaks, in one sentence; empty where that needs no words.
    pub whom: &'static str,
    /// What shows it.
    pub evidence: Evidence,
    /// The JSON pointer into the payload; empty for the payload as a whole.
    pub pointer: String,
    /// Where in the Rust source the change is.
    pub location: Option<Location>,
    /// What to do about it.
    pub fix: String,
}

/// A place in the Rust source, as the compiler named it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The source file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// What shows that a finding is right.
#[derive(Debug, Clone, PartialEq)]
pub enum Evidence {
    /// A payload that one side writes and the other refuses.
    Refused(Witness),
    /// A payload of which the new reader silently drops a part.
    Dropped(Value),
    /// Why it could not be decided.
    Undecided(String),
    /// The contracts themselves.
    Contracts,
}

/// The kinds of findings, each with a stable name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FindingId {
    /// The new reader refuses a payload that a released version wrote.
    ReaderRefusesReleased,
    /// Released readers refuse a payload that the new code writes.
    ReleasedReaderRefuses,
    /// The new reader refuses a payload that the released reader took.
    ReaderNarrowed,
    /// A field that was written or read is no longer there.
    FieldRemoved,
    /// A field is no longer read under one of its names.
    AliasRemoved,
    /// A value has another format under the same type.
    FormatChanged,
    /// A field that is absent is read as another value than before.
    DefaultChanged,
    /// The event travels on another topic.
    TopicChanged,
    /// The partition key comes from somewhere else.
    KeyChanged,
    /// Events of one key keep, or no longer keep, their order.
    OrderingChanged,
    /// A released version is no longer declared.
    VersionRemoved,
    /// Whether the change breaks anyone could not be decided.
    NotProven,
    /// The committed contract is not the one of the code.
    ContractStale,
    /// The code has an event without a committed contract.
    ContractMissing,
}

impl FindingId {
    /// The stable name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReaderRefusesReleased => "reader-refuses-released",
            Self::ReleasedReaderRefuses => "released-reader-refuses",
            Self::ReaderNarrowed => "reader-narrowed",
            Self::FieldRemoved => "field-removed",
            Self::AliasRemoved => "alias-removed",
            Self::FormatChanged => "format-changed",
            Self::DefaultChanged => "default-changed",
            Self::TopicChanged => "topic-changed",
            Self::KeyChanged => "key-changed",
            Self::OrderingChanged => "ordering-changed",
            Self::VersionRemoved => "version-removed",
            Self::NotProven => "not-proven",
            Self::ContractStale => "contract-stale",
            Self::ContractMissing => "contract-missing",
        }
    }

    /// How much the finding weighs.
    #[must_use]
    pub const fn severity(self) -> Severity {
        match self {
            Self::DefaultChanged => Severity::Warning,
            Self::NotProven => Severity::NotProven,
            Self::ContractStale | Self::ContractMissing => Severity::Stale,
            _ => Severity::Breaking,
        }
    }
}

/// How much a finding weighs; everything but a warning fails the check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Someone breaks.
    Breaking,
    /// Whether someone breaks could not be decided.
    NotProven,
    /// The committed contracts are not those of the code.
    Stale,
    /// Worth a look, and no failure.
    Warning,
}

impl Severity {
    /// The word for people.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Breaking => "breaking",
            Self::NotProven => "not proven",
            Self::Stale => "stale",
            Self::Warning => "warning",
        }
    }
}
