//! Aliases: further names under which a field or a variant is read, as by `#[serde(alias)]`.
//!
//! No schema says so. Those of an event's own fields stand in its declaration; those inside of other types are found by
//! [`find`]. A reader is compared as what it is: it takes a name that the writer may use in place of its own. The names
//! that no writer uses are left out, as each doubles what there is to prove.

mod find;
mod places;

use super::gate::path_of;
pub(super) use super::open::escaped;
use super::open::{in_place, inner, spelled_out};
use super::payloads_of;
use super::wording::name_of;
use crate::Contract;
use places::nodes_at;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) use find::{find, find_again};

/// Further names, by place and by the name of the field or variant there.
pub(crate) type Aliases = BTreeMap<String, BTreeMap<String, Vec<String>>>;
/// Ways to write one place that are followed, as each part of it may have several names.
const SPELLINGS_MAX: usize = 16;

/// All aliases of the contract, those of the event's own fields at the place ``.
pub(super) fn all(contract: &Contract) -> impl Iterator<Item = (&str, &str, &[String])> {
    let own = contract.aliases.iter().map(|(name, aliases)| ("", name.as_str(), aliases.as_slice()));
    let nested = contract.nested_aliases.iter().flat_map(|(place, names)| {
        names.iter().map(move |(name, aliases)| (place.as_str(), name.as_str(), aliases.as_slice()))
    });
    own.chain(nested)
}

/// What `contract` reads, with those of its aliases that `writer` may use.
pub(super) fn aliased(contract: &Contract, writer: &Value) -> Value {
    let mut reads = contract.reads.clone();
    let mut edits: BTreeMap<String, BTreeMap<&str, BTreeSet<&str>>> = BTreeMap::new();
    for (place, name, aliases) in all(contract) {
        let used = spellings(contract, place).into_iter().flat_map(|place| names_at(writer, &place));
        let used: BTreeSet<Option<&str>> = used.collect();
        // A map takes any name.
        let is_used = |alias: &&str| used.contains(&None) || used.contains(&Some(*alias));
        let wanted: BTreeSet<&str> = aliases.iter().map(String::as_str).filter(is_used).collect();
        if !wanted.is_empty() {
            for node in nodes_at(&contract.reads, place) {
                edits.entry(node).or_default().entry(name).or_default().extend(&wanted);
            }
        }
    }
    // What is inside of a field has to be changed before the field is copied.
    let mut edits: Vec<_> = edits.into_iter().collect();
    edits.sort_by_key(|(node, _)| std::cmp::Reverse(node.len()));
    for (node, names) in edits {
        if let Some(Value::Object(keywords)) = reads.pointer_mut(&node) {
            for (name, aliases) in names {
                also_as_text(keywords, name, &aliases);
                also_as_member(keywords, name, &aliases);
            }
        }
    }
    reads
}

/// Whether `contract` reads `name` at `place`, under whichever name; `None` if nothing is called by names there.
pub(super) fn is_read(contract: &Contract, place: &str, name: &str) -> Option<bool> {
    let mut own = String::new();
    for part in place.split('/').skip(1) {
        // Where the field goes by another name, that one is followed.
        let known = all(contract)
            .find(|(outer, _, aliases)| *outer == own && aliases.iter().any(|alias| escaped(alias) == part));
        own =
            known.map_or_else(|| format!("{own}/{part}"), |(_, name, _)| format!("{own}/{}", escaped(name)));
    }
    let names = names_at(&contract.reads, &own);
    let is_alias =
        || all(contract).any(|(place, _, aliases)| place == own && aliases.iter().any(|alias| alias == name));
    (!names.is_empty()).then(|| names.contains(&Some(name)) || is_alias())
}

/// Whether `name` at `place` is a field, or a variant with content; otherwise it is a text.
pub(super) fn is_field(contract: &Contract, place: &str, name: &str) -> bool {
    let mut nodes = nodes_at(&contract.reads, place).into_iter();
    nodes.any(|node| contract.reads.pointer(&format!("{node}/properties/{}", escaped(name))).is_some())
}

/// The field or the variant, as people speak of it.
pub(super) fn called(contract: &Contract, place: &str, name: &str) -> String {
    match is_field(contract, place, name) {
        true => format!("field {}", name_of(&path_of(&format!("{place}/{}", escaped(name))))),
        false => format!("the variant `{name}` of {}", name_of(&path_of(place))),
    }
}

