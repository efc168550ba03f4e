//! Makes a reader take whatever stands at one place of a payload, so that the next break comes to light.

use crate::subschema;
use serde_json::{Map, Value};

/// Schemas that are looked at; types that contain themselves in several ways would take for ever.
const NODES_MAX: usize = 10_000;

/// The same reader, without any demand on the value at `path`, where `*` is any item of a list or value of a map. It
/// takes at least what `reader` takes. `None` if nothing in it is about that place.
pub(super) fn loosen(reader: &Value, path: &[String]) -> Option<Value> {
    let mut loosened = reader.clone();
    let mut loosening = Loosening { root: reader, nodes: 0, open: Vec::new() };
    let is_changed = loosening.at(&mut loosened, path);
    (is_changed && loosening.nodes <= NODES_MAX).then_some(loosened)
}

struct Loosening<'a> {
    root: &'a Value,
    nodes: usize,
    /// References that are being followed, each with how much of the path was left. One that leads to itself says
    /// nothing new.
    open: Vec<(String, usize)>,
}

impl Loosening<'_> {
    /// Whether anything changed in `node`.
    fn at(&mut self, node: &mut Value, path: &[String]) -> bool {
        self.nodes += 1;
        let Some((name, rest)) = path.split_first() else {
            let is_changed = *node != Value::Bool(true);
            *node = Value::Bool(true);
            return is_changed;
        };
        let Value::Object(keywords) = node else { return false };
        if self.nodes > NODES_MAX {
            return false;
        }
        let mut is_changed = self.reference(keywords, path);
        for keyword in ["allOf", "anyOf", "oneOf"] {
            is_changed |= self.branches(keywords, keyword, path);
        }
        is_changed | self.inside(keywords, name, rest)
    }

    /// Puts what a reference names in its place, if it is about the path: elsewhere it still means the same.
    fn reference(&mut self, keywords: &mut Map<String, Value>, path: &[String]) -> bool {
        let Some(reference) = keywords.get("$ref").and_then(Value::as_str) else { return false };
        let Some(mut target) = subschema::resolve(self.root, reference).cloned() else { return false };
        let open = (reference.to_owned(), path.len());
        if self.open.contains(&open) {
            return false;
        }
        self.open.push(open);
        let is_changed = self.at(&mut target, path);
        self.open.pop();
        if is_changed {
            keywords.remove("$ref");
            also(keywords, target);
        }
        is_changed
    }

    fn branches(&mut self, keywords: &mut Map<String, Value>, keyword: &str, path: &[String]) -> bool {
        let Some(Value::Array(branches)) = keywords.get_mut(keyword) else { return false };
        let mut is_changed = false;
        for branch in branches.iter_mut() {
            is_changed |= self.at(branch, path);
        }
        // More branches may fit now, which `oneOf` would refuse.
        if is_changed && keyword == "oneOf" {
            let branches = keywords.remove(keyword).unwrap_or_default();
            also(keywords, serde_json::json!({ "anyOf": branches }));
        }
        is_changed
    }

    /// Loosens the parts of the value that `keywords` is about.
    fn inside(&mut self, keywords: &mut Map<String, Value>, name: &str, rest: &[String]) -> bool {
        let mut is_changed = false;
        if name == "*" {
            for keyword in ["items", "additionalProperties"] {
                is_changed |= keywords.get_mut(keyword).is_some_and(|part| self.at(part, rest));
            }
            for part in keywords.get_mut("prefixItems").and_then(Value::as_array_mut).into_iter().flatten() {
                is_changed |= self.at(part, rest);
            }
            return is_changed;
        }
        let is_closed = ["additionalProperties", "unevaluatedProperties"]
            .iter()
            .any(|&keyword| keywords.get(keyword) == Some(&Value::Bool(false)));
        let field = keywords.get_mut("properties").and_then(|fields| fields.get_mut(name));
        match field {
            Some(field) => is_changed |= self.at(field, rest),
            None if is_closed && rest.is_empty() => {
                let fields = keywords.entry("properties").or_insert_with(|| Value::Object(Map::new()));
                fields[name] = Value::Bool(true);
                is_changed = true;
            }
            None => {
                is_changed |=
                    keywords.get_mut("additionalProperties").is_some_and(|part| self.at(part, rest));
            }
        }
        if let (true, Some(Value::Array(required))) = (rest.is_empty(), keywords.get_mut("required")) {
            let before = required.len();
            required.retain(|required| required != name);
            is_changed |= required.len() < before;
        }
        is_changed
    }
}

