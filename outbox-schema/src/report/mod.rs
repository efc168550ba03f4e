//! What a check found, for people and for machines.

pub(crate) mod text;

use crate::compat::{Finding, Severity};

/// The outcome of one check.
#[derive(Debug)]
pub(crate) struct Report {
    /// How many versions of events the code declares.
    pub(crate) versions: usize,
    pub(crate) compared: Compared,
    pub(crate) findings: Vec<Finding>,
}

/// What the catalog was compared with.
#[derive(Debug)]
pub(crate) enum Compared {
    /// The contracts of a release, or of what stands for one.
    Baseline {
        /// A tag, a commit or a folder, as people call it.
        name: String,
    },
    /// There is nothing to compare with, as this sentence says.
    Nothing { reason: String },
}

impl Report {
    /// Whether nothing stands against a release.
    pub(crate) fn passes(&self) -> bool {
        self.findings.iter().all(|finding| finding.id.severity() == Severity::Warning)
    }
}
