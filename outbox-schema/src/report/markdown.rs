//! A report as a comment on a pull request: a table of everything, then the payloads.
//!
//! Names and payloads come from the source and from JSON, and may hold whatever Markdown or HTML gives a meaning to.
//! Here they have none: see [`escaped`] and [`fenced`].

use super::details::{details, sentence};
use super::{Outcome, Report, page_of};
use crate::compat::{Finding, Severity};
use std::borrow::Cow;

/// GitHub takes a comment of 65,536 characters. Counted in bytes, which are never fewer.
const BYTES_MAX: usize = 65_536;

/// Room for the line that says what was left out.
const LEFT_OUT_BYTES: usize = 200;

/// What one payload, or one cell of the table, may take of it.
const BLOCK_BYTES_MAX: usize = 4_000;
const CELL_BYTES_MAX: usize = 400;

pub(super) fn render(outcome: &Outcome) -> String {
    match outcome {
        Ok(report) => checked(report),
        Err(error) => {
            format!("### Schema check: could not run\n\n{}\n", fenced("text", &cut(error, BLOCK_BYTES_MAX)))
        }
    }
}

fn checked(report: &Report) -> String {
    let (comparison, summary) = (report.comparison(), report.summary());
    let mut page =
        format!("### Schema check: {}\n\n{}.\n", escaped(&summary), sentence_case(&escaped(&comparison)));
    let told = report.findings.len() + report.waived.len();
    if told == 0 {
        return page;
    }
    page.push_str("\n| | event | what | where |\n|---|---|---|---|\n");
    let findings = report.findings.iter().map(|finding| row(finding, finding.id.severity().as_str(), ""));
    let waived = report.waived.iter().map(|one| row(&one.finding, "waived", &one.sentence()));
    let rows = append(&mut page, findings.chain(waived));
    left_out(&mut page, told - rows, "row");
    let blocks = append(&mut page, report.findings.iter().map(block));
    left_out(&mut page, report.findings.len() - blocks, "payload");
    page
}

/// Adds parts as long as there is room; how many there was room for.
fn append(page: &mut String, parts: impl Iterator<Item = String>) -> usize {
    // Twice: this may be the table, and what follows the blocks has to fit as well.
    let room = BYTES_MAX - 2 * LEFT_OUT_BYTES;
    parts.map_while(|part| (page.len() + part.len() <= room).then(|| page.push_str(&part))).count()
}

fn left_out(page: &mut String, count: usize, what: &str) {
    if count > 0 {
        let plural = if count == 1 { "" } else { "s" };
        page.push_str(&format!(
            "\n{count} more {what}{plural} left out for want of room; see the log of the check.\n"
        ));
    }
}

fn row(finding: &Finding, word: &str, waiver: &str) -> String {
    let id = finding.id.as_str();
    let place = finding.location.as_ref().map(|at| code(&format!("{}:{}", at.file, at.line)));
    let waiver = if waiver.is_empty() { String::new() } else { format!("; waived {waiver}") };
    format!(
        "| {word} | {} v{} | {} ([{id}]({})) | {} |\n",
        code(&finding.event_type),
        finding.event_version,
        escaped(&cut(&format!("{}{waiver}", finding.what), CELL_BYTES_MAX)),
        page_of(id),
        place.unwrap_or_default(),
    )
}

fn block(finding: &Finding) -> String {
    let open = if finding.id.severity() == Severity::Breaking { " open" } else { "" };
    let summary = escaped(&cut(&sentence(finding), CELL_BYTES_MAX));
    let mut text = format!("\n<details{open}><summary>{summary}</summary>\n");
    for (label, rest) in details(finding) {
        let rest = cut(&rest, BLOCK_BYTES_MAX);
        text.push_str(&match label {
            "payload" => format!("\n{}\n", fenced("json", &rest)),
            "reader" => format!("\n{label}:\n\n{}\n", fenced("text", &rest)),
            _ => format!("\n{label}: {}\n", escaped(&rest)),
        });
    }
    text.push_str("\n</details>\n");
    text
}

/// The text as text: nothing in it is markup, a mention or a reference, but what stands in backticks is code.
pub(super) fn escaped(text: &str) -> String {
    let mut parts = text.split('`').peekable();
    let mut result = String::new();
    let mut is_code = false;
    while let Some(part) = parts.next() {
        // A last backtick without a partner opens nothing.
        match (is_code, parts.peek()) {
            (true, Some(_)) => result.push_str(&code(part)),
            (true, None) => result.push_str(&format!("&#96;{}", plain(part))),
            (false, _) => result.push_str(&plain(part)),
        }
        is_code = !is_code;
    }
    result
}

/// A name or a value; GitHub looks for no mentions in it.
fn code(text: &str) -> String {
    format!("<code>{}</code>", entities(text))
}

/// With a break of no width behind what would call a person or link an issue.
fn plain(text: &str) -> String {
    let text = entities(text).replace("&#64;", "&#64;&#8203;").replace("&#35;", "&#35;&#8203;");
    text.replace("://", ":&#8203;//").replace("www.", "www&#8203;.")
}

/// Every character that Markdown or HTML gives a meaning to as an entity, every line break as a space.
fn entities(text: &str) -> String {
    let mut result = String::new();
    for letter in text.chars() {
        match letter {
            letter if letter.is_control() => result.push(' '),
            '!' | '"' | '#' | '$' | '&' | '\'' | '*' | '<' | '>' | '@' | '[' | '\\' | ']' | '_' | '`'
            | '{' | '|' | '}' | '~' => result.push_str(&format!("&#{};", u32::from(letter))),
            letter => result.push(letter),
        }
    }
    result
}

/// A block of code that nothing inside of it ends.
pub(super) fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}")
}

/// The text, or its beginning and how much is missing.
fn cut(text: &str, bytes_max: usize) -> Cow<'_, str> {
    if text.len() <= bytes_max {
        return Cow::Borrowed(text);
    }
    let end = text.floor_char_boundary(bytes_max);
    Cow::Owned(format!("{} … ({} more bytes)", &text[..end], text.len() - end))
}

fn sentence_case(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
