//! What the gate says about one change.

mod id;
pub(crate) mod page;

pub use id::FindingId;

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
