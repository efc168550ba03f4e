//! Reads the attributes of an event: `#[event(…)]`, doc comments, and in [`serde`] those that shape its JSON.

mod serde;

pub(super) use serde::{SerdeContainer, SerdeField, in_case};

use crate::entry::{self, Entry};
use crate::mistakes::Mistakes;
use proc_macro2::TokenStream;
use syn::{Attribute, Expr, ExprLit, Ident, Lit, LitInt, LitStr, Meta, Path};

const CONTAINER_KEYS: &[&str] = &[
    "type",
    "version",
    "topic",
    "key_with",
    "unordered",
    "on_poison",
    "upcast_from",
    "also_as",
    "emitted_by",
    "deprecated",
    "retired",
    "crate",
];
const FIELD_KEYS: &[&str] = &["key"];

/// `#[event(…)]` on the struct.
#[derive(Default)]
pub(super) struct EventAttr {
    /// The `event` of the first attribute, to point at when something is missing.
    pub(super) place: Option<Path>,
    pub(super) event_type: Option<LitStr>,
    pub(super) version: Option<LitInt>,
    pub(super) topic: Option<LitStr>,
    pub(super) key_with: Option<Path>,
    pub(super) unordered: Option<Ident>,
    pub(super) on_poison: Option<LitStr>,
    pub(super) upcast_from: Option<Path>,
    pub(super) also_as: Option<Path>,
    pub(super) emitted_by: Option<LitStr>,
    pub(super) deprecated: Option<LitStr>,
    pub(super) retired: Option<LitStr>,
    pub(super) root: Option<Path>,
    given: Vec<String>,
    /// Whether an attribute could not be read at all, so that nobody knows what is missing.
    pub(super) unreadable: bool,
}

impl EventAttr {
    pub(super) fn read(attrs: &[Attribute], mistakes: &mut Mistakes) -> Self {
        let mut read = Self::default();
        for attr in event_attributes(attrs) {
            let Some((place, inside)) = inside(attr, mistakes) else {
                read.unreadable = true;
                continue;
            };
            read.place.get_or_insert(place);
            for entry in entry::read(inside, mistakes) {
                read.take(&entry, mistakes);
                read.given.push(entry.name());
            }
        }
        read
    }

    /// Whether the key stands there, be its value right or wrong.
    pub(super) fn names(&self, key: &str) -> bool {
        self.given.iter().any(|given| given == key)
    }

    fn take(&mut self, entry: &Entry, mistakes: &mut Mistakes) {
        let key = &entry.key;
        match entry.name().as_str() {
            "type" => entry.text(&mut self.event_type, "type = \"orders.placed\"", mistakes),
            "version" => entry.number(&mut self.version, "version = 1", mistakes),
            "topic" => entry.text(&mut self.topic, "topic = \"orders\"", mistakes),
            "key_with" => entry.path(&mut self.key_with, "key_with = path::to::function", mistakes),
            "unordered" => entry.flag(&mut self.unordered, mistakes),
            "on_poison" => entry.text(&mut self.on_poison, "on_poison = \"park\"", mistakes),
            "upcast_from" => entry.path(&mut self.upcast_from, "upcast_from = OrderPlacedV1", mistakes),
            "also_as" => entry.path(&mut self.also_as, "also_as = OrderPlacedV1", mistakes),
            "emitted_by" => entry.text(&mut self.emitted_by, "emitted_by = \"orders\"", mistakes),
            "deprecated" => entry.text(&mut self.deprecated, "deprecated = \"use OrderBooked\"", mistakes),
            "retired" => entry.text(&mut self.retired, "retired = \"2026-12-31\"", mistakes),
            "crate" => entry.path(&mut self.root, "crate = path::to::outbox", mistakes),
            "key" => mistakes.add(
                key,
                "`key` marks a field; write `#[event(key)]` on the field, or name a function here: `key_with = path`",
            ),
            _ => {
                let meant = entry::unknown(key, CONTAINER_KEYS, mistakes);
                self.given.extend(meant.map(str::to_owned));
            }
        }
    }
}

/// `#[event(…)]` on a field.
#[derive(Default)]
pub(super) struct FieldAttr {
    /// The `key` of `#[event(key)]`.
    pub(super) key: Option<Ident>,
    /// Whether a misspelt word was meant to be `key`.
    pub(super) is_meant: bool,
}

impl FieldAttr {
    pub(super) fn read(attrs: &[Attribute], mistakes: &mut Mistakes) -> Self {
        let mut read = Self::default();
        for (_, inside) in
            event_attributes(attrs).filter_map(|attr| inside(attr, mistakes)).collect::<Vec<_>>()
        {
            for entry in entry::read(inside, mistakes) {
                let key = &entry.key;
                match entry.name().as_str() {
                    "key" => entry.flag(&mut read.key, mistakes),
                    name if CONTAINER_KEYS.contains(&name) => {
                        mistakes.add(
                            key,
                            format!("`{name}` belongs to the event; move it to `#[event(…)]` on the struct"),
                        );
                    }
                    _ => read.is_meant = entry::unknown(key, FIELD_KEYS, mistakes).is_some(),
                }
            }
        }
        read
    }
}

fn event_attributes(attrs: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attrs.iter().filter(|attr| attr.path().is_ident("event"))
}

/// The path and the inside of `#[event(…)]`.
fn inside(attr: &Attribute, mistakes: &mut Mistakes) -> Option<(Path, TokenStream)> {
    match &attr.meta {
        Meta::List(list) => Some((list.path.clone(), list.tokens.clone())),
        Meta::Path(_) | Meta::NameValue(_) => {
            mistakes.add(&attr.meta, "this attribute takes a list; write `#[event(…)]`");
            None
        }
    }
}

/// The text of the doc comments, without the blank that follows each `///`.
pub(super) fn description(attrs: &[Attribute]) -> String {
    let lines: Vec<String> = attrs.iter().filter_map(doc_text).collect();
    let text = lines.iter().flat_map(|text| text.split('\n'));
    text.map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end())
        .collect::<Vec<_>>()
        .join("\n")
        .trim()
        .to_owned()
}

fn doc_text(attr: &Attribute) -> Option<String> {
    match &attr.meta {
        Meta::NameValue(doc) if doc.path.is_ident("doc") => match &doc.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}
