//! What a check found, for people and for machines.

mod details;
mod github;
mod json;
mod junit;
mod markdown;
mod sarif;
mod text;

use crate::compat::{Finding, Severity};
use crate::waiver::Waived;
use clap::ValueEnum;
use std::path::PathBuf;

/// The outcome of one check, or why it could not run.
pub(crate) type Outcome = Result<Report, String>;

/// What one check found.
#[derive(Debug)]
pub(crate) struct Report {
    /// The folder that the files of all locations are relative to: the root of the repository.
    pub(crate) root: PathBuf,
    /// How many versions of events the code declares.
    pub(crate) versions: usize,
    /// Type and version of each event that was looked at, sorted: those of the code, and released ones that it lost.
    pub(crate) events: Vec<(String, u32)>,
    pub(crate) compared: Compared,
    /// The heaviest first.
    pub(crate) findings: Vec<Finding>,
    /// What would be found as well, if nobody answered for it.
    pub(crate) waived: Vec<Waived>,
    /// The blocks that would waive findings of this report; empty if none can be.
    pub(crate) to_waive: String,
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

    fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.id.severity() == severity).count()
    }

    /// What was compared with what, in one line.
    fn comparison(&self) -> String {
        match &self.compared {
            Compared::Baseline { name } => {
                let plural = if self.versions == 1 { "" } else { "s" };
                format!("compared the catalog ({} version{plural} of events) with {name}", self.versions)
            }
            Compared::Nothing { reason } => format!(
                "{reason}: checked only whether the contracts are up to date; name a baseline with `--baseline`"
            ),
        }
    }

    /// `passed` or `failed`, and how much of what was found.
    fn summary(&self) -> String {
        let counts = SEVERITIES.map(|severity| (self.count(severity), severity.as_str()));
        let named = counts.iter().filter(|(count, _)| *count > 0);
        let mut named: Vec<String> = named.map(|(count, name)| format!("{count} {name}")).collect();
        if !self.waived.is_empty() {
            named.push(format!("{} waived", self.waived.len()));
        }
        let outcome = if self.passes() { "passed" } else { "failed" };
        if named.is_empty() { outcome.to_owned() } else { format!("{outcome}: {}", named.join(", ")) }
    }
}

const SEVERITIES: [Severity; 4] =
    [Severity::Breaking, Severity::NotProven, Severity::Stale, Severity::Warning];

/// Where the page about each kind of finding is read.
fn page_of(id: &str) -> String {
    format!("{}/blob/main/docs/findings.md#{id}", env!("CARGO_PKG_REPOSITORY"))
}

/// Whether to colour a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    On,
    Off,
}

/// The forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For a terminal or a log
    Text,
    /// For programs; docs/schema-check-report.schema.json describes it
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// JUnit XML, a test case for each event version
    Junit,
    /// Annotations of GitHub Actions
    Github,
    /// For a comment on a pull request, or the summary of a GitHub job
    Markdown,
}

impl Format {
    /// The whole report in this form; colour is for text alone.
    pub(crate) fn render(self, outcome: &Outcome, colour: Colour) -> String {
        match self {
            Self::Text => text::render(outcome, colour),
            Self::Json => json::render(outcome),
            Self::Sarif => sarif::render(outcome),
            Self::Junit => junit::render(outcome),
            Self::Github => github::render(outcome),
            Self::Markdown => markdown::render(outcome),
        }
    }
}

#[cfg(test)]
mod tests;
