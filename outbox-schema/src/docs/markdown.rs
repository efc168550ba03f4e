//! The catalog as one Markdown page.

use super::fields;
use super::versions::{self, Reader, readers};
use crate::compat::example;
use crate::contract::{AsItTravels, ordering_word};
use crate::{Catalog, Contract, ContractError, EventDescriptor, KeySource, OnPoison, OrderingMode};
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
        versions::table(&mut page, catalog, versions);
        for event in versions.iter().rev() {
            version(&mut page, catalog, event)?;
        }
    }
    seen(&mut page, catalog);
    Ok(page)
}

pub(super) fn put(page: &mut String, line: &str) {
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
            versions.iter().flat_map(|event| readers(catalog, event)).map(|one| one.consumer.name).collect();
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
    if let Some(day) = event.retired {
        put(page, &format!("**Retired** on {day}: it is kept through that day.\n"));
    }
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
    let consumers = readers(catalog, event);
    put(page, &format!("| consumed by | {} |", list(consumers.iter().map(reader_text))));
    put(page, &format!("| order | {} |", order_text(event)));
    put(page, "| delivery | at least once to each consumer; the writes of a handler are applied once |");
    put(page, &format!("| poison events | {} |", poison_text(event.on_poison)));
    put(page, &format!("| `dataschema` | `{}` |", crate::dataschema(event.event_type, event.event_version)));
    put(page, &format!("| Rust | `{}`, `{}:{}` |", event.rust_path, event.file, event.line));
    fields::tables(page, event, &contract);
    match example(&contract.writes) {
        Some(payload) => {
            let text =
                serde_json::to_string_pretty(&AsItTravels(&payload)).expect("a JSON value is always written");
            put(page, &format!("\nExample payload:\n\n```json\n{text}\n```"));
        }
        None => put(page, "\nNo example payload could be made from the contract."),
    }
    Ok(())
}

fn reader_text(reader: &Reader<'_>) -> String {
    let consumer = reader.consumer;
    let way = reader.upcast_to.map(|version| format!(", as version {version}")).unwrap_or_default();
    format!("{} (`{}:{}`){way}", consumer.name, consumer.file, consumer.line)
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
            "Events of {}; consumers of {}.",
            named_list(&crates, "crate"),
            named_list(&consumers, "package")
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

pub(super) fn list(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// `the crate a`, `the crates a, b`, or `no crate`.
fn named_list(names: &BTreeSet<String>, one: &str) -> String {
    let all = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match names.len() {
        0 => format!("no {one}"),
        1 => format!("the {one} {all}"),
        _ => format!("the {one}s {all}"),
    }
}

/// Text that fits into one cell of a table.
pub(super) fn cell(text: &str) -> String {
    text.trim().replace('|', "\\|").replace("\r\n", " ").replace('\n', " ")
}

/// The anchor that Markdown renderers give to a heading.
fn anchor(heading: &str) -> String {
    heading
        .chars()
        .filter(|character| character.is_alphanumeric() || ['-', '_'].contains(character))
        .collect()
}
