//! `schema-diff`: what changed between two releases, for people and for the CHANGELOG.

mod text;

use super::contracts::{self, Known};
use super::files::say;
use super::project::Project;
use crate::baseline::{self, Baseline, Choice, Found};
use crate::compat::{self, Severity};
use crate::{Contract, EventDescriptor};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

#[derive(clap::Args)]
pub(super) struct Args {
    /// Where to begin: a tag, a commit or a folder; by default the highest release tag
    #[arg(value_name = "FROM")]
    from: Option<String>,
    /// Where to end: a tag, a commit or a folder; by default the code
    #[arg(value_name = "TO", requires = "from")]
    to: Option<String>,
    /// What stands before the version in a release tag, such as `orders-v`
    #[arg(long, value_name = "PREFIX", conflicts_with = "from")]
    tag_prefix: Option<String>,
    /// Prints only the text for the CHANGELOG
    #[arg(long)]
    changelog: bool,
}

/// What is different in one event version.
struct Entry {
    event_type: String,
    event_version: u32,
    kind: Kind,
}

enum Kind {
    /// On that topic.
    Added(String),
    Removed,
    Changed(Vec<Change>),
}

struct Change {
    what: String,
    /// The ids of the findings, if somebody breaks or may break.
    breaks: Vec<&'static str>,
}

pub(super) fn run(project: &Project, args: &Args) -> Result<bool, String> {
    let named = |name: &str| baseline::find_named(&project.schemas, name).map_err(|error| error.to_string());
    let from = match &args.from {
        Some(name) => named(name)?,
        None => last_release(project, args)?,
    };
    let (to_name, to) = match &args.to {
        Some(name) => {
            let to = named(name)?;
            (to.name.clone(), contracts_of(&to)?)
        }
        None => ("the code".to_owned(), of_the_code(project)?),
    };
    let entries = entries(&contracts_of(&from)?, &to, project.catalog.events());
    let changelog = text::changelog(&entries);
    say(&match args.changelog {
        true => changelog,
        false => text::for_people(&from.name, &to_name, &entries, &changelog),
    });
    Ok(true)
}

fn last_release(project: &Project, args: &Args) -> Result<Baseline, String> {
    let choice = Choice { tag_prefix: args.tag_prefix.clone(), ..Choice::default() };
    match baseline::find(&project.schemas, &choice).map_err(|error| error.to_string())? {
        Found::Baseline(baseline) => Ok(baseline),
        Found::None(reason) => Err(format!("{reason}; name a tag, a commit or a folder")),
    }
}

fn contracts_of(baseline: &Baseline) -> Result<Vec<Contract>, String> {
    baseline.contracts().map_err(|error| error.to_string())
}

fn of_the_code(project: &Project) -> Result<Vec<Contract>, String> {
    let (schemas, committed) = (&project.schemas, &contracts::committed(&project.schemas)?);
    let known = Known { schemas, committed, baseline: None, is_last_release: false };
    contracts::each(&project.catalog, &known, &|version| version.declared.contract)
}

/// The differences, by type and version.
fn entries(from: &[Contract], to: &[Contract], events: &[&'static EventDescriptor]) -> Vec<Entry> {
    let by_name = |contracts: &'_ [Contract]| -> BTreeMap<(String, u32), Contract> {
        let name = |contract: &Contract| (contract.event_type.clone(), contract.event_version);
        contracts.iter().map(|contract| (name(contract), contract.clone())).collect()
    };
    let (from, to) = (by_name(from), by_name(to));
    let removed = from.keys().filter(|name| !to.contains_key(*name)).map(|name| (name, Kind::Removed));
    let others = to.iter().filter_map(|(name, new)| match from.get(name) {
        None => Some((name, Kind::Added(new.topic.clone()))),
        Some(old) if old == new => None,
        Some(old) => {
            let is_own =
                |event: &&&EventDescriptor| event.event_type == name.0 && event.event_version == name.1;
            Some((name, Kind::Changed(changes(old, new, events.iter().find(is_own).copied()))))
        }
    });
    let mut entries: Vec<Entry> = removed
        .chain(others)
        .map(|((event_type, version), kind)| Entry {
            event_type: event_type.clone(),
            event_version: *version,
            kind,
        })
        .collect();
    entries.sort_by(|left, right| {
        (&left.event_type, left.event_version).cmp(&(&right.event_type, right.event_version))
    });
    entries
}