/// Adds a schema that has to fit as well.
fn also(keywords: &mut Map<String, Value>, schema: Value) {
    let parts = keywords.entry("allOf").or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(parts) = parts {
        parts.push(schema);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn loosened(reader: &Value, path: &str) -> Option<Value> {
        loosen(reader, &path.split('/').skip(1).map(str::to_owned).collect::<Vec<_>>())
    }

    /// Whether the reader takes the value, before and after.
    fn takes(reader: &Value, path: &str, value: &Value) -> (bool, bool) {
        let loose = loosened(reader, path).unwrap();
        (jsonschema::is_valid(reader, value), jsonschema::is_valid(&loose, value))
    }

    #[test]
    fn whatever_is_demanded_of_the_place_is_gone_and_nothing_else() {
        let line =
            json!({ "type": "object", "properties": { "sku": { "type": "string" } }, "required": ["sku"] });
        let reader = json!({
            "$defs": { "Line": line },
            "type": "object",
            "properties": {
                "id": { "type": "string" },
                "lines": { "type": "array", "items": { "$ref": "#/$defs/Line" } },
                "first": { "$ref": "#/$defs/Line" },
            },
            "required": ["id", "lines"],
            "additionalProperties": false,
        });
        let valid = json!({ "id": "a", "lines": [{ "sku": "b" }] });
        assert_eq!(takes(&reader, "/id", &valid), (true, true));
        for (path, value) in [
            ("/id", json!({ "id": 1, "lines": [] })),
            ("/id", json!({ "lines": [] })),
            ("/lines/*/sku", json!({ "id": "a", "lines": [{ "sku": 1 }, {}] })),
            ("/new", json!({ "id": "a", "lines": [], "new": 1 })),
        ] {
            assert_eq!(takes(&reader, path, &value), (false, true), "{path}");
        }
        // The same type at another place is as strict as before.
        let first = json!({ "id": "a", "lines": [], "first": { "sku": 1 } });
        assert_eq!(takes(&reader, "/lines/*/sku", &first), (false, false));
        assert_eq!(loosened(&reader, ""), Some(json!(true)));
        assert_eq!(loosened(&reader, "/id/deeper"), None);
    }

    #[test]
    fn branches_and_maps_are_loosened_too() {
        let branch =
            |kind: &str| json!({ "properties": { "kind": { "const": kind }, "n": { "type": "integer" } } });
        let union = json!({ "oneOf": [branch("a"), branch("b")] });
        assert_eq!(takes(&union, "/n", &json!({ "kind": "a", "n": "x" })), (false, true));
        assert_eq!(takes(&union, "/kind", &json!({ "kind": "c", "n": 1 })), (false, true));
        let map = json!({ "additionalProperties": { "properties": { "n": { "type": "integer" } } } });
        assert_eq!(takes(&map, "/some/n", &json!({ "some": { "n": "x" } })), (false, true));
        assert_eq!(takes(&map, "/*/n", &json!({ "1": { "n": "x" } })), (false, true));
    }

    #[test]
    fn a_type_that_contains_itself_in_many_ways_ends() {
        let twice =
            json!({ "anyOf": [{ "$ref": "#" }, { "$ref": "#" }], "properties": { "a": { "type": "null" } } });
        assert!(loosened(&twice, "/b").is_none());
    }
}
