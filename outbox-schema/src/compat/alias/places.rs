//! The parts of a schema, by their JSON pointers, that are about one place of a payload.

use super::super::open::{NESTING_MAX, escaped};
use super::parts;
use crate::subschema;
use serde_json::Value;
use std::collections::BTreeSet;

/// The nodes of `root` that apply to the value at `place`.
pub(super) fn nodes_at(root: &Value, place: &str) -> BTreeSet<String> {
    let mut nodes = BTreeSet::new();
    in_place(root, String::new(), NESTING_MAX, &mut nodes);
    for part in parts(place) {
        let mut next = BTreeSet::new();
        for inner in nodes.iter().flat_map(|node| inner(root, node, &part)) {
            in_place(root, inner, NESTING_MAX, &mut next);
        }
        nodes = next;
    }
    nodes
}

/// `pointer`, and every node that applies to the same value.
fn in_place(root: &Value, pointer: String, nesting: usize, found: &mut BTreeSet<String>) {
    let (Some(node), Some(nesting)) = (root.pointer(&pointer), nesting.checked_sub(1)) else { return };
    if !found.insert(pointer.clone()) {
        return;
    }
    let target = node.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
    if let Some(target) = target {
        let decoded = if root.pointer(target).is_none() { subschema::percent_decoded(target) } else { None };
        in_place(root, decoded.unwrap_or_else(|| target.to_owned()), nesting, found);
    }
    for keyword in ["allOf", "anyOf", "oneOf"] {
        for index in 0..node.get(keyword).and_then(Value::as_array).map_or(0, Vec::len) {
            in_place(root, format!("{pointer}/{keyword}/{index}"), nesting, found);
        }
    }
}

/// The nodes for the member `name` of what `node` describes.
fn inner(root: &Value, node: &str, name: &str) -> Vec<String> {
    let Some(Value::Object(keywords)) = root.pointer(node) else { return Vec::new() };
    if keywords.get("properties").is_some_and(|members| members.get(name).is_some()) {
        return vec![format!("{node}/properties/{}", escaped(name))];
    }
    let mut keys = vec!["additionalProperties".to_owned()];
    if name == "*" {
        keys.push("items".to_owned());
        let listed = keywords.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
        keys.extend((0..listed).map(|index| format!("prefixItems/{index}")));
    }
    keys.into_iter().map(|key| format!("{node}/{key}")).filter(|node| root.pointer(node).is_some()).collect()
}
