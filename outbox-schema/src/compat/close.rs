//! Closes the writer: serde never writes a field that the type does not declare, which a schema leaves open.

use crate::subschema;
use serde_json::{Map, Value};
use std::convert::Infallible;

/// References followed while one object is put together; a type flattened into itself would never end.
const NESTING_MAX: usize = 8;

const OBJECT_KEYWORDS: &[&str] =
    &["properties", "required", "additionalProperties", "patternProperties", "unevaluatedProperties"];
const IN_PLACE: &[&str] = &["allOf", "anyOf", "oneOf"];
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// The schema of exactly what is written: `additionalProperties: false` on every object that leaves it open.
///
/// An object that is put together from several schemas (flattened fields, tagged enums) is first joined into one, as
/// each part alone would refuse the fields of the others.
pub fn close_writer(schema: &Value) -> Value {
    let mut closed = close(schema, schema, 0);
    for keyword in DEFINITIONS {
        if let Some(Value::Object(definitions)) = closed.get_mut(keyword) {
            definitions.values_mut().for_each(|definition| *definition = close(schema, definition, 0));
        }
    }
    closed
}

fn close(root: &Value, node: &Value, nesting: usize) -> Value {
    let Value::Object(keywords) = node else { return node.clone() };
    let is_object = OBJECT_KEYWORDS.iter().any(|&keyword| keywords.contains_key(keyword));
    let is_joined =
        keywords.contains_key("$ref") || IN_PLACE.iter().any(|&keyword| keywords.contains_key(keyword));
    if is_object && is_joined && nesting < NESTING_MAX {
        let mut keywords = keywords.clone();
        if let Some(Value::String(reference)) = keywords.remove("$ref") {
            let target = subschema::resolve(root, &reference).and_then(Value::as_object);
            return match target.map(|target| join(&keywords, target)) {
                Some(joined) => close(root, &Value::Object(joined), nesting + 1),
                None => node.clone(),
            };
        }
        if let Some(Value::Array(parts)) = keywords.remove("allOf") {
            let joined =
                parts.iter().try_fold(keywords, |joined, part| Some(join(&joined, part.as_object()?)));
            return joined
                .map_or_else(|| node.clone(), |joined| close(root, &Value::Object(joined), nesting + 1));
        }
        for keyword in ["oneOf", "anyOf"] {
            if let Some(Value::Array(branches)) = keywords.remove(keyword) {
                let definitions: Map<String, Value> = ["$defs", "definitions", "$schema", "$id"]
                    .into_iter()
                    .filter_map(|keyword| keywords.remove_entry(keyword))
                    .collect();
                let branch = |branch: &Value| match branch.as_object() {
                    Some(branch) => close(root, &Value::Object(join(&keywords, branch)), nesting + 1),
                    None => branch.clone(),
                };
                let mut union = definitions;
                union.insert(keyword.to_owned(), branches.iter().map(branch).collect());
                return Value::Object(union);
            }
        }
    }
    let mut closed = Map::new();
    for (keyword, value) in keywords {
        // Those of the root are closed when all else is.
        let waits = std::ptr::eq(root, node) && DEFINITIONS.contains(&keyword.as_str());
        let mut inner = |child: &Value| Ok::<_, Infallible>(close(root, child, 0));
        let Ok(value) = if waits { Ok(value.clone()) } else { subschema::map(keyword, value, &mut inner) };
        closed.insert(keyword.clone(), value);
    }
    let says_object = match keywords.get("type") {
        Some(Value::String(name)) => name == "object",
        Some(Value::Array(names)) => names.iter().any(|name| name == "object"),
        _ => keywords.contains_key("properties"),
    };
    let is_open = ["additionalProperties", "unevaluatedProperties"]
        .iter()
        .all(|&keyword| !keywords.contains_key(keyword));
    if says_object && is_open && !is_joined {
        closed.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    Value::Object(closed)
}

/// Both schemas as one, for the same object.
pub(super) fn join(left: &Map<String, Value>, right: &Map<String, Value>) -> Map<String, Value> {
    let mut joined = left.clone();
    for (keyword, value) in right {
        match (joined.get_mut(keyword), value) {
            (None, _) => drop(joined.insert(keyword.clone(), value.clone())),
            (Some(known), value) if known == value => {}
            (Some(Value::Object(known)), Value::Object(more))
                if keyword == "properties" || keyword == "patternProperties" =>
            {
                for (name, schema) in more {
                    let both = match known.get(name) {
                        Some(other) if other != schema => serde_json::json!({ "allOf": [other, schema] }),
                        _ => schema.clone(),
                    };
                    known.insert(name.clone(), both);
                }
            }
            (Some(Value::Array(known)), Value::Array(more)) if keyword == "required" => {
                let new: Vec<Value> = more.iter().filter(|name| !known.contains(name)).cloned().collect();
                known.extend(new);
            }
            // An object that takes any further field in one part takes it as a whole.
            (Some(known), more)
                if keyword == "additionalProperties"
                    && (known == &Value::Bool(true) || more == &Value::Bool(true)) =>
            {
                *known = Value::Bool(true);
            }
            (Some(known), more) if keyword == "additionalProperties" && known == &Value::Bool(false) => {
                *known = more.clone()
            }
            (Some(_), Value::Bool(false)) if keyword == "additionalProperties" => {}
            (Some(_), more) => {
                let entry = joined.entry("allOf").or_insert_with(|| Value::Array(Vec::new()));
                if let Value::Array(parts) = entry {
                    parts.push(Value::Object(Map::from_iter([(keyword.clone(), more.clone())])));
                }
            }
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compat::{Formats, Verdict, compare};
    use schemars::JsonSchema;
    use serde_json::json;
    use std::collections::HashMap;

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Tagged {
        #[serde(flatten)]
        kind: Kind,
        #[serde(flatten)]
        rest: HashMap<String, Value>,
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    #[serde(tag = "kind")]
    enum Kind {
        One,
        Two { a: u8 },
    }

    #[test]
    fn a_map_that_is_flattened_beside_an_enum_leaves_each_variant_open() {
        let closed = close_writer(schemars::schema_for!(Tagged).as_value());
        let takes = |payload: Value| {
            compare(&json!({ "const": payload }), &closed, Formats::Asserted) == Verdict::Holds
        };
        assert!(takes(json!({ "kind": "One", "more": 1 })));
        assert!(takes(json!({ "kind": "Two", "a": 1, "more": [true] })));
        assert!(!takes(json!({ "kind": "Two", "more": 1 })));
    }
}
