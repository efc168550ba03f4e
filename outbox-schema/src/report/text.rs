//! A report as text for a terminal or a log.

use super::details::{details, sentence};
use super::{Colour, Outcome, Report};
use crate::compat::{Finding, Location, Severity};
use std::fmt::Write;
use std::path::Path;

/// The whole report.
pub(super) fn render(outcome: &Outcome, colour: Colour) -> String {
    match outcome {
        Ok(report) => checked(report, colour),
        Err(error) => format!("error: {error}\n"),
    }
}

fn checked(report: &Report, colour: Colour) -> String {
    let mut text = String::new();
    line(&mut text, &report.comparison());
    for finding in &report.findings {
        text.push('\n');
        let severity = finding.id.severity();
        let head = paint(severity.as_str(), severity, colour);
        render_finding(&mut text, &report.root, finding, &head, None);
    }
    for waived in &report.waived {
        text.push('\n');
        let head = paint("waived", Severity::Warning, colour);
        render_finding(&mut text, &report.root, &waived.finding, &head, Some(waived.sentence()));
    }
    if !report.to_waive.is_empty() {
        text.push_str(
            "\nto let this through all the same, and answer for it, put into schemas/waivers.toml:\n\n",
        );
        report.to_waive.lines().for_each(|one| line(&mut text, one));
    }
    text.push('\n');
    line(&mut text, &report.summary());
    text
}

fn render_finding(text: &mut String, root: &Path, finding: &Finding, head: &str, waiver: Option<String>) {
    text.push_str(head);
    line(text, &format!(": {} [{}]", sentence(finding), finding.id.as_str()));
    let place = finding.location.as_ref().map(|location| ("at", shown(root, location)));
    let waiver = waiver.map(|waiver| ("waived", waiver));
    for (label, rest) in place.into_iter().chain(details(finding)).chain(waiver) {
        line(text, &format!("  {label:9}{rest}"));
    }
}

/// The place as from the current folder, where it is below: a terminal opens that.
fn shown(root: &Path, location: &Location) -> String {
    let path = root.join(&location.file);
    let here = std::env::current_dir().unwrap_or_default();
    format!("{}:{}", path.strip_prefix(&here).unwrap_or(&path).display(), location.line)
}

/// Adds a line. A name or a value must not steer the terminal, so its control characters are spelled out.
fn line(text: &mut String, line: &str) {
    for letter in line.chars() {
        match letter.is_control() {
            true => write!(text, "{}", letter.escape_default()).expect("a String takes any text"),
            false => text.push(letter),
        }
    }
    text.push('\n');
}

fn paint(word: &str, severity: Severity, colour: Colour) -> String {
    let code = match (colour, severity) {
        (Colour::Off, _) => return word.to_owned(),
        (Colour::On, Severity::Warning) => 33,
        (Colour::On, _) => 31,
    };
    format!("\u{1b}[1;{code}m{word}\u{1b}[0m")
}
