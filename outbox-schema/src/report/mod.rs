//! What a check found, for people and for machines.

pub(crate) mod text;

use crate::compat::{Finding, Severity};

/// The outcome of one check.
#[derive(Debug)]
pub(crate) struct Report {
    /// What was compared with what, a sentence each.
    pub(crate) notes: Vec<String>,
    pub(crate) findings: Vec<Finding>,
}

impl Report {
    /// Whether nothing stands against a release.
    pub(crate) fn passes(&self) -> bool {
        self.findings.iter().all(|finding| finding.id.severity() == Severity::Warning)
    }
}
