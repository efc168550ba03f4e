//! `schema-compare --cases`: one JSON line of answers for each line of a file.

use crate::Contract;
use crate::compat::{Evidence, Finding, Formats, Severity, Verdict, check, close_writer, compare};
use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;

/// Answers every case of the file; one that can't be read is told on the standard error, and fails at the end.
pub(super) fn run(path: &Path) -> Result<bool, String> {
    let unread = |error: &dyn std::fmt::Display| format!("can't read {}: {error}", path.display());
    let file = File::open(path).map_err(|error| unread(&error))?;
    let mut faults = 0_usize;
    for (index, line) in BufReader::new(file).split(b'\n').enumerate() {
        let line = line.map_err(|error| unread(&error))?;
        if line.trim_ascii().is_empty() {
            continue;
        }
        match Case::read(&line) {
            Ok(case) => {
                let told = writeln!(io::stdout(), "{}", case.answers());
                if told.is_err() {
                    return Ok(faults == 0); // the reader has seen enough
                }
            }
            Err(fault) => {
                faults += 1;
                let _ = writeln!(io::stderr(), "error: {}:{}: {fault}", path.display(), index + 1);
            }
        }
    }
    match faults {
        0 => Ok(true),
        1 => Err(format!("a line of {} could not be read", path.display())),
        _ => Err(format!("{faults} lines of {} could not be read", path.display())),
    }
}

/// Two schemas, or with `reads` the two contracts of an event.
struct Case {
    name: String,
    old: Value,
    new: Value,
    reads: Option<[Value; 2]>,
}

impl Case {
    fn read(line: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(line).map_err(|error| error.to_string())?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let Value::Object(mut members) = serde_json::from_str(text).map_err(|error| error.to_string())?
        else {
            return Err("a case is a JSON object".to_owned());
        };
        let name = members.get("name").and_then(Value::as_str).map(str::to_owned);
        let name = name.ok_or("`name` is missing or no string")?;
        let mut schema = |member: &str| members.remove(member).filter(|value| !value.is_null());
        let reads = match (schema("old_de"), schema("new_de")) {
            (Some(old), Some(new)) => Some([old, new]),
            (None, None) => None,
            _ => return Err("of `old_de` and `new_de` only one is there".to_owned()),
        };
        let old = schema("old").ok_or("`old` is missing")?;
        let new = schema("new").ok_or("`new` is missing")?;
        Ok(Self { name, old, new, reads })
    }

    /// The line of answers.
    fn answers(&self) -> Value {
        let mut line = Map::from_iter([("name".to_owned(), Value::from(self.name.as_str()))]);
        let (old, new) = (&self.old, &self.new);
        match &self.reads {
            None => {
                put(&mut line, "backward", guarded(|| compare(old, new, Formats::Described)));
                put(&mut line, "forward", guarded(|| compare(new, old, Formats::Described)));
            }
            Some([old_reads, new_reads]) => {
                let ask = |writer: &Value, reader: &Value| {
                    guarded(|| compare(&close_writer(writer), reader, Formats::Asserted))
                };
                put(&mut line, "backward", ask(old, new_reads));
                put(&mut line, "forward", ask(new, old_reads));
                let [before, after] = [contract(old, old_reads), contract(new, new_reads)];
                gate(&mut line, caught(|| check(&before, &after, None)));
            }
        }
        Value::Object(line)
    }
}

fn put(line: &mut Map<String, Value>, question: &str, verdict: Verdict) {
    let (answer, more) = match verdict {
        Verdict::Holds => ("holds", None),
        Verdict::Breaks(witness) => ("breaks", Some(("witness", witness.payload))),
        Verdict::NotProven(reason) => ("not-proven", Some(("reason", Value::from(reason)))),
    };
    line.insert(question.to_owned(), Value::from(answer));
    line.extend(more.map(|(name, value)| (format!("{question}_{name}"), value)));
}

/// Puts in what the three questions and the policy say together.
fn gate(line: &mut Map<String, Value>, findings: Result<Vec<Finding>, String>) {
    let findings = match findings {
        Ok(findings) => findings,
        Err(reason) => return put(line, "gate", Verdict::NotProven(reason)),
    };
    let weighs = |severity| findings.iter().any(|finding| finding.id.severity() == severity);
    let answer = match () {
        () if weighs(Severity::Breaking) => "breaks",
        () if weighs(Severity::NotProven) => "not-proven",
        () => "holds",
    };
    line.insert("gate".to_owned(), Value::from(answer));
    let payload = findings.iter().find_map(|finding| match &finding.evidence {
        Evidence::Refused(witness) => Some(witness.payload.clone()),
        Evidence::Dropped(payload) => Some(payload.clone()),
        _ => None,
    });
    line.extend(payload.map(|payload| ("gate_witness".to_owned(), payload)));
    if !findings.is_empty() {
        let told = |finding: &Finding| json!({ "id": finding.id.as_str(), "what": finding.what });
        line.insert("gate_findings".to_owned(), findings.iter().map(told).collect());
    }
}

fn contract(writes: &Value, reads: &Value) -> Contract {
    Contract::of_schemas("case", "cases", writes.clone(), reads.clone())
}

fn guarded(ask: impl FnOnce() -> Verdict) -> Verdict {
    caught(ask).unwrap_or_else(Verdict::NotProven)
}

/// One case that brings the engine down is not decided, and the others are answered all the same.
fn caught<T>(ask: impl FnOnce() -> T) -> Result<T, String> {
    panic::catch_unwind(AssertUnwindSafe(ask))
        .map_err(|_| "the engine panicked; this is a bug of outbox, please report it".to_owned())
}
