//! Brings a JSON Schema of any common draft into the one form the engine reads: draft 2020-12, references followed,
//! nothing that does not decide, integer formats as ranges.

mod address;
mod dialect;
mod reference;
mod unevaluated;

use super::formats;
use crate::contract::{in_order, sorted};
use crate::subschema;
use dialect::Dialect;
use serde_json::{Map, Number, Value};

/// The normal form of `schema`.
///
/// # Errors
/// The reason why the schema can't be read.
pub(super) fn normalise(schema: &Value) -> Result<Value, String> {
    let dialect = Dialect::of(schema);
    let mut bundled = reference::bundle(&in_order(schema), dialect)?;
    normalise_node(&mut bundled);
    if !unevaluated::is_mentioned(&bundled) {
        return Ok(sorted(bundled));
    }
    let rewriter = unevaluated::Rewriter { root: &bundled, contains_evaluates: dialect.contains_evaluates() };
    Ok(sorted(rewriter.rewrite(&bundled)))
}

fn normalise_node(node: &mut Value) {
    let Value::Object(keywords) = node else { return };
    modernise(keywords);
    bound_integers(keywords);
    for keyword in ["enum", "required"] {
        if let Some(Value::Array(values)) = keywords.get_mut(keyword) {
            if values.iter().all(Value::is_string) {
                values.sort_unstable_by(|left, right| left.as_str().cmp(&right.as_str()));
            } else {
                values.sort_by_cached_key(Value::to_string);
            }
            values.dedup();
        }
    }
    subschema::for_each_mut(keywords, &mut normalise_node);
}

/// Rewrites the keywords of older drafts.
fn modernise(keywords: &mut Map<String, Value>) {
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
    let small = i64::try_from(number).map(Value::from).or_else(|_| u64::try_from(number).map(Value::from));
    #[expect(
        clippy::cast_precision_loss,
        reason = "larger bounds are round numbers, which a float holds as JSON writes them"
    )]
    small.ok().or_else(|| Number::from_f64(number as f64).map(Value::Number))
}

#[cfg(test)]
mod tests;
