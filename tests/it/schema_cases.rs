//! The engine against cases with audited answers: never a wrong answer, and no more open ones than recorded.
//!
//! The large suites lie in the folder that `OUTBOX_DATA` names, by default `shared` beside the checkout. The small
//! suite in this repository always runs.

use outbox::compat::{Finding, Formats, Severity, Verdict, check, close_writer, compare};
use outbox::{Contract, OrderingMode};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

/// What was last recorded of a suite. No question is answered wrongly; these figures get no worse either.
struct Suite {
    name: &'static str,
    /// Questions that are answered rightly, and those that are left open.
    right: usize,
    open: usize,
    /// Cases of which the gate as a whole, with its policy, says rightly whether they may be released.
    gate_right: usize,
    /// Those of which it says it wrongly.
    gate_wrong: &'static [&'static str],
}

const fn suite(name: &'static str, right: usize) -> Suite {
    Suite { name, right, open: 0, gate_right: 0, gate_wrong: &[] }
}

const SUITES: &[Suite] = &[
    Suite { gate_right: 6, ..suite("own", 38) },
    Suite {
        gate_right: 153,
        // Only serde knows that they are harmless: a reader with `#[serde(other)]` takes any new variant, and no schema
        // says so. Where the type is at hand, it is tried.
        gate_wrong: &["enum_other_add_variant", "enum_int_other_add_variant"],
        ..suite("schemars", 310)
    },
    suite("ibm-jsonsubschema", 554),
    suite("karapace", 380),
    suite("atlassian-json-schema-diff", 312),
    suite("jsts-derived", 966),
];

#[derive(Default)]
struct Tally {
    right: usize,
    false_passes: Vec<String>,
    false_breaks: Vec<String>,
    open: Vec<String>,
    gate_right: usize,
    gate_wrong: Vec<String>,
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

    /// What is worse than recorded.
    fn worse_than(&self, suite: &Suite) -> Vec<String> {
        let Suite { name, right, open, gate_right, gate_wrong } = suite;
        let mut worse: Vec<String> = Vec::new();
        worse.extend(self.false_passes.iter().map(|case| format!("{name}: false pass: {case}")));
        worse.extend(self.false_breaks.iter().map(|case| format!("{name}: false break: {case}")));
        let is_known =
            |case: &&String| gate_wrong.iter().any(|known| case.starts_with(&format!("{known}: ")));
        let wrong = self.gate_wrong.iter().filter(|case| !is_known(case));
        worse.extend(wrong.map(|case| format!("{name}: wrong gate: {case}")));
        if self.open.len() > *open {
            worse.push(format!("{name}: {} are open, recorded {open}: {:?}", self.open.len(), self.open));
        }
        for (what, count, recorded) in
            [("questions", self.right, right), ("verdicts of the gate", self.gate_right, gate_right)]
        {
            if count < *recorded {
                worse.push(format!("{name}: {count} {what} are right, recorded {recorded}"));
            }
        }
        worse
    }
}

const COLUMNS: [&str; 6] = ["right", "false pass", "false break", "undecided", "gate right", "gate wrong"];

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let questions = [self.right, self.false_passes.len(), self.false_breaks.len(), self.open.len()];
        let gate = [self.gate_right, self.gate_wrong.len()];
        questions.iter().chain(&gate).try_for_each(|count| write!(f, "{count:>13}"))
    }
}

#[test]
fn no_case_is_answered_wrongly_and_no_figure_is_worse_than_recorded() {
    let folder = shared_folder();
    if folder.is_none() {
        println!("the shared cases are not here; set OUTBOX_DATA to the folder that has `schema-cases`");
    }
    print!("{:<28}", "suite");
    println!("{}", COLUMNS.map(|column| format!("{column:>13}")).concat());
    let mut worse = Vec::new();
    for suite in SUITES {
        let shared = folder.as_ref().map(|folder| folder.join(format!("{}.jsonl", suite.name)));
        let Some(path) = (if suite.name == "own" { Some(own_cases()) } else { shared }) else { continue };
        let tally = judge(&path);
        println!("{:<28}{tally}", suite.name);
        worse.extend(tally.worse_than(suite));
    }
    assert!(worse.is_empty(), "{}", worse.join("\n"));
}

#[test]
fn a_figure_that_gets_worse_is_told() {
    let suite = Suite { gate_right: 2, gate_wrong: &["known"], ..suite("own", 2) };
    let good = || Tally {
        right: 2,
        gate_right: 2,
        gate_wrong: vec!["known: as ever".to_owned()],
        ..Tally::default()
    };
    assert_eq!(good().worse_than(&suite), [""; 0]);
    let case = || vec!["case".to_owned()];
    for worse in [
        Tally { right: 1, ..good() },
        Tally { gate_right: 1, ..good() },
        Tally { false_passes: case(), ..good() },
        Tally { false_breaks: case(), ..good() },
        Tally { open: case(), ..good() },
        Tally { gate_wrong: vec!["another: case".to_owned()], ..good() },
    ] {
        assert_eq!(worse.worse_than(&suite).len(), 1);
    }
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
/// closed, what is read is another schema, and formats decide; `additive_gate` is what the gate has to say of it.
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
        if let Some(wanted) = case.get("additive_gate").and_then(Value::as_str) {
            let findings = check(&contract(&case, "old"), &contract(&case, "new"), None);
            let fails = findings.iter().any(|finding| finding.id.severity() != Severity::Warning);
            if fails == (wanted == "fail") {
                tally.gate_right += 1;
            } else {
                let told = |finding: &Finding| format!("{}: {}", finding.id.as_str(), finding.what);
                let found: Vec<_> = findings.iter().map(told).collect();
                let name = case["name"].as_str().unwrap();
                tally.gate_wrong.push(format!("{name}: expected {wanted}, found {found:?}"));
            }
        }
    }
    tally
}

fn contract(case: &Value, version: &str) -> Contract {
    Contract {
        event_type: "case".to_owned(),
        event_version: 1,
        topic: "cases".to_owned(),
        ordering: OrderingMode::Unordered,
        key: "none".to_owned(),
        aliases: BTreeMap::new(),
        nested_aliases: BTreeMap::new(),
        refuses: BTreeSet::new(),
        takes: BTreeMap::new(),
        retired: None,
        open: BTreeSet::new(),
        reserved: BTreeMap::new(),
        writes: case[version].clone(),
        reads: case[format!("{version}_de")].clone(),
    }
}
