//! `schema-compare`: the answers of the engine for any two JSON Schemas, without a catalog.

mod cases;

use super::files::{say, shown};
use crate::compat::{Formats, Verdict, Witness, compare};
use crate::json;
use serde_json::Value;
use std::fmt::Write;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(super) struct Args {
    /// The schema before the change
    #[arg(value_name = "OLD.json", required_unless_present = "cases", requires = "new")]
    old: Option<PathBuf>,
    /// The schema after it
    #[arg(value_name = "NEW.json")]
    new: Option<PathBuf>,
    /// Answers every case of a file, one JSON line each; a case has `name`, `old`, `new`, and for the contracts of
    /// an event `old_de` and `new_de`
    #[arg(long, value_name = "FILE.jsonl", conflicts_with_all = ["old", "new"])]
    cases: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<bool, String> {
    match (&args.cases, &args.old, &args.new) {
        (Some(file), ..) => cases::run(file),
        (None, Some(old), Some(new)) => pair(old, new),
        _ => Err("name two schemas, or a file with `--cases`".to_owned()),
    }
}

fn pair(old: &Path, new: &Path) -> Result<bool, String> {
    let (old_name, new_name) = (shown(old), shown(new));
    let (old, new) = (schema(old)?, schema(new)?);
    let mut text = String::new();
    let mut holds = true;
    for (question, writer, reader, sides) in [
        ("backward", &old, &new, format!("a value of {old_name} that {new_name} refuses")),
        ("forward", &new, &old, format!("a value of {new_name} that {old_name} refuses")),
    ] {
        let verdict = compare(writer, reader, Formats::Described);
        holds &= verdict == Verdict::Holds;
        text.push_str(&answer(question, &verdict, &sides));
    }
    say(&text);
    Ok(holds)
}

fn schema(path: &Path) -> Result<Value, String> {
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("can't read {}: {error}", path.display()))?;
    let schema = json::parse(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let is_contract = ["eventType", "writes", "reads"].iter().all(|&member| schema.get(member).is_some());
    if is_contract {
        // As a schema it would take any value, so every answer would be a pass.
        return Err(format!(
            "{} is a contract and no JSON Schema; compare contracts with `schema-check --baseline` or `schema-diff`",
            path.display()
        ));
    }
    Ok(schema)
}

/// The answer to one question for people.
fn answer(question: &str, verdict: &Verdict, sides: &str) -> String {
    let mut text = String::new();
    let written = match verdict {
        Verdict::Holds => writeln!(text, "{question}: holds"),
        Verdict::NotProven(reason) => writeln!(text, "{question}: not proven: {reason}"),
        Verdict::Breaks(Witness { payload, error, pointer }) => {
            let at = if pointer.is_empty() { String::new() } else { format!("\n  pointer  {pointer}") };
            writeln!(text, "{question}: breaks: {sides}\n  value    {payload}\n  reader   {error}{at}")
        }
    };
    written.expect("a String takes any text");
    text
}
