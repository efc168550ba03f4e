//! The schema check of a large project, as a process of its own, and one pair of schemas that no engine can decide.

use super::{PEAK, Row, Wanted};
use outbox::Contract;
use outbox::compat::{Formats, Verdict, compare};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// The released events that have changed since, in an ordinary release: every twentieth.
const CHANGED_EVERY: usize = 20;

/// Time and memory of a check of 1,500 contracts against a released folder: with nothing changed, of an ordinary release,
/// and of one in which most of them have changed.
pub(super) fn check(rounds: usize) -> [Row; 4] {
    let folder = tempfile::tempdir().unwrap();
    let (schemas, released) = (folder.path().join("schemas"), folder.path().join("released"));
    let peak = folder.path().join("peak");
    for target in [&schemas, &released] {
        assert!(xtask(&["schema-accept", "--schemas", target.to_str().unwrap()], &peak));
    }
    let arguments =
        ["schema-check", "--schemas", schemas.to_str().unwrap(), "--baseline", released.to_str().unwrap()];
    let mut changed = 0;
    let mut measured = |changes: Option<usize>| {
        changed += changes.map_or(0, |every| forget_options(&released, every));
        println!(
            "schema check: 1,500 contracts, {changed} of them with an optional field that was not released yet"
        );
        let (mut seconds, mut megabytes) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            let start = Instant::now();
            assert!(xtask(&arguments, &peak), "an additive change was refused");
            seconds.push(start.elapsed().as_secs_f64());
            megabytes.push(fs::read_to_string(&peak).unwrap().trim().parse::<f64>().unwrap() / 1024.0);
        }
        (seconds, megabytes)
    };
    let (same_seconds, _) = measured(None);
    let (seconds, megabytes) = measured(Some(CHANGED_EVERY));
    let (most_seconds, _) = measured(Some(1));
    let row = |name: &str, unit, ours, wanted| Row { name: name.into(), unit, raw: Vec::new(), ours, wanted };
    [
        row("schema check of 500 events", "s", same_seconds, Wanted::AtMost(1.0)),
        row("schema check of 500 events, some changed", "s", seconds, Wanted::AtMost(1.0)),
        row("schema check of 500 events, some changed", "MiB", megabytes, Wanted::AtMost(100.0)),
        row("schema check of 500 events, most changed", "s", most_seconds, Wanted::Nothing),
    ]
}

/// A pair that must end at the limit of steps, as not proven.
pub(super) fn pathological(rounds: usize) -> Row {
    let (old, new) = (tangle(0), tangle(1));
    let mut seconds = Vec::new();
    for _ in 0..rounds {
        let start = Instant::now();
        let verdict = compare(&old, &new, Formats::Asserted);
        seconds.push(start.elapsed().as_secs_f64());
        assert!(matches!(verdict, Verdict::NotProven(_)), "{verdict:?}");
    }
    let (name, unit) = ("schema pair that can't be decided", "s");
    Row { name: name.into(), unit, raw: Vec::new(), ours: seconds, wanted: Wanted::AtMost(10.0) }
}

/// Fifty branches within fifty, nested deeply, with patterns that overlap.
fn tangle(shift: usize) -> Value {
    let inner: Vec<Value> = (0..50)
        .map(|index| {
            let names = format!("^(a|b)*{}(a|b){{{}}}$", if index % 2 == 0 { "a" } else { "b" }, index % 7);
            json!({ "type": "object", "patternProperties": { names: { "const": index + shift } } })
        })
        .collect();
    let mut schema = json!({ "anyOf": inner });
    for level in 0..12 {
        let branches: Vec<Value> = (0..50)
            .map(|index| json!({ "type": "array", "items": { "$ref": "#/$defs/inner" }, "minItems": index % 9 + level }))
            .collect();
        schema = json!({ "$defs": { "inner": schema }, "anyOf": branches });
        schema = flat(schema, level);
    }
    schema
}

/// One definition a level, as references lead from the root.
fn flat(mut schema: Value, level: usize) -> Value {
    let inner = schema["$defs"]["inner"].take();
    let name = format!("level{level}");
    let mut definitions = inner.get("$defs").and_then(Value::as_object).cloned().unwrap_or_default();
    let mut body = inner;
    body.as_object_mut().unwrap().remove("$defs");
    definitions.insert(name.clone(), body);
    for branch in schema["anyOf"].as_array_mut().unwrap() {
        branch["items"]["$ref"] = Value::from(format!("#/$defs/{name}"));
    }
    schema["$defs"] = Value::Object(definitions);
    schema
}

/// Runs a command of the xtask in a process of its own; whether it passed.
fn xtask(arguments: &[&str], peak: &Path) -> bool {
    let program = std::env::current_exe().unwrap();
    let mut command = Command::new(program);
    command.args(arguments).env(PEAK, peak).stdout(Stdio::null());
    command.status().unwrap().success()
}

/// Takes an optional field out of the released contracts of every so many events, as if it had come later; how many
/// contracts lost it.
fn forget_options(released: &Path, every: usize) -> usize {
    let mut events: Vec<_> = fs::read_dir(released).unwrap().map(|event| event.unwrap().path()).collect();
    events.sort();
    let mut changed = 0;
    for file in events.iter().step_by(every).flat_map(|event| fs::read_dir(event).unwrap()) {
        let path = file.unwrap().path();
        let mut contract = Contract::parse(&fs::read_to_string(&path).unwrap()).unwrap();
        let mut forgotten = false;
        for schema in [&mut contract.writes, &mut contract.reads] {
            forgotten |= schema["properties"].as_object_mut().unwrap().remove("coupon").is_some();
            schema["required"].as_array_mut().unwrap().retain(|name| name != "coupon");
        }
        if forgotten {
            fs::write(&path, contract.to_text()).unwrap();
            changed += 1;
        }
    }
    changed
}
