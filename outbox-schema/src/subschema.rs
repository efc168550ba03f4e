//! Where a JSON Schema keeps further schemas, so that a walk never mistakes a property name for a keyword.

use serde_json::{Map, Value};

/// Keywords whose value is one schema.
const ONE: &[&str] = &[
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];
/// Keywords whose value is a list of schemas; `items` was one until draft 2019-09.
const LIST: &[&str] = &["allOf", "anyOf", "items", "oneOf", "prefixItems"];
/// Keywords whose value maps names to schemas; `dependencies` may hold lists of names, which are skipped.
const NAMED: &[&str] =
    &["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];

/// Calls `visit` on every schema directly inside `node`.
pub(crate) fn for_each_mut(node: &mut Map<String, Value>, visit: &mut dyn FnMut(&mut Value)) {
    for (keyword, value) in node {
        match value {
            Value::Array(items) if LIST.contains(&keyword.as_str()) => items.iter_mut().for_each(&mut *visit),
            Value::Object(named) if NAMED.contains(&keyword.as_str()) => {
                named.values_mut().for_each(&mut *visit)
            }
            Value::Object(_) | Value::Bool(_) if ONE.contains(&keyword.as_str()) => visit(value),
            _ => {}
        }
    }
}

/// Calls `visit` on every schema directly inside `node`.
#[cfg(feature = "xtask")]
pub(crate) fn for_each<'a>(node: &'a Map<String, Value>, visit: &mut dyn FnMut(&'a Value)) {
    for (keyword, value) in node {
        for_each_in(keyword, value, visit);
    }
}

/// Calls `visit` on every schema that `keyword` holds in its `value`.
#[cfg(feature = "xtask")]
pub(crate) fn for_each_in<'a>(keyword: &str, value: &'a Value, visit: &mut dyn FnMut(&'a Value)) {
    match value {
        Value::Array(items) if LIST.contains(&keyword) => items.iter().for_each(visit),
        Value::Object(named) if NAMED.contains(&keyword) => named.values().for_each(visit),
        Value::Object(_) | Value::Bool(_) if ONE.contains(&keyword) => visit(value),
        _ => {}
    }
}

/// The `value` of `keyword` with `change` applied to every schema that it holds.
#[cfg(feature = "xtask")]
pub(crate) fn map<'a, E>(
    keyword: &str,
    value: &'a Value,
    change: &mut dyn FnMut(&'a Value) -> Result<Value, E>,
) -> Result<Value, E> {
    match value {
        Value::Array(items) if LIST.contains(&keyword) => items.iter().map(change).collect(),
        Value::Object(named) if NAMED.contains(&keyword) => {
            named.iter().map(|(name, schema)| Ok((name.clone(), change(schema)?))).collect()
        }
        Value::Object(_) | Value::Bool(_) if ONE.contains(&keyword) => change(value),
        _ => Ok(value.clone()),
    }
}

/// The schema that the local reference `#/…` names in `root`.
pub(crate) fn resolve<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let fragment = reference.strip_prefix('#')?;
    root.pointer(fragment).or_else(|| root.pointer(&percent_decoded(fragment)?))
}

/// JSON pointers in a URI fragment may be percent-encoded.
pub(crate) fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &tail[2..];
    }
    String::from_utf8(bytes).ok()
}
