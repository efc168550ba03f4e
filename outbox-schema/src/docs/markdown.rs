//! The catalog as one Markdown page.

use crate::compat::example;
use crate::contract::ordering_word;
use crate::subschema;
use crate::{Catalog, Contract, ContractError, EventDescriptor, KeySource, OnPoison, OrderingMode};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Writes the page.
///
/// # Errors
/// [`ContractError`] of the first event that has no contract.
pub(crate) fn render(catalog: &Catalog) -> Result<String, ContractError> {
    let mut page = String::from("# Events\n\n");
    let mut by_type: BTreeMap<&str, Vec<&EventDescriptor>> = BTreeMap::new();
    for event in catalog.events() {
        by_type.entry(event.event_type).or_default().push(event);
    }
    overview(&mut page, catalog, &by_type);
    for (event_type, versions) in &by_type {
        put(&mut page, &format!("\n## {event_type}\n"));
        for event in versions.iter().rev() {
            version(&mut page, catalog, event)?;
        }
    }
    seen(&mut page, catalog);
    Ok(page)
}

fn put(page: &mut String, line: &str) {
    writeln!(page, "{line}").expect("a String takes any text");
}

fn overview(page: &mut String, catalog: &Catalog, by_type: &BTreeMap<&str, Vec<&EventDescriptor>>) {
    put(page, "| event | versions | topic | emitted by | consumed by |");
    put(page, "|---|---|---|---|---|");
    for (event_type, versions) in by_type {
        let numbers = versions.iter().map(|event| event.event_version.to_string());
        let topics: BTreeSet<&str> = versions.iter().map(|event| event.topic).collect();
        let emitters: BTreeSet<&str> = versions.iter().map(|event| event.emitted_by).collect();
        let consumers: BTreeSet<&str> =
            versions.iter().flat_map(|event| consumers_of(catalog, event)).map(|(name, _)| name).collect();
        put(
            page,
            &format!(
                "| [{event_type}](#{}) | {} | {} | {} | {} |",
                anchor(event_type),
                list(numbers),
                list(topics.iter().map(|&topic| topic.to_owned())),
                list(emitters.iter().map(|&name| name.to_owned())),
                list(consumers.iter().map(|&name| name.to_owned())),
            ),
        );
    }
}

fn version(page: &mut String, catalog: &Catalog, event: &EventDescriptor) -> Result<(), ContractError> {
    let contract = Contract::of(event)?;
    put(page, &format!("\n### {} version {}\n", event.event_type, event.event_version));
    if let Some(reason) = event.deprecated {
        put(page, &format!("**Deprecated**: {reason}\n"));
    }
    if !event.description.is_empty() {
        put(page, &format!("{}\n", event.description.trim()));
    }
    put(page, "| | |\n|---|---|");
    put(page, &format!("| topic | `{}` |", event.topic));
    put(page, &format!("| partition key | {} |", key_text(event.key)));
    put(page, &format!("| emitted by | {} |", event.emitted_by));
    let consumers = consumers_of(catalog, event);
    put(
        page,
        &format!(
            "| consumed by | {} |",
            list(consumers.iter().map(|(name, place)| format!("{name} (`{place}`)")))
        ),
    );
    put(page, &format!("| order | {} |", order_text(event)));
    put(page, "| delivery | at least once to each consumer; the writes of a handler are applied once |");
    put(page, &format!("| poison events | {} |", poison_text(event.on_poison)));
    put(page, &format!("| `dataschema` | `{}` |", crate::dataschema(event.event_type, event.event_version)));
    put(page, &format!("| Rust | `{}`, `{}:{}` |", event.rust_path, event.file, event.line));
    fields(page, event, &contract);
    match example(&contract.writes) {
        Some(payload) => {
            let text = serde_json::to_string_pretty(&payload).expect("a JSON value is always written");
            put(page, &format!("\nExample payload:\n\n```json\n{text}\n```"));
        }
        None => put(page, "\nNo example payload could be made from the contract."),
    }
    Ok(())
}

fn fields(page: &mut String, event: &EventDescriptor, contract: &Contract) {
    put(page, "\n| field | type | always written | needed to read | description |");
    put(page, "|---|---|---|---|---|");
    let named = |schema: &Value, keyword: &str, name: &str| {
        schema[keyword].as_array().is_some_and(|names| names.iter().any(|other| other == name))
    };
    let documents = (event.serialize_schema)();
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for schema in [&contract.writes, &contract.reads] {
        names.extend(
            schema["properties"].as_object().into_iter().flat_map(|fields| fields.keys().map(String::as_str)),
        );
    }
    let declared = |name: &str| {
        event.fields.iter().position(|field| field.writes == Some(name) || field.reads.contains(&name))
    };
    let mut names: Vec<&str> = names.into_iter().collect();
    // The members of the envelope, then the fields as the struct has them, then what is flattened into it.
    names.sort_by_key(|&name| {
        (!name.starts_with("event") || declared(name).is_some(), declared(name).unwrap_or(usize::MAX), name)
    });
    for name in names {
        let schema = [&contract.writes, &contract.reads]
            .into_iter()
            .find(|schema| !schema["properties"][name].is_null());
        let Some(schema) = schema else { continue };
        let doc = declared(name).map(|at| event.fields[at].description).filter(|doc| !doc.is_empty());
        let doc = doc.or_else(|| documents["properties"][name]["description"].as_str()).unwrap_or_default();
        let aliases = contract
            .aliases
            .get(name)
            .map(|names| format!(" (also read as {})", list(names.iter().map(|name| format!("`{name}`")))));
        put(
            page,
            &format!(
                "| `{name}` | {} | {} | {} | {}{} |",
                cell(&type_text(schema, &schema["properties"][name], 0)),
                yes_no(named(&contract.writes, "required", name)),
                yes_no(named(&contract.reads, "required", name)),
                cell(doc),
                aliases.unwrap_or_default(),
            ),
        );
    }
}

