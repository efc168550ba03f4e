//! Whether a schema can be judged at all: what it refers to is there, and its patterns compile.

use crate::subschema;
use serde_json::Value;

/// What makes the schema unusable, as the end of a sentence that begins with its name.
pub(crate) fn fault(schema: &Value) -> Option<String> {
    let mut found = Found::default();
    found.look(schema);
    if let Some(pattern) = found.patterns.iter().find(|pattern| !compiles(pattern)) {
        return Some(format!("has the pattern `{pattern}`, which does not compile; correct it"));
    }
    let is_absent = |reference: &&String| subschema::resolve(schema, reference).is_none();
    let absent = found.references.iter().find(is_absent)?;
    // It may be told by an anchor or an `$id`, which the validator knows.
    let error = jsonschema::options().offline().build(schema).err()?;
    let is_address = absent.contains("://");
    Some(match is_address {
        true => format!("refers to `{absent}`, and nothing is fetched; put that schema into `$defs`"),
        false => format!("refers to `{absent}`, which is not in it ({error}); put that schema into `$defs`"),
    })
}

#[derive(Default)]
struct Found {
    references: Vec<String>,
    patterns: Vec<String>,
}

impl Found {
    fn look(&mut self, node: &Value) {
        let Value::Object(keywords) = node else { return };
        let text = |keyword| keywords.get(keyword).and_then(Value::as_str).map(str::to_owned);
        self.references.extend(text("$ref"));
        self.patterns.extend(text("pattern"));
        let named = keywords.get("patternProperties").and_then(Value::as_object);
        self.patterns.extend(named.into_iter().flat_map(|named| named.keys().cloned()));
        subschema::for_each(keywords, &mut |child| self.look(child));
    }
}

fn compiles(pattern: &str) -> bool {
    let plain = pattern.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"^$-_ ".contains(&byte));
    plain || jsonschema::options().build(&serde_json::json!({ "pattern": pattern })).is_ok()
}
