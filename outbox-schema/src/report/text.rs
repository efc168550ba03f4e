//! A report as text for a terminal or a log.

use super::{Compared, Report};
use crate::compat::{Evidence, Finding, Severity};
use crate::contract::AsItTravels;
use serde_json::Value;
use std::fmt::Write;

/// Whether to colour the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    On,
    Off,
}

/// The whole report.
pub(crate) fn render(report: &Report, colour: Colour) -> String {
    let mut text = String::new();
    line(&mut text, "", &compared(report));
    let mut findings: Vec<&Finding> = report.findings.iter().collect();
    findings.sort_by_key(|finding| finding.id.severity());
    for finding in findings {
        text.push('\n');
        render_finding(&mut text, finding, colour);
    }
    text.push('\n');
    line(&mut text, "", &summary(report));
    text
}

/// What was compared with what.
fn compared(report: &Report) -> String {
    match &report.compared {
        Compared::Baseline { name } => {
            let plural = if report.versions == 1 { "" } else { "s" };
            format!("compared the catalog ({} version{plural} of events) with {name}", report.versions)
        }
        Compared::Nothing { reason } => format!(
            "{reason}: checked only whether the contracts are up to date; name a baseline with `--baseline`"
        ),
    }
}

fn render_finding(text: &mut String, finding: &Finding, colour: Colour) {
    let severity = finding.id.severity();
    let head = paint(severity.as_str(), severity, colour);
    let (event, version) = (&finding.event_type, finding.event_version);
    line(text, "", &format!("{head}: {event} version {version}: {} [{}]", finding.what, finding.id.as_str()));
    if let Some(location) = &finding.location {
        line(text, "  at       ", &format!("{}:{}", location.file, location.line));
    }
    if !finding.id.whom().is_empty() {
        line(text, "  breaks   ", finding.id.whom());
    }
    match &finding.evidence {
        Evidence::Refused(witness) => {
            line(text, "  payload  ", &payload_text(&witness.payload));
            line(text, "  reader   ", &witness.error);
        }
        Evidence::Dropped(payload) => {
            line(text, "  payload  ", &payload_text(payload));
            line(text, "  reader   ", "takes it, and what was there is lost");
        }
        Evidence::Undecided(reason) => line(text, "  reason   ", reason),
        Evidence::Contracts => {}
    }
    if !finding.pointer.is_empty() {
        line(text, "  pointer  ", &finding.pointer);
    }
    line(text, "  fix      ", &finding.fix);
}

fn payload_text(payload: &Value) -> String {
    serde_json::to_string(&AsItTravels(payload)).expect("a JSON value is always written")
}

fn line(text: &mut String, label: &str, rest: &str) {
    writeln!(text, "{label}{rest}").expect("a String takes any text");
}

fn paint(word: &str, severity: Severity, colour: Colour) -> String {
    let code = match (colour, severity) {
        (Colour::Off, _) => return word.to_owned(),
        (Colour::On, Severity::Warning) => 33,
        (Colour::On, _) => 31,
    };
    format!("\u{1b}[1;{code}m{word}\u{1b}[0m")
}

fn summary(report: &Report) -> String {
    let severities = [Severity::Breaking, Severity::NotProven, Severity::Stale, Severity::Warning];
    let counts = severities.map(|severity| {
        let count = report.findings.iter().filter(|finding| finding.id.severity() == severity).count();
        (count, severity.as_str())
    });
    let named: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{count} {name}"))
        .collect();
    let outcome = if report.passes() { "passed" } else { "failed" };
    if named.is_empty() { outcome.to_owned() } else { format!("{outcome}: {}", named.join(", ")) }
}
