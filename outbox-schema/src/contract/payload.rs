//! Turns the schema of a Rust type into the schema of its payload as it travels.

use super::{ContractError, tidy::tidy};
use crate::{EventDescriptor, subschema};
#[cfg(feature = "xtask")]
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The member that names the event type.
pub(super) const TYPE_MEMBER: &str = "eventType";
/// The member that names the event version.
pub(super) const VERSION_MEMBER: &str = "eventVersion";
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Adds `eventType` and `eventVersion` to the root of `schema`, and to nothing the root refers to.
pub(super) fn as_it_travels(mut schema: Value, event: &EventDescriptor) -> Result<Value, ContractError> {
    let name = schema.get("title").and_then(Value::as_str).unwrap_or("Payload").to_owned();
    tidy(&mut schema);
    let mut schema = with_named_root(schema, &name);
    let not_an_object =
        ContractError::NotAnObject { event: event.rust_path, file: event.file, line: event.line };
    inline_root_reference(&mut schema);
    let members = members(&schema);
    if let Some(member) = [TYPE_MEMBER, VERSION_MEMBER].into_iter().find(|&member| members.contains(member)) {
        let line = event.flattened(member).map_or(event.line, |field| field.line);
        return Err(ContractError::Reserved { event: event.rust_path, member, file: event.file, line });
    }
    if !takes_objects(&schema) {
        return Err(not_an_object);
    }
    let Value::Object(root) = &mut schema else { return Err(not_an_object) };
    admit_members(root);
    let properties = root.entry("properties").or_insert_with(|| json!({}));
    properties[TYPE_MEMBER] = json!({ "type": "string", "const": event.event_type });
    properties[VERSION_MEMBER] = json!({ "type": "integer", "const": event.event_version });
    let own = root.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let first = [TYPE_MEMBER, VERSION_MEMBER].map(Value::from);
    root.insert("required".to_owned(), first.into_iter().chain(own).collect());
    root.insert("type".to_owned(), Value::from("object"));
    root.insert("$schema".to_owned(), Value::from(DIALECT));
    Ok(schema)
}

/// A type that contains itself refers to the root as `#`. Inside, it has no `eventType`, so those references are
/// turned to a definition of its own.
fn with_named_root(mut schema: Value, name: &str) -> Value {
    if !refers_to_root(&mut schema) {
        return schema;
    }
    let mut definitions = match schema.as_object_mut().and_then(|root| root.remove("$defs")) {
        Some(Value::Object(definitions)) => definitions,
        _ => Map::new(),
    };
    let mut key = name.to_owned();
    while definitions.contains_key(&key) {
        key.push('_');
    }
    let target = format!("#/$defs/{}", key.replace('~', "~0").replace('/', "~1"));
    retarget(&mut schema, &target);
    definitions.values_mut().for_each(|definition| retarget(definition, &target));
    definitions.insert(key, schema.clone());
    schema["$defs"] = Value::Object(definitions);
    schema
}

/// A payload with `eventType` and `eventVersion` first, as enqueue writes it.
#[cfg(feature = "xtask")]
pub(crate) struct AsItTravels<'a>(pub(crate) &'a Value);

#[cfg(feature = "xtask")]
impl Serialize for AsItTravels<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(members) = self.0.as_object() else { return self.0.serialize(serializer) };
        let first = [TYPE_MEMBER, VERSION_MEMBER];
        let envelope = first.iter().filter_map(|&name| members.get_key_value(name));
        let rest = members.iter().filter(|(name, _)| !first.contains(&name.as_str()));
        serializer.collect_map(envelope.chain(rest))
    }
}

/// The text of a payload as the type reads it, which has no part in `eventType` and `eventVersion`.
#[cfg(feature = "xtask")]
pub(crate) fn text_without_members(payload: &Value) -> String {
    struct Own<'a>(&'a Map<String, Value>);
    impl Serialize for Own<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_map(self.0.iter().filter(|(name, _)| !super::MEMBERS.contains(&name.as_str())))
        }
    }
    let text = payload.as_object().and_then(|payload| serde_json::to_string(&Own(payload)).ok());
    text.unwrap_or_else(|| payload.to_string())
}

