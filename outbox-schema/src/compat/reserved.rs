//! Names that were removed from an event, and what they held.
//!
//! Payloads that earlier releases wrote still carry them, and consumers of those releases still look for them. As a
//! release is compared with the last one alone, its contract remembers the names until they come back.

use super::diff::{self, Change, ChangeKind};
use super::finding::{Evidence, Finding, FindingId};
use super::gate::{Gate, path_of};
use super::policy::pointer_of;
use super::wording::beside;
use super::{Formats, Verdict, Witness, close_writer, compare, generate};
use crate::Contract;
use crate::subschema;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// What each removed name held, by its place: what `released` knows, and what it has and `current` has not.
pub(crate) fn reserved(released: &Contract, current: &Contract) -> BTreeMap<String, Value> {
    let mut all = released.reserved.clone();
    for (old, new) in [(&released.writes, &current.writes), (&released.reads, &current.reads)] {
        let removed = diff::changes(old, new).into_iter().filter(|change| change.kind == ChangeKind::Removed);
        for change in removed {
            if let Some(held) = alone(old, &change.path) {
                all.entry(pointer_of(&change)).or_insert(held);
            }
        }
    }
    all.retain(|place, _| !has(current, &path_of(place)));
    all
}

/// Reserved names that come back with another meaning.
pub(super) fn reused(gate: &Gate<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (place, held) in &gate.released.reserved {
        let path = path_of(place);
        // Once it is released again, the questions ask about it.
        if has(gate.released, &path) || !has(gate.current, &path) {
            continue;
        }
        let (writes, reads) = (alone(&gate.current.writes, &path), alone(&gate.current.reads, &path));
        let asked = [(Some(held), reads.as_ref()), (writes.as_ref(), Some(held))];
        let answer = asked.into_iter().find_map(|(writer, reader)| {
            match compare(&close_writer(writer?), reader?, Formats::Asserted) {
                Verdict::Holds => None,
                Verdict::Breaks(witness) => {
                    Some((FindingId::ReservedNameReused, shown(gate, &path, witness)))
                }
                Verdict::NotProven(reason) => Some((FindingId::NotProven, Evidence::Undecided(reason))),
            }
        });
        findings.extend(answer.map(|(id, evidence)| finding(gate, place, &path, id, evidence)));
    }
    findings
}

fn finding(gate: &Gate<'_>, place: &str, path: &[String], id: FindingId, evidence: Evidence) -> Finding {
    let is_it = |change: &&Change| change.path == path;
    let added: Vec<&Change> = gate.reads.iter().chain(&gate.writes).filter(is_it).take(1).collect();
    let name = path.last().map_or("", String::as_str);
    Finding {
        what: format!("`{name}` comes back with another meaning, and an earlier release had removed it"),
        fix: format!(
            "give the new field another name, as `{name}` still stands in old events; or {}",
            beside(gate.current.event_version)
        ),
        ..gate.finding(id, &added, place.to_owned(), evidence)
    }
}

/// The value in a whole payload, where a payload has its place.
fn shown(gate: &Gate<'_>, path: &[String], witness: Witness) -> Evidence {
    let Witness { payload: value, error, pointer } = witness;
    match (path, generate::example(&gate.released.writes)) {
        ([name], Some(mut payload)) if payload.is_object() => {
            payload[name] = value;
            let pointer = format!("/{}{pointer}", name.replace('~', "~0").replace('/', "~1"));
            Evidence::Refused(Witness { payload, error, pointer })
        }
        _ => Evidence::Refused(Witness { payload: value, error, pointer }),
    }
}

fn has(contract: &Contract, path: &[String]) -> bool {
    [&contract.writes, &contract.reads].into_iter().any(|schema| !diff::at(schema, path).is_empty())
}

/// The definition that stands for the whole schema, to which a type that contains itself refers.
const WHOLE: &str = "whole";

/// The schema of the field at `path`, with the definitions it needs; `None` if there is no such field.
fn alone(root: &Value, path: &[String]) -> Option<Value> {
    let mut nodes = diff::at(root, path);
    let mut field = if nodes.len() == 1 { nodes.remove(0).clone() } else { json!({ "anyOf": nodes }) };
    let mut definitions = root.get("$defs").and_then(Value::as_object).cloned().unwrap_or_default();
    let mut whole = root.clone();
    whole.as_object_mut()?.retain(|keyword, _| !["$defs", "$id", "$schema"].contains(&keyword.as_str()));
    definitions.insert(WHOLE.to_owned(), whole);
    let mut needed = Map::new();
    let mut names = refer_to_definitions(&mut field);
    while let Some(name) = names.pop() {
        if let Some(mut definition) = definitions.remove(&name) {
            names.extend(refer_to_definitions(&mut definition));
            needed.insert(name, definition);
        }
    }
    if !needed.is_empty() {
        field.as_object_mut()?.insert("$defs".to_owned(), Value::Object(needed));
    }
    (!diff::at(root, path).is_empty()).then_some(field)
}

/// Makes every reference one to a definition, and returns their names.
fn refer_to_definitions(schema: &mut Value) -> Vec<String> {
    let Value::Object(keywords) = schema else { return Vec::new() };
    let mut names = Vec::new();
    if let Some(Value::String(reference)) = keywords.get_mut("$ref") {
        if reference == "#" {
            *reference = format!("#/$defs/{WHOLE}");
        }
        let name = reference.strip_prefix("#/$defs/").and_then(|name| name.split('/').next());
        names.extend(name.map(|name| name.replace("~1", "/").replace("~0", "~")));
    }
    subschema::for_each_mut(keywords, &mut |inner| names.extend(refer_to_definitions(inner)));
    names
}

#[cfg(test)]
mod tests;
