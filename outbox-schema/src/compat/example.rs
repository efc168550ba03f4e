//! A payload that a reader of the documents can learn from, and that the schema takes.

use super::formats::{self, Formats};
use super::normalise::normalise;
use super::prove::{self, Answer};
use crate::subschema;
use serde_json::{Map, Value, json};

/// Nesting after which only what is required is filled in, and twice which the example is given up.
const DEPTH_FULL: usize = 4;

/// A value of `schema` with as many fields as make sense; `None` if none was found.
pub(crate) fn example(schema: &Value) -> Option<Value> {
    let normal = normalise(schema).ok()?;
    let full = value(&normal, &normal, 0);
    let validator = formats::options(Formats::Asserted).build(&normal).ok()?;
    match full {
        Some(full) if validator.is_valid(&full) => Some(full),
        _ => match prove::difference(&normal, &Value::Bool(false), Formats::Asserted) {
            Answer::Value(least) if validator.is_valid(&least) => Some(least),
            _ => None,
        },
    }
}

fn value(root: &Value, schema: &Value, depth: usize) -> Option<Value> {
    let Value::Object(keywords) = schema else { return Some(json!("anything")) };
    if depth > 2 * DEPTH_FULL {
        return None;
    }
    if let Some(only) = keywords.get("const").or_else(|| keywords.get("enum")?.get(0)) {
        return Some(only.clone());
    }
    let mut whole = Map::new();
    let target = keywords.get("$ref").and_then(Value::as_str).and_then(|to| subschema::resolve(root, to));
    let parts = keywords.get("allOf").and_then(Value::as_array).into_iter().flatten();
    let mut scalar = None;
    for part in target.into_iter().chain(parts) {
        match value(root, part, depth + 1)? {
            Value::Object(fields) => whole.extend(fields),
            other => scalar = Some(other),
        }
    }
    for keyword in ["oneOf", "anyOf"] {
        if let Some(branches) = keywords.get(keyword).and_then(Value::as_array) {
            // Nested deeply, the shortest way out of a recursive type is `null`.
            let null =
                branches.iter().find(|branch| branch["type"] == "null").filter(|_| depth >= DEPTH_FULL);
            let branch = null.map(|_| Value::Null);
            let mut values = branches.iter().filter(|branch| branch["type"] != "null");
            match branch.or_else(|| values.find_map(|branch| value(root, branch, depth + 1)))? {
                Value::Object(fields) => whole.extend(fields),
                other => scalar = Some(other),
            }
        }
    }
    let kind = match keywords.get("type") {
        Some(Value::String(name)) => Some(name.as_str()),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).find(|&name| name != "null"),
        _ => None,
    };
    match kind {
        Some("object") => whole.extend(fields(root, keywords, depth)?),
        None if keywords.contains_key("properties") => whole.extend(fields(root, keywords, depth)?),
        Some("array") => return array(root, keywords, depth),
        Some("string") => return Some(text(keywords)),
        Some("integer" | "number") => return Some(number(keywords, kind == Some("integer"))),
        Some("boolean") => return Some(json!(true)),
        Some("null") => return Some(Value::Null),
        _ => {}
    }
    match (scalar, kind) {
        (Some(scalar), _) if whole.is_empty() => Some(scalar),
        (None, None) if whole.is_empty() && keywords.is_empty() => Some(json!("anything")),
        _ => Some(Value::Object(whole)),
    }
}

fn fields(root: &Value, keywords: &Map<String, Value>, depth: usize) -> Option<Map<String, Value>> {
    let required = keywords.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|other| other == name));
    let mut fields = Map::new();
    for (name, schema) in keywords.get("properties").and_then(Value::as_object).into_iter().flatten() {
        match value(root, schema, depth + 1) {
            Some(field) if is_required(name) || depth < DEPTH_FULL => {
                drop(fields.insert(name.clone(), field))
            }
            None if is_required(name) => return None,
            _ => {}
        }
    }
    let rest = keywords.get("additionalProperties").filter(|rest| rest.is_object());
    if let Some(schema) = rest.filter(|_| fields.is_empty() && depth < DEPTH_FULL) {
        fields.extend(value(root, schema, depth + 1).map(|field| ("key".to_owned(), field)));
    }
    for (pattern, schema) in
        keywords.get("patternProperties").and_then(Value::as_object).into_iter().flatten()
    {
        let name = jsonschema_regex::pattern_witness(pattern).filter(|_| depth < DEPTH_FULL);
        fields.extend(name.zip(value(root, schema, depth + 1)));
    }
    Some(fields)
}

fn array(root: &Value, keywords: &Map<String, Value>, depth: usize) -> Option<Value> {
    let prefix = keywords.get("prefixItems").and_then(Value::as_array).into_iter().flatten();
    let mut items: Vec<Value> = prefix.map(|schema| value(root, schema, depth + 1)).collect::<Option<_>>()?;
    let min = keywords.get("minItems").and_then(Value::as_u64).unwrap_or(0);
    let max = keywords.get("maxItems").and_then(Value::as_u64).unwrap_or(u64::MAX);
    let wanted = if depth < DEPTH_FULL { min.max(1) } else { min }.min(max);
    if let Some(schema) = keywords.get("items").filter(|schema| schema.is_object()) {
        while (items.len() as u64) < wanted {
            match value(root, schema, depth + 1) {
                Some(item) => items.push(item),
                None if items.len() as u64 >= min => break,
                None => return None,
            }
        }
    }
    Some(Value::Array(items))
}

fn text(keywords: &Map<String, Value>) -> Value {
    let format = keywords.get("format").and_then(Value::as_str);
    if let Some(sample) = format.and_then(|format| formats::samples(format).first()) {
        return json!(sample);
    }
    if let Some(pattern) = keywords.get("pattern").and_then(Value::as_str) {
        return json!(jsonschema_regex::pattern_witness(pattern).unwrap_or_default());
    }
    let length = |keyword: &str| {
        keywords.get(keyword).and_then(Value::as_u64).and_then(|length| usize::try_from(length).ok())
    };
    let min = length("minLength").unwrap_or(0);
    let text: String = "text".chars().cycle().take(min.max(4)).collect();
    let max = length("maxLength").unwrap_or(usize::MAX);
    json!(text.chars().take(max).collect::<String>())
}

fn number(keywords: &Map<String, Value>, integer: bool) -> Value {
    let bound = |keyword: &str| keywords.get(keyword).and_then(Value::as_f64);
    let low =
        bound("minimum").unwrap_or(f64::MIN).max(bound("exclusiveMinimum").map_or(f64::MIN, |low| low + 1.0));
    let high = bound("maximum")
        .unwrap_or(f64::MAX)
        .min(bound("exclusiveMaximum").map_or(f64::MAX, |high| high - 1.0));
    let wanted = if integer { 42.0_f64 } else { 9.5 };
    let number = if low <= high { wanted.clamp(low, high) } else { wanted };
    #[expect(
        clippy::cast_possible_truncation,
        reason = "clamped into the range; the validator has the last word"
    )]
    if integer { json!(number.ceil() as i64) } else { json!(number) }
}
