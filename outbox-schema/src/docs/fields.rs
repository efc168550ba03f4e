//! The fields of an event and of the types inside it, as Markdown tables.

use super::markdown::{cell, list, put};
use crate::compat::variant_name;
use crate::{Contract, EventDescriptor, subschema};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Types inside of types that are written out in one cell.
const NESTING_MAX: usize = 4;

/// One table for the event, and one for each struct inside it.
pub(super) fn tables(page: &mut String, event: &EventDescriptor, contract: &Contract) {
    let documents = (event.serialize_schema)();
    let declared = |name: &str| {
        event.fields.iter().position(|field| field.writes == Some(name) || field.reads.contains(&name))
    };
    let event_type = Type {
        writes: &contract.writes,
        reads: &contract.reads,
        describe: &|name| {
            let own = declared(name).map(|at| event.fields[at].description).filter(|doc| !doc.is_empty());
            let aliases = contract.aliases.get(name);
            let aliases = aliases.map(|names| list(names.iter().map(|name| format!("`{name}`"))));
            let text = own.map(str::to_owned).or_else(|| description(&documents["properties"][name]));
            let also = aliases.map(|names| format!("Also read as {names}."));
            text.into_iter().chain(also).collect::<Vec<_>>().join(" ")
        },
    };
    // The members of the envelope, then the fields as the struct has them, then what is flattened into it.
    let order = |name: &str| {
        let at = declared(name).unwrap_or(usize::MAX);
        (
            at == usize::MAX && name != "eventType" && name != "eventVersion",
            at.wrapping_add(1),
            name.to_owned(),
        )
    };
    let mut names: Vec<&str> = event_type.names().into_iter().collect();
    names.sort_by_key(|name| order(name));
    put(page, "");
    event_type.table(page, contract, &names);
    let definitions = |schema: &'_ Value| schema["$defs"].as_object().cloned().unwrap_or_default();
    let (writes, reads) = (definitions(&contract.writes), definitions(&contract.reads));
    let all: BTreeSet<&String> = writes.keys().chain(reads.keys()).collect();
    for name in all {
        let inner = Type {
            writes: writes.get(name).unwrap_or(&Value::Null),
            reads: reads.get(name).unwrap_or(&Value::Null),
            describe: &|field| {
                description(&documents["$defs"][name]["properties"][field]).unwrap_or_default()
            },
        };
        let names: Vec<&str> = inner.names().into_iter().collect();
        if !names.is_empty() {
            put(page, &format!("\n`{name}`:\n"));
            inner.table(page, contract, &names);
        }
    }
}

/// A struct from both sides.
struct Type<'a> {
    writes: &'a Value,
    reads: &'a Value,
    describe: &'a dyn Fn(&str) -> String,
}

impl Type<'_> {
    fn names(&self) -> BTreeSet<&str> {
        let fields =
            [self.writes, self.reads].into_iter().filter_map(|schema| schema["properties"].as_object());
        fields.flat_map(|fields| fields.keys().map(String::as_str)).collect()
    }

    fn table(&self, page: &mut String, contract: &Contract, names: &[&str]) {
        put(page, "| field | type | always written | needed to read | description |");
        put(page, "|---|---|---|---|---|");
        for &name in names {
            let written = (&contract.writes, &self.writes["properties"][name]);
            let read = (&contract.reads, &self.reads["properties"][name]);
            let (root, schema) = if written.1.is_null() { read } else { written };
            let row = [
                cell(&type_text(root, schema, 0)),
                yes_no(requires(self.writes, name)).to_owned(),
                yes_no(requires(self.reads, name)).to_owned(),
                cell(&(self.describe)(name)),
            ];
            put(page, &format!("| `{name}` | {} |", row.join(" | ")));
        }
    }
}

fn description(schema: &Value) -> Option<String> {
    schema["description"].as_str().map(str::to_owned)
}

fn requires(schema: &Value, name: &str) -> bool {
    schema["required"].as_array().is_some_and(|names| names.iter().any(|other| other == name))
}

fn yes_no(yes: bool) -> &'static str {
    if yes { "yes" } else { "no" }
}

/// A type as readers in any language know it.
fn type_text(root: &Value, schema: &Value, nesting: usize) -> String {
    let Some(keywords) = schema.as_object().filter(|_| nesting < NESTING_MAX) else {
        return "any".to_owned();
    };
    if let Some(value) = keywords.get("const") {
        return format!("`{value}`");
    }
    if let Some(values) = keywords.get("enum").and_then(Value::as_array) {
        return values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(" or ");
    }
    if let Some(reference) = keywords.get("$ref").and_then(Value::as_str) {
        let name = reference.rsplit('/').next().unwrap_or(reference);
        // A struct has a table of its own.
        let target = subschema::resolve(root, reference).filter(|target| target.get("properties").is_none());
        let spelled = target.map(|target| format!("{name}: {}", type_text(root, target, nesting + 1)));
        return spelled.unwrap_or_else(|| name.to_owned());
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(branches) = keywords.get(keyword).and_then(Value::as_array) {
            let texts = branches.iter().map(|branch| match variant_name(root, branch) {
                Some(_) => object_text(root, branch, nesting),
                None => type_text(root, branch, nesting + 1),
            });
            return texts.collect::<Vec<_>>().join(" or ");
        }
    }
    let named = |name: &str| kind_text(root, keywords, name, nesting);
    match keywords.get("type") {
        Some(Value::String(name)) => named(name),
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).map(named).collect::<Vec<_>>().join(" or ")
        }
        _ => "any".to_owned(),
    }
}

fn kind_text(root: &Value, keywords: &Map<String, Value>, name: &str, nesting: usize) -> String {
    let inner = |keyword: &str| match keywords.get(keyword) {
        Some(schema) => type_text(root, schema, nesting + 1),
        None => "any".to_owned(),
    };
    match (name, keywords.get("format").and_then(Value::as_str)) {
        ("array", _) if keywords.contains_key("prefixItems") => "tuple".to_owned(),
        ("array", _) => format!("list of {}", inner("items")),
        ("object", _) if keywords.contains_key("properties") => {
            object_text(root, &Value::Object(keywords.clone()), nesting)
        }
        ("object", _) => format!("map of {}", inner("additionalProperties")),
        (name, Some(format)) if name != "null" => format!("{name} ({format})"),
        (name, _) => name.to_owned(),
    }
}

/// An object that has no name of its own, with its fields.
fn object_text(root: &Value, schema: &Value, nesting: usize) -> String {
    let fields = schema["properties"].as_object().into_iter().flatten();
    let fields = fields.map(|(name, field)| format!("{name}: {}", type_text(root, field, nesting + 1)));
    let whole = schema["$ref"]
        .as_str()
        .map(|_| type_text(root, &serde_json::json!({ "$ref": schema["$ref"] }), nesting + 1));
    format!("{{{}}}", fields.chain(whole).collect::<Vec<_>>().join(", "))
}
