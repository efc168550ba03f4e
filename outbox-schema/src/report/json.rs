//! A report for programs. `docs/schema-check-report.schema.json` describes it.
//!
//! Within one format members are only added, and so are values of `id` and of `evidence.kind`.

use super::{Compared, Outcome, Report, SEVERITIES, page_of};
use crate::compat::{Evidence, Finding, Severity};
use crate::waiver::{Waived, fingerprint};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Rises when a member changes its meaning or goes.
const FORMAT: u32 = 1;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    format: u32,
    tool: Value,
    outcome: &'static str,
    error: Option<&'a str>,
    baseline: Option<&'a str>,
    baseline_absent: Option<&'a str>,
    events: Vec<Event<'a>>,
    counts: Map<String, Value>,
    findings: Vec<Entry<'a>>,
    waived: Vec<Entry<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Event<'a> {
    event_type: &'a str,
    event_version: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    id: &'static str,
    fingerprint: String,
    severity: &'static str,
    #[serde(flatten)]
    event: Event<'a>,
    what: &'a str,
    whom: Option<&'static str>,
    pointer: &'a str,
    location: Option<Value>,
    evidence: Value,
    fix: &'a str,
    help: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    waiver: Option<Value>,
}

pub(super) fn render(outcome: &Outcome) -> String {
    let tool = json!({ "name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION") });
    let empty = Document {
        format: FORMAT,
        tool,
        outcome: "error",
        error: None,
        baseline: None,
        baseline_absent: None,
        events: Vec::new(),
        counts: Map::new(),
        findings: Vec::new(),
        waived: Vec::new(),
    };
    let document = match outcome {
        Ok(report) => checked(report, empty),
        Err(error) => Document { error: Some(error), ..empty },
    };
    serde_json::to_string_pretty(&document).expect("a report is always written") + "\n"
}

fn checked<'a>(report: &'a Report, empty: Document<'a>) -> Document<'a> {
    let (baseline, baseline_absent) = match &report.compared {
        Compared::Baseline { name } => (Some(name.as_str()), None),
        Compared::Nothing { reason } => (None, Some(reason.as_str())),
    };
    let events = report.events.iter();
    Document {
        outcome: if report.passes() { "passed" } else { "failed" },
        baseline,
        baseline_absent,
        events: events
            .map(|(event_type, event_version)| Event { event_type, event_version: *event_version })
            .collect(),
        counts: SEVERITIES
            .iter()
            .map(|&severity| (word(severity).to_owned(), report.count(severity).into()))
            .collect(),
        findings: report.findings.iter().map(entry).collect(),
        waived: report.waived.iter().map(waived).collect(),
        ..empty
    }
}

fn entry(finding: &Finding) -> Entry<'_> {
    let whom = finding.id.whom();
    let location = finding.location.as_ref();
    Entry {
        id: finding.id.as_str(),
        fingerprint: fingerprint(finding),
        severity: word(finding.id.severity()),
        event: Event { event_type: &finding.event_type, event_version: finding.event_version },
        what: &finding.what,
        whom: (!whom.is_empty()).then_some(whom),
        pointer: &finding.pointer,
        location: location.map(|place| json!({ "file": place.file, "line": place.line })),
        evidence: evidence(&finding.evidence),
        fix: &finding.fix,
        help: page_of(finding.id.as_str()),
        waiver: None,
    }
}

fn waived(Waived { finding, waiver }: &Waived) -> Entry<'_> {
    let (reason, owner, expires) = (&waiver.reason, &waiver.owner, waiver.expires.to_string());
    let waiver = json!({ "reason": reason, "owner": owner, "expires": expires });
    Entry { waiver: Some(waiver), ..entry(finding) }
}

fn evidence(evidence: &Evidence) -> Value {
    match evidence {
        Evidence::Refused(witness) => {
            json!({ "kind": "refused", "payload": witness.payload, "error": witness.error })
        }
        Evidence::Dropped(payload) => json!({ "kind": "dropped", "payload": payload }),
        Evidence::Undecided(reason) => json!({ "kind": "undecided", "reason": reason }),
        Evidence::Contracts => json!({ "kind": "contracts" }),
    }
}

/// The severity as a name for programs.
const fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Breaking => "breaking",
        Severity::NotProven => "not-proven",
        Severity::Stale => "stale",
        Severity::Warning => "warning",
    }
}
