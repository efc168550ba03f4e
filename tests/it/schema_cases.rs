//! The engine against cases with audited answers: never a wrong answer, and no more open ones than recorded.
//!
//! The large suites lie in the folder that `OUTBOX_DATA` names, by default `shared` beside the checkout. The small
//! suite in this repository always runs.

use outbox::compat::{Formats, Severity, Verdict, check, close_writer, compare};
use outbox::{Contract, OrderingMode};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

/// The suites, each with the number of questions that were open when this was last recorded.
const SUITES: &[(&str, usize)] = &[
    ("schemars", 0),
    ("ibm-jsonsubschema", 0),
    ("karapace", 0),
    ("atlassian-json-schema-diff", 0),
    ("jsts-derived", 0),
];

#[derive(Default)]
struct Tally {
    right: usize,
    false_passes: Vec<String>,
    false_breaks: Vec<String>,
    open: Vec<String>,
}

impl Tally {
    fn count(&mut self, name: String, verdict: &Verdict, truth: bool) {
        match (verdict, truth) {
            (Verdict::Holds, true) | (Verdict::Breaks(_), false) => self.right += 1,
            (Verdict::Holds, false) => self.false_passes.push(name),
            (Verdict::Breaks(_), true) => self.false_breaks.push(name),
            (Verdict::NotProven(_), _) => self.open.push(name),
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [self.right, self.false_passes.len(), self.false_breaks.len(), self.open.len()];
        counts.iter().try_for_each(|count| write!(f, "{count:>13}"))
    }
}

#[test]
fn no_case_is_answered_wrongly_and_no_more_are_left_open_than_recorded() {
    let mut suites = vec![(own_cases(), "own", 0)];
    match shared_folder() {
        Some(folder) => {
            suites.extend(
                SUITES.iter().map(|&(name, open)| (folder.join(format!("{name}.jsonl")), name, open)),
            );
        }
        None => {
            println!("the shared cases are not here; set OUTBOX_DATA to the folder that has `schema-cases`")
        }
    }
    println!("{:<28}{:>13}{:>13}{:>13}{:>13}", "suite", "right", "false pass", "false break", "undecided");
    let mut wrong = Vec::new();
    for (path, name, open_max) in suites {
        let tally = judge(&path);
        println!("{name:<28}{tally}");
        wrong.extend(tally.false_passes.iter().map(|case| format!("{name}: false pass: {case}")));
        wrong.extend(tally.false_breaks.iter().map(|case| format!("{name}: false break: {case}")));
        if tally.open.len() > open_max {
            wrong.push(format!("{name}: {} open, recorded {open_max}: {:?}", tally.open.len(), tally.open));
        }
        assert!(tally.right > 0, "{name}: no case has an answer");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Changes that only serde knows to be harmless: a reader with `#[serde(other)]` takes any new variant, and no
/// schema says so.
const UNKNOWN_TO_SCHEMAS: &[&str] = &["enum_other_add_variant", "enum_int_other_add_variant"];

#[test]
fn the_gate_refuses_what_breaks_anyone_and_nothing_else() {
    let shared = shared_folder().map(|folder| folder.join("schemars.jsonl"));
    let mut wrong = Vec::new();
    let mut judged = 0;
    for path in [Some(own_cases()), shared].into_iter().flatten() {
        for case in cases(&path).iter().filter(|case| case.get("additive_gate").is_some()) {
            let contract = |version: &str| Contract {
                event_type: "case".to_owned(),
                event_version: 1,
                topic: "cases".to_owned(),
                ordering: OrderingMode::Unordered,
                key: "none".to_owned(),
                aliases: BTreeMap::new(),
                nested_aliases: BTreeMap::new(),
                refuses: BTreeSet::new(),
                retired: None,
                open: BTreeSet::new(),
                reserved: BTreeMap::new(),
                writes: case[version].clone(),
                reads: case[format!("{version}_de")].clone(),
            };
            let findings = check(&contract("old"), &contract("new"), None);
            let fails = findings.iter().any(|finding| finding.id.severity() != Severity::Warning);
            let name = case["name"].as_str().unwrap();
            judged += 1;
            if fails != (case["additive_gate"] == "fail") && !UNKNOWN_TO_SCHEMAS.contains(&name) {
                let found: Vec<_> = findings
                    .iter()
                    .map(|finding| format!("{}: {}", finding.id.as_str(), finding.what))
                    .collect();
                wrong.push(format!("{name}: expected {}, found {found:?}", case["additive_gate"]));
            }
        }
    }
    assert!(judged > 3, "only {judged} cases have an answer");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn cases(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn own_cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("it/schema_cases.jsonl")
}

fn shared_folder() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let folder = std::env::var_os("OUTBOX_DATA").map_or_else(beside, PathBuf::from).join("schema-cases");
    folder.is_dir().then_some(folder)
}

/// Asks both questions of every case. A case with `old_de` and `new_de` is a pair of contracts: what is written is
/// closed, what is read is another schema, and formats decide.
fn judge(path: &Path) -> Tally {
    let mut tally = Tally::default();
    for case in cases(path) {
        let is_contract = case.get("old_de").is_some();
        for (question, writer, reader) in [("backward", "old", "new"), ("forward", "new", "old")] {
            let truth = if is_contract { &case[question] } else { &case[format!("{question}_truth")] };
            let Some(truth) = truth.as_bool() else { continue };
            let verdict = if is_contract {
                compare(&close_writer(&case[writer]), &case[format!("{reader}_de")], Formats::Asserted)
            } else {
                compare(&case[writer], &case[reader], Formats::Described)
            };
            tally.count(format!("{} {question}", case["name"]), &verdict, truth);
        }
    }
    tally
}
