//! A report as commands of GitHub Actions, which show each finding at its line of a pull request.
//!
//! GitHub shows ten errors and ten warnings a step; all of them stand in the log of the job.

use super::details::paragraph;
use super::{Outcome, Report};
use crate::compat::{Finding, Severity};
use crate::waiver::Waived;

pub(super) fn render(outcome: &Outcome) -> String {
    match outcome {
        Ok(report) => checked(report),
        Err(error) => {
            format!("::error title={}::{}\n", property("schema-check could not run"), message(error))
        }
    }
}

fn checked(report: &Report) -> String {
    let findings = report.findings.iter().map(annotation);
    let annotations: String = findings.chain(report.waived.iter().map(notice)).collect();
    format!("{}\n{annotations}{}\n", one_line(&report.comparison()), one_line(&report.summary()))
}

fn annotation(finding: &Finding) -> String {
    let severity = finding.id.severity();
    let command = if severity == Severity::Warning { "warning" } else { "error" };
    at_its_line(command, severity.as_str(), finding, &paragraph(finding))
}

fn notice(waived: &Waived) -> String {
    let text = format!("{}\nwaived: {}", paragraph(&waived.finding), waived.sentence());
    at_its_line("notice", "waived", &waived.finding, &text)
}

fn at_its_line(command: &str, head: &str, finding: &Finding, text: &str) -> String {
    let place = finding.location.as_ref();
    let place = place.map(|place| format!("file={},line={},", property(&place.file), place.line));
    let title = property(&format!("{head}: {}", finding.id.as_str()));
    format!("::{command} {}title={title}::{}\n", place.unwrap_or_default(), message(text))
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
