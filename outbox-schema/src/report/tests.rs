//! Each form of a report holds what its readers expect, also of names and payloads that were made to spoil it.

use super::*;
use crate::compat::{Evidence, FindingId, Location, Witness};
use crate::waiver::Waiver;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion, escape};
use serde_json::{Value, json};

/// What Markdown, HTML, XML, GitHub, a terminal or a table gives a meaning to.
const NASTY: &str =
    "a|b `c` <img src=x> </details> @team #1 ::error::x %0A,\u{1b}[31m\u{0}\u{7} ``` & \"q\" ]]>\r\n| é 🦀";

fn finding(id: FindingId, evidence: Evidence) -> Finding {
    Finding {
        id,
        event_type: "orders.placed".to_owned(),
        event_version: 1,
        what: "field `lines[].sku` was removed".to_owned(),
        evidence,
        pointer: "/lines/0/sku".to_owned(),
        location: Some(Location { file: "events/src/my file.rs".to_owned(), line: 12 }),
        fix: "bring `lines[].sku` back".to_owned(),
    }
}

fn refused() -> Finding {
    let payload = json!({ "lines": [{ "sku": NASTY }], "eventVersion": 1, "eventType": "orders.placed" });
    let error = format!("{NASTY} is no number");
    let witness = Witness { payload, error, pointer: "/lines/0/sku".to_owned() };
    let finding = finding(FindingId::ReleasedReaderRefuses, Evidence::Refused(witness));
    Finding { what: format!("`{NASTY}` changed its type"), ..finding }
}

/// A report with every kind of evidence, a finding that is nowhere, and an event that is fine.
fn report() -> Report {
    let nowhere = finding(FindingId::VersionRemoved, Evidence::Dropped(json!({ "sku": NASTY })));
    let nowhere = Finding { location: None, pointer: String::new(), event_version: 3, ..nowhere };
    Report {
        root: PathBuf::from("/repository"),
        versions: 2,
        events: [1, 2, 3].map(|version| ("orders.placed".to_owned(), version)).to_vec(),
        compared: Compared::Baseline { name: "v1.0.0 (0123456789)".to_owned() },
        findings: vec![
            refused(),
            nowhere,
            finding(FindingId::NotProven, Evidence::Undecided(NASTY.to_owned())),
            finding(FindingId::DefaultChanged, Evidence::Contracts),
        ],
        waived: Vec::new(),
        to_waive: String::new(),
    }
}

/// The same, with one finding that somebody answers for.
fn with_a_waiver() -> Outcome {
    let waived = finding(FindingId::TopicChanged, Evidence::Contracts);
    let waiver = Waiver {
        fingerprint: crate::waiver::fingerprint(&waived),
        reason: format!("asked everyone {NASTY}"),
        owner: "ada@example.com".to_owned(),
        expires: time::macros::date!(2027 - 01 - 31),
        line: 1,
    };
    let waived = vec![Waived { finding: waived, waiver }];
    Ok(Report { waived, to_waive: format!("# {NASTY}\n[[waiver]]\n"), findings: Vec::new(), ..report() })
}

/// A check that found something, one with a waiver, one that passed without a baseline, and one that could not run.
fn outcomes() -> [Outcome; 4] {
    let nothing = Compared::Nothing { reason: "no release tag is reachable".to_owned() };
    let passed = Report { compared: nothing, findings: Vec::new(), ..report() };
    [Ok(report()), with_a_waiver(), Ok(passed), Err(format!("can't read the contract: {NASTY}"))]
}

fn parsed(format: Format, outcome: &Outcome) -> Value {
    serde_json::from_str(&format.render(outcome, Colour::Off)).unwrap()
}

#[track_caller]
fn holds(schema: &str, document: &Value) {
    let schema: Value = serde_json::from_str(schema).unwrap();
    let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}\n{document:#}");
}

