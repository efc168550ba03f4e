//! Judges an item: finds all its mistakes, or makes the [`Event`] that can be expanded.

mod date;
mod fields;

pub(super) use fields::EventField;

use super::ast::{Field, Item, Shape};
use super::attr::EventAttr;
use crate::mistakes::Mistakes;
use crate::{name, suggest};
use syn::{Ident, LitStr, Path};

/// Attributes of serde that an event cannot have, and why.
const REFUSED_SERDE: [(&str, &str); 5] = [
    ("from", FOREIGN_JSON),
    ("try_from", FOREIGN_JSON),
    ("into", FOREIGN_JSON),
    ("transparent", "the JSON would be the inner value, and an event is an object; remove it"),
    ("deny_unknown_fields", "a reader must take an event to which a later release added a field; remove it"),
];
const FOREIGN_JSON: &str = "the JSON would be that of another type, and the contract must be this struct's; \
                            remove it and convert where you enqueue or handle the event";

/// An event without mistakes.
pub(super) struct Event<'a> {
    pub(super) ident: &'a Ident,
    pub(super) event_type: &'a LitStr,
    pub(super) version: u32,
    pub(super) topic: &'a LitStr,
    pub(super) key: Key<'a>,
    pub(super) on_poison: OnPoison,
    pub(super) upcast_from: Option<&'a Path>,
    pub(super) also_as: Option<&'a Path>,
    pub(super) emitted_by: Option<&'a LitStr>,
    pub(super) deprecated: Option<&'a LitStr>,
    pub(super) retired: Option<&'a LitStr>,
    pub(super) description: &'a str,
    pub(super) fields: Vec<EventField<'a>>,
}

/// Where the partition key comes from.
pub(super) enum Key<'a> {
    Field { field: &'a Field, json_name: String },
    Function(&'a Path),
    None,
}

/// What happens to a poison event.
#[derive(Clone, Copy)]
pub(super) enum OnPoison {
    Park,
    Block,
    Skip,
}

/// The event that `item` declares; `None` when a mistake leaves nothing to expand.
pub(super) fn check<'a>(item: &'a Item, mistakes: &mut Mistakes) -> Option<Event<'a>> {
    let fields = named_fields(item, mistakes);
    check_generics(item, mistakes);
    check_serde(item, mistakes);
    check_presence(item, fields, mistakes);
    let event_type = item.event.event_type.as_ref();
    event_type.inspect(|name| name::EVENT_TYPE.check(name, mistakes));
    let topic = item.event.topic.as_ref();
    topic.inspect(|name| name::TOPIC.check(name, mistakes));
    let version = version(&item.event, mistakes);
    let fields = fields?;
    let key = key(item, fields, mistakes);
    let on_poison = on_poison(&item.event, mistakes);
    let retired = item.event.retired.as_ref();
    retired.inspect(|date| date::check(date, mistakes));
    Some(Event {
        ident: &item.ident,
        fields: fields.iter().map(|field| EventField::check(field, &item.serde, mistakes)).collect(),
        event_type: event_type?,
        version: version?,
        topic: topic?,
        key: key?,
        on_poison: on_poison?,
        upcast_from: item.event.upcast_from.as_ref(),
        also_as: item.event.also_as.as_ref(),
        emitted_by: item.event.emitted_by.as_ref(),
        deprecated: item.event.deprecated.as_ref(),
        retired,
        description: &item.description,
    })
}

fn named_fields<'a>(item: &'a Item, mistakes: &mut Mistakes) -> Option<&'a [Field]> {
    let ident = &item.ident;
    let advice = match &item.shape {
        Shape::Named(fields) => return Some(fields),
        Shape::Unit => {
            format!("`{ident}` has none, and its JSON would be `null`; write `struct {ident} {{}}`")
        }
        Shape::Tuple => format!("`{ident}` has fields without names; give them names"),
        Shape::Enum => format!(
            "`{ident}` is an enum; make each case an event of its own, \
             and gather them with `#[derive(EventSet)]` where they are handled"
        ),
        Shape::Union => format!("`{ident}` is a union; make it a struct"),
    };
    mistakes.add(ident, format!("an event is a struct with named fields; {advice}"));
    None
}

