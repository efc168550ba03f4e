//! A second opinion from an engine we did not write: containment of canonical schemas in the crate `jsonschema`.

use super::formats::Formats;
use crate::subschema;
use jsonschema::canonical::{self, Containment};
use serde_json::Value;

/// Conditions that may multiply, and bytes of text, beyond which the engine is not asked: it has no limit of its own.
const CONDITIONS_MAX: usize = 12;
const BYTES_MAX: usize = 64 << 10;

/// Whether `sup` takes every value of `sub`; `None` where the engine can't tell.
pub(super) fn covers(sub: &Value, sup: &Value, formats: Formats) -> Option<bool> {
    if [sub, sup].iter().any(|schema| is_too_large(schema)) {
        return None;
    }
    let canonical = |schema: &Value| {
        canonical::options()
            .with_draft(jsonschema::Draft::Draft202012)
            .should_validate_formats(formats == Formats::Asserted)
            .offline()
            .canonicalize(schema)
            .ok()
    };
    match canonical(sup)?.covers(&canonical(sub)?) {
        Ok(Containment::Yes) => Some(true),
        Ok(Containment::No) => Some(false),
        Ok(Containment::Unknown) | Err(_) => None,
    }
}

fn is_too_large(schema: &Value) -> bool {
    conditions(schema) > CONDITIONS_MAX || schema.to_string().len() > BYTES_MAX
}

/// How often what a schema asks for depends on something else.
fn conditions(schema: &Value) -> usize {
    let Value::Object(keywords) = schema else { return 0 };
    let own = keywords.iter().map(|(keyword, value)| match keyword.as_str() {
        "dependentRequired" | "dependentSchemas" => value.as_object().map_or(0, |named| named.len()),
        "if" | "not" => 1,
        _ => 0,
    });
    let mut count = own.sum();
    subschema::for_each(keywords, &mut |child| count += conditions(child));
    count
}