/// A payload that `contract` reads with `alias` in place of `name`, and where `name` would be.
pub(super) fn under(contract: &Contract, place: &str, name: &str, alias: &str) -> Option<(Value, String)> {
    let instead = |payload: &Value| find::instead(&contract.reads, payload, place, name, alias);
    payloads_of(&contract.reads).iter().find_map(instead)
}

/// The names that a value of `schema` has or is at `place`; `None` among them where it may be any.
pub(super) fn names_at<'a>(schema: &'a Value, place: &str) -> Vec<Option<&'a str>> {
    let mut nodes = in_place(schema, schema);
    parts(place).for_each(|part| nodes = inner(schema, &nodes, &part));
    let names = nodes.into_iter().flat_map(|node| {
        let members = node.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
        let is_map = node.get("additionalProperties").is_some_and(|rest| *rest != Value::Bool(false));
        let named = members.map(String::as_str).chain(spelled_out(node)).map(Some);
        named.chain(is_map.then_some(None))
    });
    names.collect()
}

/// The place, and the same with each name in it that `contract` also reads.
fn spellings(contract: &Contract, place: &str) -> BTreeSet<String> {
    let mut found = vec![(String::new(), String::new())];
    for part in place.split('/').skip(1) {
        let mut next = Vec::new();
        for (own, spelled) in found {
            let outer = own.clone();
            let also = all(contract).filter(|(place, name, _)| *place == outer && escaped(name) == part);
            let also: Vec<String> =
                also.flat_map(|(_, _, aliases)| aliases.iter().map(|alias| escaped(alias))).collect();
            for part_spelled in std::iter::once(part.to_owned()).chain(also) {
                next.push((format!("{own}/{part}"), format!("{spelled}/{part_spelled}")));
            }
        }
        next.truncate(SPELLINGS_MAX);
        found = next;
    }
    found.into_iter().map(|(_, spelled)| spelled).collect()
}

fn parts(place: &str) -> impl Iterator<Item = String> {
    place.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~"))
}

/// Where a node names the text `name`, it takes the aliases too.
fn also_as_text(keywords: &mut Map<String, Value>, name: &str, aliases: &BTreeSet<&str>) {
    let more = aliases.iter().map(|&alias| Value::from(alias));
    if keywords.get("const").and_then(Value::as_str) == Some(name) {
        keywords.remove("const");
        keywords.insert("enum".to_owned(), std::iter::once(Value::from(name)).chain(more).collect());
    } else if let Some(Value::Array(texts)) = keywords.get_mut("enum")
        && texts.iter().any(|text| text == name)
    {
        texts.extend(more);
    }
}

/// Where a node has a field `name`, it takes each alias in its place; serde refuses two of them in one object.
fn also_as_member(keywords: &mut Map<String, Value>, name: &str, aliases: &BTreeSet<&str>) {
    let Some(Value::Object(members)) = keywords.get_mut("properties") else { return };
    let Some(schema) = members.get(name).cloned() else { return };
    let aliases: Vec<&str> = aliases.iter().copied().filter(|&alias| !members.contains_key(alias)).collect();
    members.extend(aliases.iter().map(|&alias| (alias.to_owned(), schema.clone())));
    let names: Vec<&str> = std::iter::once(name).chain(aliases).collect();
    let mut is_required = false;
    if let Some(Value::Array(required)) = keywords.get_mut("required") {
        let before = required.len();
        required.retain(|required| required != name);
        is_required = required.len() < before;
    }
    let requires = |names: &[&str]| json!({ "required": names });
    let demands: Vec<Value> = if is_required {
        vec![json!({ "oneOf": names.iter().map(|&name| requires(&[name])).collect::<Vec<_>>() })]
    } else {
        let pairs = names.iter().enumerate().flat_map(|(at, left)| {
            names[at + 1..].iter().map(|right| json!({ "not": requires(&[left, right]) }))
        });
        pairs.collect()
    };
    let parts = keywords.entry("allOf").or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(parts) = parts {
        parts.extend(demands);
    }
}

#[cfg(test)]
mod tests;
