//! Brings a JSON Schema of any common draft into the one form the engine reads: draft 2020-12, no annotations,
//! integer formats as ranges.

use super::formats;
use crate::contract::sorted;
use crate::subschema;
use serde_json::{Map, Value};

/// Keywords that describe and never decide.
const ANNOTATIONS: &[&str] = &[
    "$comment",
    "$schema",
    "default",
    "deprecated",
    "description",
    "examples",
    "readOnly",
    "title",
    "writeOnly",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
];

/// The normal form of `schema`.
pub(super) fn normalise(schema: &Value) -> Value {
    let mut schema = schema.clone();
    let declared = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
    // Until draft 7 the siblings of a reference are ignored.
    let lone_references =
        ["draft-03", "draft-04", "draft-06", "draft-07"].iter().any(|draft| declared.contains(draft));
    normalise_node(&mut schema, lone_references);
    sorted(schema)
}

fn normalise_node(node: &mut Value, lone_references: bool) {
    let Value::Object(keywords) = node else { return };
    keywords.retain(|keyword, _| !ANNOTATIONS.contains(&keyword.as_str()) && !keyword.starts_with("x-"));
    if lone_references && keywords.contains_key("$ref") {
        keywords.retain(|keyword, _| ["$ref", "$defs", "definitions"].contains(&keyword.as_str()));
    }
    modernise(keywords);
    bound_integers(keywords);
    subschema::for_each_mut(keywords, &mut |child| normalise_node(child, lone_references));
}

/// Rewrites the keywords of older drafts.
fn modernise(keywords: &mut Map<String, Value>) {
    if !keywords.get("$id").is_some_and(Value::is_string) {
        keywords.remove("id");
    }
    if let Some(Value::Array(_)) = keywords.get("items") {
        let prefix = keywords.remove("items").unwrap_or_default();
        keywords.insert("prefixItems".to_owned(), prefix);
        if let Some(rest) = keywords.remove("additionalItems") {
            keywords.insert("items".to_owned(), rest);
        }
    }
    keywords.remove("additionalItems");
    for (flag, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        if let Some(&Value::Bool(exclusive)) = keywords.get(flag) {
            keywords.remove(flag);
            if let Some(limit) = keywords.get(bound).cloned().filter(|_| exclusive) {
                keywords.remove(bound);
                keywords.insert(flag.to_owned(), limit);
            }
        }
    }
    if keywords.get("required").is_some_and(Value::is_boolean) {
        keywords.remove("required");
    }
    if let Some(Value::Object(dependencies)) = keywords.remove("dependencies") {
        for (name, condition) in dependencies {
            let keyword = if condition.is_array() { "dependentRequired" } else { "dependentSchemas" };
            let target = keywords.entry(keyword).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(target) = target {
                target.entry(name).or_insert(condition);
            }
        }
    }
}

/// Says with `minimum` and `maximum` what a Rust integer holds, so that every validator knows it.
fn bound_integers(keywords: &mut Map<String, Value>) {
    let Some((low, high)) = keywords.get("format").and_then(Value::as_str).and_then(formats::integer_range)
    else {
        return;
    };
    let speaks_of_integers = match keywords.get("type") {
        Some(Value::String(name)) => name == "integer",
        Some(Value::Array(names)) => {
            names.iter().any(|name| name == "integer") && !names.iter().any(|name| name == "number")
        }
        _ => false,
    };
    let (Some(low), Some(high), true) = (json_integer(low), json_integer(high), speaks_of_integers) else {
        return;
    };
    keywords.remove("format");
    for (keyword, exclusive, limit) in
        [("minimum", "exclusiveMinimum", low), ("maximum", "exclusiveMaximum", high)]
    {
        // A tighter bound that the type itself states stays; schemars never states a wider one but the 0 of
        // unsigned types.
        if !keywords.contains_key(keyword) && !keywords.contains_key(exclusive) {
            keywords.insert(keyword.to_owned(), limit);
        }
    }
}

fn json_integer(number: i128) -> Option<Value> {
    i64::try_from(number).map(Value::from).or_else(|_| u64::try_from(number).map(Value::from)).ok()
}
