//! A report as SARIF 2.1.0, the form that code scanning of GitHub and others take.

use super::details::{details, paragraph, sentence};
use super::{Outcome, Report, page_of};
use crate::compat::{Finding, FindingId, Severity};
use crate::contract::file_name;
use crate::waiver::{Waived, fingerprint};
use serde_json::{Value, json};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The name under which readers of SARIF know the root of the checkout.
const ROOT: &str = "%SRCROOT%";

pub(super) fn render(outcome: &Outcome) -> String {
    let log = json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [run(outcome)] });
    serde_json::to_string_pretty(&log).expect("a JSON value is always written") + "\n"
}

fn run(outcome: &Outcome) -> Value {
    let driver = json!({
        "name": "outbox schema-check",
        "informationUri": env!("CARGO_PKG_REPOSITORY"),
        "version": env!("CARGO_PKG_VERSION"),
        "rules": FindingId::ALL.iter().copied().map(rule).collect::<Vec<_>>(),
    });
    let mut run = json!({ "tool": { "driver": driver }, "columnKind": "unicodeCodePoints" });
    match outcome {
        Ok(report) => {
            let findings = report.findings.iter().map(result);
            run["results"] = findings.chain(report.waived.iter().map(suppressed)).collect();
            run["invocations"] = json!([invocation(report)]);
        }
        // Without `results`: an empty list would say that every earlier finding is mended.
        Err(error) => {
            let notification = json!({ "level": "error", "message": { "text": error } });
            run["invocations"] = json!([{
                "executionSuccessful": false,
                "exitCode": 2,
                "toolExecutionNotifications": [notification],
            }]);
        }
    }
    run
}

fn invocation(report: &Report) -> Value {
    let comparison = json!({ "level": "note", "message": { "text": report.comparison() } });
    json!({
        "executionSuccessful": true,
        "exitCode": i32::from(!report.passes()),
        "toolExecutionNotifications": [comparison],
    })
}

fn rule(id: FindingId) -> Value {
    let whom = if id.whom().is_empty() { id.title() } else { id.whom() };
    json!({
        "id": id.as_str(),
        "shortDescription": { "text": id.title() },
        "fullDescription": { "text": whom },
        "help": { "text": id.explanation(), "markdown": id.explanation() },
        "helpUri": page_of(id.as_str()),
        "defaultConfiguration": { "level": level(id) },
        "properties": { "tags": ["compatibility"] },
    })
}

const fn level(id: FindingId) -> &'static str {
    match id.severity() {
        Severity::Breaking | Severity::NotProven | Severity::Stale => "error",
        Severity::Warning => "warning",
    }
}

fn result(finding: &Finding) -> Value {
    let event = format!("{} version {}", finding.event_type, finding.event_version);
    json!({
        "ruleId": finding.id.as_str(),
        "ruleIndex": FindingId::ALL.iter().position(|id| *id == finding.id),
        "level": level(finding.id),
        "partialFingerprints": fingerprints(finding),
        "message": { "text": paragraph(finding), "markdown": markdown(finding) },
        "locations": [{
            "physicalLocation": place(finding),
            "logicalLocations": [{ "fullyQualifiedName": format!("{event}{}", finding.pointer), "kind": "member" }],
        }],
        "properties": {
            "eventType": finding.event_type,
            "eventVersion": finding.event_version,
            "pointer": finding.pointer,
        },
    })
}

fn suppressed(waived: &Waived) -> Value {
    let mut result = result(&waived.finding);
    result["suppressions"] = json!([{ "kind": "external", "justification": waived.sentence() }]);
    result
}

/// One alert stays one however the lines move. GitHub goes by the first name alone, and would take the text of the line.
fn fingerprints(finding: &Finding) -> Value {
    let change = fingerprint(finding);
    json!({ "primaryLocationLineHash": change, "change/v1": change })
}

/// The line of the source; without one, the contract, as code scanning takes no finding that is nowhere.
fn place(finding: &Finding) -> Value {
    let (file, line) = match &finding.location {
        Some(location) => (location.file.clone(), location.line),
        None => (format!("schemas/{}", file_name(&finding.event_type, finding.event_version)), 1),
    };
    let uri = encoded(&file);
    let artifact = if uri.starts_with('/') {
        json!({ "uri": format!("file://{uri}") })
    } else {
        json!({ "uri": uri, "uriBaseId": ROOT })
    };
    json!({ "artifactLocation": artifact, "region": { "startLine": line } })
}

/// The path with every byte that a URI may not have percent-encoded.
fn encoded(path: &str) -> String {
    let keep = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    path.bytes()
        .map(|byte| if keep(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

fn markdown(finding: &Finding) -> String {
    use super::markdown::{escaped, fenced};
    let mut text = format!("{}\n", escaped(&sentence(finding)));
    for (label, rest) in details(finding) {
        match label {
            "payload" => text.push_str(&format!("\n{label}:\n\n{}\n", fenced("json", &rest))),
            _ => text.push_str(&format!("\n{label}: {}\n", escaped(&rest))),
        }
    }
    text
}