/// What breaks somebody first, then the rest.
fn changes(old: &Contract, new: &Contract, event: Option<&EventDescriptor>) -> Vec<Change> {
    let mut told: Vec<Change> = Vec::new();
    for finding in compat::check(old, new, event) {
        let breaks = (finding.id.severity() != Severity::Warning).then_some(finding.id.as_str());
        match told.iter_mut().find(|change| change.what == finding.what) {
            // One change may break several.
            Some(change) => change.breaks.extend(breaks),
            None => told.push(Change { what: finding.what, breaks: breaks.into_iter().collect() }),
        }
    }
    let is_told = |what: &String| told.iter().any(|change| change.what.contains(what.as_str()));
    let rest = compat::sentences(old, new).into_iter().chain(beside_the_schemas(old, new));
    let rest: Vec<String> = rest.filter(|what| !is_told(what)).collect();
    told.into_iter().chain(rest.into_iter().map(|what| Change { what, breaks: Vec::new() })).collect()
}

/// Members of a contract of which other sentences tell, or nobody needs to.
const TOLD_ELSEWHERE: &[&str] = &[
    "aliases",
    "digest",
    "eventType",
    "eventVersion",
    "format",
    "key",
    "nestedAliases",
    "ordering",
    "reads",
    "reserved",
    "topic",
    "writes",
];

/// What else the contracts state, such as the day on which a version retires.
fn beside_the_schemas(old: &Contract, new: &Contract) -> Vec<String> {
    let file = |contract: &Contract| -> Map<String, Value> {
        serde_json::from_str(&contract.to_text()).expect("a contract is written as an object")
    };
    let (old, new) = (file(old), file(new));
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let names = names.into_iter().filter(|name| !TOLD_ELSEWHERE.contains(&name.as_str()));
    let sentence = |name: &String| match (old.get(name), new.get(name)) {
        (old, new) if old == new => None,
        (None, Some(new)) => Some(format!("`{name}` is {} now", text(new))),
        (Some(old), Some(new)) => Some(format!("`{name}` is {} now, which was {}", text(new), text(old))),
        (Some(old), None) => Some(format!("`{name}` is stated no longer, which was {}", text(old))),
        (None, None) => None,
    };
    names.filter_map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn contract(total: &str) -> Contract {
        let schema = json!({ "properties": { "total": { "type": total } }, "type": "object" });
        Contract::of_schemas("orders.placed", "orders", schema.clone(), schema)
    }

    #[test]
    fn what_a_contract_states_beside_its_schemas_is_told() {
        let (old, mut new) = (contract("string"), contract("string"));
        new.refuses.insert("/total".to_owned());
        let told =
            |old, new| changes(old, new, None).into_iter().map(|change| change.what).collect::<Vec<_>>();
        assert_eq!(told(&old, &new), ["`refuses` is [\"/total\"] now"]);
        assert_eq!(told(&new, &old), ["`refuses` is stated no longer, which was [\"/total\"]"]);
    }

    #[test]
    fn a_change_that_breaks_several_is_told_once() {
        let entries = entries(&[contract("integer")], &[contract("string")], &[]);
        let text = text::for_people("v1.0.0", "the code", &entries, &text::changelog(&entries));
        let what = "`total` changed its type from integer to string";
        let line = format!("  breaking: {what} [reader-refuses-released, released-reader-refuses]\n");
        assert!(text.contains(&line), "{text}");
        assert_eq!(text.matches(what).count(), 2, "once for people, once for the CHANGELOG: {text}");
    }
}