fn consumers_of<'a>(catalog: &'a Catalog, event: &EventDescriptor) -> Vec<(&'a str, String)> {
    let takes = |consumer: &&&crate::ConsumerEntry| {
        (consumer.events)()
            .iter()
            .any(|taken| (taken.event_type, taken.event_version) == (event.event_type, event.event_version))
    };
    let consumers = catalog.consumers().iter().filter(takes);
    consumers.map(|consumer| (consumer.name, format!("{}:{}", consumer.file, consumer.line))).collect()
}

fn seen(page: &mut String, catalog: &Catalog) {
    let crates =
        catalog.events().iter().map(|event| event.rust_path.split("::").next().unwrap_or_default().trim());
    let crates: BTreeSet<String> = crates.map(str::to_owned).collect();
    let consumers: BTreeSet<String> =
        catalog.consumers().iter().map(|consumer| consumer.package.to_owned()).collect();
    put(page, "\n## What this page has seen\n");
    put(
        page,
        &format!(
            "Events of the crates {}; consumers of the packages {}.",
            list(crates.into_iter()),
            list(consumers.into_iter())
        ),
    );
    put(
        page,
        "A crate that the xtask does not name (`use … as _;`), and a handler in a binary, are not in here.",
    );
}

fn key_text(key: KeySource) -> String {
    match key {
        KeySource::Field(name) => format!("the field `{name}`"),
        KeySource::Function(path) => format!("`{path}`"),
        KeySource::None => "none".to_owned(),
    }
}

fn order_text(event: &EventDescriptor) -> String {
    let word = ordering_word(event.ordering);
    match event.ordering {
        OrderingMode::Keyed => format!("{word}: events of one key arrive in the order of their transactions"),
        OrderingMode::Unordered => format!("{word}: events arrive in any order"),
    }
}

fn poison_text(policy: OnPoison) -> &'static str {
    match policy {
        OnPoison::Park => "park: set aside as a dead letter; later events of its key wait for a person",
        OnPoison::Block => "block: tried again without end; later events of its key wait",
        OnPoison::Skip => "skip: set aside as a dead letter; later events go on",
    }
}

/// A type as readers in any language know it.
fn type_text(root: &Value, schema: &Value, nesting: usize) -> String {
    let Some(keywords) = schema.as_object().filter(|_| nesting < 4) else { return "any".to_owned() };
    if let Some(values) = keywords.get("enum").and_then(Value::as_array) {
        return values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(" or ");
    }
    if let Some(value) = keywords.get("const") {
        return format!("`{value}`");
    }
    if let Some(reference) = keywords.get("$ref").and_then(Value::as_str) {
        let name = reference.rsplit('/').next().unwrap_or(reference);
        let simple = subschema::resolve(root, reference).filter(|target| target.get("properties").is_none());
        return simple.map_or_else(
            || name.to_owned(),
            |target| format!("{name}: {}", type_text(root, target, nesting + 1)),
        );
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(branches) = keywords.get(keyword).and_then(Value::as_array) {
            return branches
                .iter()
                .map(|branch| type_text(root, branch, nesting + 1))
                .collect::<Vec<_>>()
                .join(" or ");
        }
    }
    let inner = |keyword: &str| keywords.get(keyword).map(|schema| type_text(root, schema, nesting + 1));
    let of = |name: &str| match name {
        "array" => format!("list of {}", inner("items").unwrap_or_else(|| "any".to_owned())),
        "object" if keywords.contains_key("properties") => "object".to_owned(),
        "object" => format!("map of {}", inner("additionalProperties").unwrap_or_else(|| "any".to_owned())),
        name => match keywords.get("format").and_then(Value::as_str) {
            Some(format) if name != "null" => format!("{name} ({format})"),
            _ => name.to_owned(),
        },
    };
    match keywords.get("type") {
        Some(Value::String(name)) => of(name),
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).map(of).collect::<Vec<_>>().join(" or ")
        }
        _ => "any".to_owned(),
    }
}

fn yes_no(yes: bool) -> &'static str {
    if yes { "yes" } else { "no" }
}

fn list(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// Text that fits into one cell of a table.
fn cell(text: &str) -> String {
    text.trim().replace('|', "\\|").replace("\r\n", " ").replace('\n', " ")
}

/// The anchor that Markdown renderers give to a heading.
fn anchor(heading: &str) -> String {
    heading
        .chars()
        .filter(|character| character.is_alphanumeric() || ['-', '_'].contains(character))
        .collect()
}
