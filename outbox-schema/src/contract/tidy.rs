//! Brings a schema into the one form in which it is kept: no annotations, sorted, one spelling for one meaning.

use crate::subschema;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Keywords that describe and never decide.
const ANNOTATIONS: &[&str] = &["$comment", "$schema", "deprecated", "description", "examples", "title"];

/// Drops annotations and spells every enumeration one way, in `node` and everything below it.
///
/// schemars writes an enum of plain names as `enum`, and as `oneOf` of `const` once one variant has a doc comment.
/// Both become one sorted `enum`, so that a comment changes no contract.
pub(super) fn tidy(node: &mut Value) {
    let Value::Object(keywords) = node else { return };
    keywords.retain(|keyword, _| !ANNOTATIONS.contains(&keyword.as_str()));
    subschema::for_each_mut(keywords, &mut tidy);
    gather_names(keywords);
    sort_list(keywords, "required");
    sort_list(keywords, "enum");
    if let Some(Value::Array(values)) = keywords.get("enum")
        && values.len() == 1
    {
        let only = values[0].clone();
        keywords.remove("enum");
        keywords.insert("const".to_owned(), only);
    }
}

/// Joins the branches of `oneOf` that only name strings into one, and lifts it when no other branch is left.
fn gather_names(keywords: &mut Map<String, Value>) {
    let Some(Value::Array(branches)) = keywords.get("oneOf") else { return };
    let (plain, rest): (Vec<_>, Vec<_>) =
        branches.iter().cloned().partition(|branch| names_of(branch).is_some());
    let mut names: Vec<Value> = plain.iter().filter_map(names_of).flatten().collect();
    names.sort_by_key(Value::to_string);
    if plain.is_empty() || names.windows(2).any(|pair| pair[0] == pair[1]) {
        return; // a name in two branches is refused by `oneOf`, so joining them would change the meaning
    }
    let mut joined = serde_json::json!({ "type": "string", "enum": names });
    tidy(&mut joined);
    let taken = ["type", "enum", "const"].iter().any(|&keyword| keywords.contains_key(keyword));
    if let (true, false, Value::Object(joined)) = (rest.is_empty(), taken, &joined) {
        keywords.remove("oneOf");
        keywords.extend(joined.clone());
    } else {
        keywords.insert("oneOf".to_owned(), std::iter::once(joined).chain(rest).collect());
    }
}

/// The strings that a branch without any other keyword allows.
fn names_of(branch: &Value) -> Option<Vec<Value>> {
    let branch = branch.as_object()?;
    if branch.keys().any(|keyword| !["type", "enum", "const"].contains(&keyword.as_str())) {
        return None;
    }
    let names = match (branch.get("const"), branch.get("enum")) {
        (Some(name), None) => vec![name.clone()],
        (None, Some(Value::Array(names))) => names.clone(),
        _ => return None,
    };
    names.iter().all(Value::is_string).then_some(names)
}

fn sort_list(keywords: &mut Map<String, Value>, keyword: &str) {
    if let Some(Value::Array(items)) = keywords.get_mut(keyword) {
        items.sort_by_key(Value::to_string);
        items.dedup();
    }
}

/// The same value with the members of every object in the order of their names, however serde_json keeps them.
pub(crate) fn sorted(mut value: Value) -> Value {
    sort(&mut value);
    value
}

fn sort(value: &mut Value) {
    match value {
        Value::Object(members) => {
            // Unless another crate asks serde_json to keep the order of a text, they are.
            if !members.keys().is_sorted() {
                let mut all: Vec<(String, Value)> = std::mem::take(members).into_iter().collect();
                all.sort_by(|left, right| left.0.cmp(&right.0));
                members.extend(all);
            }
            members.values_mut().for_each(sort);
        }
        Value::Array(items) => items.iter_mut().for_each(sort),
        _ => {}
    }
}

/// `value` as it is when it is sorted; most are, and need no copy.
pub(crate) fn in_order(value: &Value) -> Cow<'_, Value> {
    if is_sorted(value) { Cow::Borrowed(value) } else { Cow::Owned(sorted(value.clone())) }
}

/// Whether the members of every object are in the order of their names.
fn is_sorted(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.keys().is_sorted() && members.values().all(is_sorted),
        Value::Array(items) => items.iter().all(is_sorted),
        _ => true,
    }
}
