//! A second opinion from an engine we did not write: containment of canonical schemas in the crate `jsonschema`.

use super::formats::Formats;
use jsonschema::canonical::{self, Containment};
use serde_json::Value;

/// Whether `sup` takes every value of `sub`; `None` where the engine can't tell.
pub(super) fn covers(sub: &Value, sup: &Value, formats: Formats) -> Option<bool> {
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
