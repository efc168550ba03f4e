//! A report as JUnit XML: a test case for each event version.

use super::details::paragraph;
use super::{Outcome, Report};
use crate::compat::{Finding, Severity};
use crate::waiver::Waived;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use std::io;

const SUITE: &str = "schema-check";

type Xml = Writer<Vec<u8>>;

pub(super) fn render(outcome: &Outcome) -> String {
    let mut xml = Writer::new_with_indent(Vec::new(), b' ', 2);
    write(&mut xml, outcome).expect("a Vec takes any bytes");
    let text = String::from_utf8(xml.into_inner()).expect("only text was written");
    text + "\n"
}

fn write(xml: &mut Xml, outcome: &Outcome) -> io::Result<()> {
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let (cases, failures, errors) = match outcome {
        Ok(report) => (report.events.len(), report.events.iter().filter(|one| fails(report, one)).count(), 0),
        Err(_) => (1, 0, 1),
    };
    let counts = [("tests", cases), ("failures", failures), ("errors", errors)]
        .map(|(name, count)| (name, count.to_string()));
    let counts = || counts.iter().map(|(name, count)| (*name, count.as_str()));
    let suites = xml.create_element("testsuites").with_attributes(counts());
    suites.write_inner_content(|xml| {
        let suite = xml.create_element("testsuite").with_attribute(("name", SUITE)).with_attributes(counts());
        suite.write_inner_content(|xml| match outcome {
            Ok(report) => report.events.iter().try_for_each(|event| case(xml, report, event)),
            Err(error) => could_not_run(xml, error),
        })?;
        Ok(())
    })?;
    Ok(())
}

fn could_not_run(xml: &mut Xml, error: &str) -> io::Result<()> {
    let case = xml.create_element("testcase").with_attributes([("classname", SUITE), ("name", SUITE)]);
    case.write_inner_content(|xml| {
        let element = xml.create_element("error").with_attributes([
            ("type", "could-not-run"),
            ("message", &*allowed(error.lines().next().unwrap_or_default())),
        ]);
        element.write_text_content(BytesText::new(&allowed(error)))?;
        Ok(())
    })?;
    Ok(())
}

fn case(xml: &mut Xml, report: &Report, event: &(String, u32)) -> io::Result<()> {
    let name = allowed(&format!("{} version {}", event.0, event.1));
    let class = allowed(&event.0);
    let case = xml.create_element("testcase").with_attributes([("classname", &*class), ("name", &*name)]);
    let (failing, warnings): (Vec<&Finding>, Vec<&Finding>) =
        findings_of(report, event).partition(is_failing);
    let mut told = Vec::new();
    if !warnings.is_empty() {
        told.push(blocks(&warnings));
    }
    let own = |one: &&Waived| one.finding.event_type == event.0 && one.finding.event_version == event.1;
    let waived = report.waived.iter().filter(own);
    told.extend(waived.map(|one| {
        let (finding, id) = (&one.finding, one.finding.id.as_str());
        format!("waived {}\n{}\nid: {id}", one.sentence(), paragraph(finding))
    }));
    if failing.is_empty() && told.is_empty() {
        case.write_empty()?;
        return Ok(());
    }
    case.write_inner_content(|xml| {
        // Many readers show only the first failure of a case, so there is one for all its findings.
        if let Some(first) = failing.first() {
            let more =
                if failing.len() > 1 { format!(" (and {} more)", failing.len() - 1) } else { String::new() };
            let failure = xml.create_element("failure").with_attributes([
                ("type", first.id.as_str()),
                ("message", &*allowed(&format!("{}{more}", first.what))),
            ]);
            failure.write_text_content(BytesText::new(&allowed(&blocks(&failing))))?;
        }
        if !told.is_empty() {
            let output = xml.create_element("system-out");
            output.write_text_content(BytesText::new(&allowed(&told.join("\n\n"))))?;
        }
        Ok(())
    })?;
    Ok(())
}

fn findings_of<'a>(report: &'a Report, event: &(String, u32)) -> impl Iterator<Item = &'a Finding> {
    report.findings.iter().filter(move |one| one.event_type == event.0 && one.event_version == event.1)
}

fn fails(report: &Report, event: &(String, u32)) -> bool {
    findings_of(report, event).any(|finding| is_failing(&finding))
}

fn is_failing(finding: &&Finding) -> bool {
    finding.id.severity() != Severity::Warning
}

fn blocks(findings: &[&Finding]) -> String {
    let block = |finding: &&Finding| {
        let place = finding.location.as_ref().map(|at| format!("\nat: {}:{}", at.file, at.line));
        let (severity, id) = (finding.id.severity().as_str(), finding.id.as_str());
        format!("{severity}: {}{}\nid: {id}", paragraph(finding), place.unwrap_or_default())
    };
    findings.iter().map(block).collect::<Vec<_>>().join("\n\n")
}

/// The text without the characters that no XML document may have, not even escaped.
fn allowed(text: &str) -> String {
    let is_allowed = |letter: char| matches!(letter, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..);
    text.chars().map(|letter| if is_allowed(letter) { letter } else { '\u{fffd}' }).collect()
}