fn refers_to_root(node: &mut Value) -> bool {
    let Value::Object(keywords) = node else { return false };
    let mut found = keywords.get("$ref").and_then(Value::as_str) == Some("#");
    subschema::for_each_mut(keywords, &mut |child| found |= refers_to_root(child));
    found
}

fn retarget(node: &mut Value, target: &str) {
    let Value::Object(keywords) = node else { return };
    if keywords.get("$ref").and_then(Value::as_str) == Some("#") {
        keywords.insert("$ref".to_owned(), Value::from(target));
    }
    subschema::for_each_mut(keywords, &mut |child| retarget(child, target));
}

/// A root that is only a reference becomes a copy of what it names, as the named type may also stand elsewhere.
fn inline_root_reference(schema: &mut Value) {
    let Some(reference) = schema.get("$ref").and_then(Value::as_str).map(str::to_owned) else { return };
    let Some(Value::Object(target)) = subschema::resolve(schema, &reference).cloned() else { return };
    if let Value::Object(root) = schema
        && root.keys().all(|keyword| keyword == "$ref" || keyword == "$defs")
    {
        root.remove("$ref");
        root.extend(target);
    }
}

/// Calls `visit` on the schemas that apply to the very value that `node` applies to.
fn in_place<'a>(root: &'a Value, node: &'a Value, visit: &mut dyn FnMut(&'a Value, Option<&'a str>)) {
    for keyword in ["allOf", "anyOf", "oneOf"] {
        for branch in node.get(keyword).and_then(Value::as_array).into_iter().flatten() {
            visit(branch, None);
        }
    }
    if let Some(reference) = node.get("$ref").and_then(Value::as_str)
        && let Some(target) = subschema::resolve(root, reference)
    {
        visit(target, Some(reference));
    }
}

/// The names of all fields that a value of `schema` may have.
pub(crate) fn members(schema: &Value) -> BTreeSet<&str> {
    let mut members = BTreeSet::new();
    collect_members(schema, schema, &mut BTreeSet::new(), &mut members);
    members
}

fn collect_members<'a>(
    root: &'a Value,
    node: &'a Value,
    seen: &mut BTreeSet<&'a str>,
    members: &mut BTreeSet<&'a str>,
) {
    members.extend(
        node.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys).map(String::as_str),
    );
    members.extend(
        node.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str),
    );
    in_place(root, node, &mut |child, reference| {
        if reference.is_none_or(|reference| seen.insert(reference)) {
            collect_members(root, child, seen, members);
        }
    });
}

/// Whether an object can satisfy the root, as far as its `type` keywords say.
fn takes_objects(schema: &Value) -> bool {
    let allows = match schema.get("type") {
        None => true,
        Some(Value::String(name)) => name == "object",
        Some(Value::Array(names)) => names.iter().any(|name| name == "object"),
        Some(_) => false,
    };
    let branches = |keyword| schema.get(keyword).and_then(Value::as_array);
    allows
        && !["enum", "const"].iter().any(|&keyword| schema.get(keyword).is_some())
        && branches("oneOf").is_none_or(|branches| branches.iter().any(takes_objects))
        && branches("anyOf").is_none_or(|branches| branches.iter().any(takes_objects))
}

/// Lets the two members pass where a branch of the root admits no others.
fn admit_members(keywords: &mut Map<String, Value>) {
    for keyword in ["allOf", "anyOf", "oneOf"] {
        for branch in keywords.get_mut(keyword).and_then(Value::as_array_mut).into_iter().flatten() {
            let Value::Object(branch) = branch else { continue };
            if branch.contains_key("additionalProperties") {
                let properties = branch.entry("properties").or_insert_with(|| json!({}));
                properties[TYPE_MEMBER] = Value::Bool(true);
                properties[VERSION_MEMBER] = Value::Bool(true);
            }
            admit_members(branch);
        }
    }
}