#[test]
fn json_is_what_its_schema_says() {
    let schema = include_str!("../../../docs/schema-check-report.schema.json");
    for outcome in outcomes() {
        holds(schema, &parsed(Format::Json, &outcome));
    }
    let report = parsed(Format::Json, &Ok(report()));
    assert_eq!(report["outcome"], "failed");
    assert_eq!(report["counts"], json!({ "breaking": 2, "not-proven": 1, "stale": 0, "warning": 1 }));
    let first = &report["findings"][0];
    assert_eq!(first["evidence"]["payload"]["lines"][0]["sku"], NASTY);
    assert_eq!(first["location"], json!({ "file": "events/src/my file.rs", "line": 12 }));
    assert_eq!(report["findings"][1]["location"], Value::Null);
    // The schema can say no.
    let schema: Value = serde_json::from_str(schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for (member, value) in [("outcome", json!("error")), ("format", json!(2)), ("findings", Value::Null)] {
        let mut wrong = report.clone();
        wrong[member] = value;
        assert!(!validator.is_valid(&wrong), "{member}");
    }
}

#[test]
fn sarif_has_only_what_the_standard_knows() {
    for outcome in outcomes() {
        holds(include_str!("tests/sarif_subset.schema.json"), &parsed(Format::Sarif, &outcome));
    }
    let log = parsed(Format::Sarif, &Ok(report()));
    let run = &log["runs"][0];
    for result in run["results"].as_array().unwrap() {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
    }
    let place = |at: usize| run["results"][at]["locations"][0]["physicalLocation"].clone();
    let source = json!({ "uri": "events/src/my%20file.rs", "uriBaseId": "%SRCROOT%" });
    assert_eq!(place(0), json!({ "artifactLocation": source, "region": { "startLine": 12 } }));
    assert_eq!(place(1)["artifactLocation"]["uri"], "schemas/orders.placed/v3.json");
    let levels: Vec<&Value> = (0..4).map(|at| &run["results"][at]["level"]).collect();
    assert_eq!(levels, ["error", "error", "error", "warning"]);
}

#[test]
fn sarif_of_a_check_that_could_not_run_does_not_say_that_all_is_mended() {
    let log = parsed(Format::Sarif, &Err("no such tag".to_owned()));
    assert_eq!(log["runs"][0].get("results"), None);
    let invocation = &log["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    assert_eq!(invocation["toolExecutionNotifications"][0]["message"]["text"], "no such tag");
}

/// One element of an XML document, with the text right inside of it.
#[derive(Debug, Default)]
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    text: String,
}

impl Element {
    fn of(start: &BytesStart<'_>) -> Self {
        let attributes = start.attributes().map(|attribute| {
            let attribute = attribute.unwrap();
            let value = attribute.normalized_value(XmlVersion::Explicit1_0).unwrap();
            (attribute.key.as_ref().to_owned(), value.into_owned())
        });
        Self { name: start.name().as_ref().to_owned(), attributes: attributes.collect(), text: String::new() }
    }

    #[track_caller]
    fn attribute(&self, name: &str) -> &str {
        &self.attributes.iter().find(|(key, _)| key == name).unwrap().1
    }
}

/// The elements of an XML document, in the order in which they start.
fn elements(xml: &str) -> Vec<Element> {
    let mut reader = Reader::from_str(xml);
    let mut elements: Vec<Element> = Vec::new();
    let mut open = Vec::new();
    loop {
        match reader.read_event().unwrap() {
            Event::Start(start) => {
                open.push(elements.len());
                elements.push(Element::of(&start));
            }
            Event::Empty(start) => elements.push(Element::of(&start)),
            Event::End(_) => drop(open.pop().unwrap()),
            Event::Text(text) if !open.is_empty() => {
                elements[*open.last().unwrap()].text.push_str(&text.xml10_content());
            }
            Event::GeneralRef(reference) => {
                let name = reference.xml10_content();
                let text = escape::unescape(&format!("&{name};")).unwrap().into_owned();
                elements[*open.last().unwrap()].text.push_str(&text);
            }
            Event::Eof => break,
            _ => {}
        }
    }
    assert!(open.is_empty());
    elements
}

#[test]
fn junit_has_a_case_for_each_event_version() {
    let elements = elements(&Format::Junit.render(&Ok(report()), Colour::Off));
    let names: Vec<&str> = elements.iter().map(|element| element.name.as_str()).collect();
    let expected =
        ["testsuites", "testsuite", "testcase", "failure", "system-out", "testcase", "testcase", "failure"];
    assert_eq!(names, expected);
    for suite in &elements[..2] {
        assert_eq!(["tests", "failures", "errors"].map(|name| suite.attribute(name)), ["3", "2", "0"]);
    }
    assert_eq!(elements[2].attribute("name"), "orders.placed version 1");
    let failure = &elements[3];
    assert_eq!(failure.attribute("type"), "released-reader-refuses");
    assert!(failure.attribute("message").ends_with("changed its type (and 1 more)"));
    let text = &failure.text;
    assert!(
        text.contains("events/src/my file.rs:12") && text.contains("not proven: orders.placed"),
        "{text}"
    );
    assert!(text.contains("<img src=x> </details>") && text.contains("]]>") && text.contains('🦀'), "{text}");
    assert!(!text.contains(['\u{0}', '\u{1b}']), "no XML document may have these");
    assert!(elements[4].text.starts_with("warning: orders.placed version 1"));
}

#[test]
fn junit_tells_that_the_check_could_not_run() {
    let elements = elements(&Format::Junit.render(&Err("no such tag".to_owned()), Colour::Off));
    let error = elements.last().unwrap();
    assert_eq!((error.name.as_str(), error.text.as_str()), ("error", "no such tag"));
    assert_eq!(error.attribute("type"), "could-not-run");
    assert_eq!(elements[0].attribute("errors"), "1");
}

#[test]
fn each_finding_is_one_command_of_github() {
    let text = Format::Github.render(&Ok(report()), Colour::Off);
    let commands: Vec<&str> = text.lines().filter(|line| line.starts_with("::")).collect();
    assert_eq!(
        text.lines().count(),
        commands.len() + 2,
        "the comparison, the summary and nothing else:\n{text}"
    );
    let heads: Vec<&str> = commands.iter().map(|line| line[2..].split("::").next().unwrap()).collect();
    assert_eq!(
        heads,
        [
            "error file=events/src/my file.rs,line=12,title=breaking%3A released-reader-refuses",
            "error title=breaking%3A version-removed",
            "error file=events/src/my file.rs,line=12,title=not proven%3A not-proven",
            "warning file=events/src/my file.rs,line=12,title=warning%3A default-changed",
        ]
    );
    assert!(commands[0].contains("%250A,") && commands[0].contains("%0Afix: bring"), "{}", commands[0]);
    assert!(!text.contains('\u{1b}'), "{text:?}");
    let error = Format::Github.render(&Err("line one\nline two".to_owned()), Colour::Off);
    assert_eq!(error, "::error title=schema-check could not run::line one%0Aline two\n");
}

#[test]
fn nothing_in_markdown_is_markup_but_our_own() {
    let page = Format::Markdown.render(&Ok(report()), Colour::Off);
    // Blocks are code, whatever is in them.
    let mut outside = String::new();
    let mut fence: Option<String> = None;
    for line in page.lines() {
        let ticks: String = line.chars().take_while(|letter| *letter == '`').collect();
        match &fence {
            Some(open) if line == open => fence = None,
            None if ticks.len() >= 3 => fence = Some(ticks),
            None => outside.push_str(&format!("{line}\n")),
            Some(_) => {}
        }
    }
    assert_eq!(fence, None, "every block ends:\n{page}");
    assert!(
        !outside.contains("<img") && !outside.contains("@team") && !outside.contains('\u{1b}'),
        "{outside}"
    );
    let count = |part: &str| outside.matches(part).count();
    assert_eq!((count("<details"), count("</details>")), (4, 4), "{outside}");
    for row in outside.lines().filter(|line| line.starts_with('|')) {
        assert_eq!(row.matches('|').count(), 5, "{row}");
    }
    assert!(outside.contains("| <code>events/src/my file.rs:12</code> |"), "{outside}");
}

#[test]
fn markdown_keeps_to_the_length_of_a_comment_and_counts_what_it_leaves_out() {
    for (findings, payload) in [(2_000, 10), (60, 3_000), (3, 200_000)] {
        let long = || finding(FindingId::FieldRemoved, Evidence::Dropped(json!("é".repeat(payload))));
        let findings: Vec<Finding> = (0..findings).map(|_| long()).collect();
        let count = findings.len();
        let page = Format::Markdown.render(&Ok(Report { findings, ..report() }), Colour::Off);
        assert!(page.len() <= 65_536, "{} bytes", page.len());
        let left_out = |what: &str| {
            let line = page.lines().find(|line| line.contains(&format!("more {what}")));
            line.map_or(0, |line| line.split(' ').next().unwrap().parse().unwrap())
        };
        let (rows, blocks) = (page.matches("| breaking |").count(), page.matches("<details").count());
        assert_eq!(rows + left_out("row"), count);
        assert_eq!(blocks + left_out("payload"), count);
        assert!(rows > 0);
    }
}

#[test]
fn text_is_coloured_only_where_it_may_be_and_steers_no_terminal() {
    let plain = Format::Text.render(&Ok(report()), Colour::Off);
    assert!(plain.chars().all(|letter| letter == '\n' || !letter.is_control()), "{plain:?}");
    assert!(plain.contains("\\u{1b}[31m"), "what was there is still to be seen: {plain}");
    let coloured = Format::Text.render(&Ok(report()), Colour::On);
    assert_eq!(coloured.matches('\u{1b}').count(), 2 * report().findings.len());
    assert!(plain.starts_with("compared the catalog (2 versions of events) with v1.0.0 (0123456789)\n"));
    assert!(plain.ends_with("\nfailed: 2 breaking, 1 not proven, 1 warning\n"));
    assert!(plain.contains("\n  pointer  /lines/0/sku\n"), "{plain}");
}

#[test]
fn every_form_tells_why_a_check_could_not_run() {
    for format in Format::value_variants() {
        let text = format.render(&Err("the tag has no contracts".to_owned()), Colour::Off);
        assert!(text.contains("the tag has no contracts"), "{format:?}: {text}");
    }
}

#[test]
fn every_form_tells_who_waived_what_until_when_and_why() {
    for format in Format::value_variants() {
        let text = format.render(&with_a_waiver(), Colour::Off);
        for part in ["topic-changed", "ada", "2027-01-31", "asked everyone"] {
            assert!(text.contains(part), "{format:?} lacks `{part}`: {text}");
        }
    }
    let text = Format::Text.render(&with_a_waiver(), Colour::Off);
    assert!(text.contains("\n[[waiver]]\n") && text.ends_with("\npassed: 1 waived\n"), "{text}");
    assert!(text.chars().all(|letter| letter == '\n' || !letter.is_control()), "{text:?}");
    let sarif = parsed(Format::Sarif, &with_a_waiver());
    assert_eq!(sarif["runs"][0]["results"][0]["suppressions"][0]["kind"], "external");
}
