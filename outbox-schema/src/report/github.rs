//! A report as commands of GitHub Actions, which show each finding at its line of a pull request.
//!
//! GitHub shows ten errors and ten warnings a step; all of them stand in the log of the job.

use super::details::paragraph;
use super::{Outcome, Report};
use crate::compat::{Finding, Severity};

pub(super) fn render(outcome: &Outcome) -> String {
    match outcome {
        Ok(report) => checked(report),
        Err(error) => {
            format!("::error title={}::{}\n", property("schema-check could not run"), message(error))
        }
    }
}

fn checked(report: &Report) -> String {
    let annotations: String = report.findings.iter().map(annotation).collect();
    format!("{}\n{annotations}{}\n", one_line(&report.comparison()), one_line(&report.summary()))
}

fn annotation(finding: &Finding) -> String {
    let severity = finding.id.severity();
    let command = if severity == Severity::Warning { "warning" } else { "error" };
    let place = finding.location.as_ref();
    let place = place.map(|place| format!("file={},line={},", property(&place.file), place.line));
    let title = property(&format!("{}: {}", severity.as_str(), finding.id.as_str()));
    format!("::{command} {}title={title}::{}\n", place.unwrap_or_default(), message(&paragraph(finding)))
}

/// A text after the `::` of a command, which ends at the line break. Other control characters would steer a terminal.
fn message(text: &str) -> String {
    let text = text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    text.replace(|letter: char| letter.is_control(), "\u{fffd}")
}

/// The value of a property, which ends at a comma or a colon as well.
fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

/// A line that is no command, whatever it quotes.
fn one_line(text: &str) -> String {
    text.replace(['\r', '\n'], " ").replace("::", ": :")
}