fn check_generics(item: &Item, mistakes: &mut Mistakes) {
    if !item.generics.params.is_empty() {
        mistakes.add(
            &item.generics.params,
            "an event has one contract, so it cannot be generic; write a struct for each type",
        );
    }
}

fn check_serde(item: &Item, mistakes: &mut Mistakes) {
    for word in &item.serde.words {
        for (refused, reason) in REFUSED_SERDE {
            if word.is_ident(refused) {
                mistakes.add(word, format!("an event cannot have serde's `{refused}`: {reason}"));
            }
        }
    }
    if let Some(tag) = &item.serde.tag {
        fields::refuse_reserved(&tag.value(), tag, mistakes);
    }
}

/// Notes what is missing: the attribute, one of its keys, or the partition key.
fn check_presence(item: &Item, fields: Option<&[Field]>, mistakes: &mut Mistakes) {
    if item.event.unreadable {
        return;
    }
    let marks_key = |field: &Field| field.event.key.is_some() || field.event.is_meant;
    let has_key_field = fields.is_some_and(|fields| fields.iter().any(marks_key));
    let Some(place) = &item.event.place else {
        let also =
            if has_key_field { "" } else { ", and `#[event(key)]` on a field or `unordered` on the struct" };
        mistakes.add(
            &item.ident,
            format!(
                "`{}` does not say which event it is; add `#[event(type = \"…\", version = 1, topic = \"…\")]`{also}",
                item.ident
            ),
        );
        return;
    };
    for (word, example) in [("type", "\"orders.placed\""), ("version", "1"), ("topic", "\"orders\"")] {
        if !item.event.names(word) {
            mistakes.add(place, format!("`{word}` is missing; add `{word} = {example}`"));
        }
    }
    let says_key =
        has_key_field || ["key", "key_with", "unordered"].iter().any(|word| item.event.names(word));
    if fields.is_some() && !says_key {
        mistakes.add(
            place,
            "the partition key is missing; mark the field whose events keep their order with `#[event(key)]`, \
             name a function with `key_with = path`, or write `unordered`",
        );
    }
}

fn version(event: &EventAttr, mistakes: &mut Mistakes) -> Option<u32> {
    let literal = event.version.as_ref()?;
    match literal.base10_parse::<u32>() {
        Ok(version) if version >= 1 => Some(version),
        Ok(_) => {
            mistakes.add(literal, "event versions start at 1; write `version = 1`");
            None
        }
        Err(_) => {
            mistakes.add(
                literal,
                format!("an event version is a number from 1 to {}; write `version = 1`", u32::MAX),
            );
            None
        }
    }
}

fn key<'a>(item: &'a Item, fields: &'a [Field], mistakes: &mut Mistakes) -> Option<Key<'a>> {
    let mut chosen = None;
    for field in fields {
        let Some(mark) = &field.event.key else { continue };
        let json_name = fields::check_key(field, &item.serde, mistakes);
        if chosen.is_some() {
            mistakes.add(
                mark,
                "an event has one partition key, and another field is marked too; remove one mark, \
                 or join both fields in a function: `key_with = path`",
            );
        } else {
            chosen = Some(Key::Field { field, json_name });
        }
    }
    if let Some(path) = &item.event.key_with {
        if chosen.is_some() {
            mistakes.add(
                path,
                "a field is already the partition key; remove `key_with` or the mark on the field",
            );
        } else {
            chosen = Some(Key::Function(path));
        }
    }
    if let Some(word) = &item.event.unordered {
        if chosen.is_some() {
            mistakes
                .add(word, "an event with a partition key keeps its order; remove `unordered` or the key");
        } else {
            chosen = Some(Key::None);
        }
    }
    chosen
}

fn on_poison(event: &EventAttr, mistakes: &mut Mistakes) -> Option<OnPoison> {
    let Some(literal) = &event.on_poison else {
        return Some(if event.unordered.is_some() { OnPoison::Skip } else { OnPoison::Park });
    };
    match literal.value().as_str() {
        "park" => Some(OnPoison::Park),
        "block" => Some(OnPoison::Block),
        "skip" => Some(OnPoison::Skip),
        word => {
            let advice = suggest::instead_of(word, &["park", "block", "skip"]);
            mistakes.add(literal, format!("unknown policy `{word}`; {advice}"));
            None
        }
    }
}
