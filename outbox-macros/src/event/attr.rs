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
            "type" => {
                let value = entry.text("type = \"orders.placed\"", mistakes);
                entry::set_once(&mut self.event_type, value, key, mistakes);
            }
            "version" => {
                let value = entry.number("version = 1", mistakes);
                entry::set_once(&mut self.version, value, key, mistakes);
            }
            "topic" => {
                let value = entry.text("topic = \"orders\"", mistakes);
                entry::set_once(&mut self.topic, value, key, mistakes);
            }
            "key_with" => {
                let value = entry.path("key_with = path::to::function", mistakes);
                entry::set_once(&mut self.key_with, value, key, mistakes);
            }
            "unordered" => {
                entry.flag(mistakes);
                entry::set_once(&mut self.unordered, Some(key.clone()), key, mistakes);
            }
            "on_poison" => {
                let value = entry.text("on_poison = \"park\"", mistakes);
                entry::set_once(&mut self.on_poison, value, key, mistakes);
            }
            "upcast_from" => {
                let value = entry.path("upcast_from = OrderPlacedV1", mistakes);
                entry::set_once(&mut self.upcast_from, value, key, mistakes);
            }
            "also_as" => {
                let value = entry.path("also_as = OrderPlacedV1", mistakes);
                entry::set_once(&mut self.also_as, value, key, mistakes);
            }
            "emitted_by" => {
                let value = entry.text("emitted_by = \"orders\"", mistakes);
                entry::set_once(&mut self.emitted_by, value, key, mistakes);
            }
            "deprecated" => {
                let value = entry.text("deprecated = \"use OrderBooked\"", mistakes);
                entry::set_once(&mut self.deprecated, value, key, mistakes);
            }
            "crate" => {
                let value = entry.path("crate = path::to::outbox", mistakes);
                entry::set_once(&mut self.root, value, key, mistakes);
            }
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
                    "key" => {
                        entry.flag(mistakes);
                        entry::set_once(&mut read.key, Some(key.clone()), key, mistakes);
                    }
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
