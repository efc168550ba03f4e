//! Judges an enum: finds all its mistakes, or makes the [`EventSet`] that can be expanded.

use super::ast::{Item, Variant};
use crate::mistakes::Mistakes;
use quote::ToTokens;
use std::collections::BTreeMap;
use syn::{Fields, Ident, Type};

/// A set without mistakes.
pub(super) struct EventSet<'a> {
    pub(super) ident: &'a Ident,
    pub(super) variants: Vec<SetVariant<'a>>,
}

/// A variant with the one event it holds.
pub(super) struct SetVariant<'a> {
    pub(super) ident: &'a Ident,
    pub(super) event: &'a Type,
}

/// The set that `item` declares; `None` when a mistake leaves nothing to expand.
pub(super) fn check<'a>(item: &'a Item, mistakes: &mut Mistakes) -> Option<EventSet<'a>> {
    let ident = &item.ident;
    if !item.generics.params.is_empty() {
        mistakes
            .add(&item.generics.params, "a set of events is the same for every handler; remove the generics");
    }
    let Some(variants) = &item.variants else {
        let advice = "list the events as `enum Name { Placed(OrderPlaced), Paid(OrderPaid) }`";
        mistakes.add(ident, format!("a set of events is an enum, and `{ident}` is none; {advice}"));
        return None;
    };
    if variants.is_empty() {
        mistakes.add(ident, "this set is empty; add a variant for each event, such as `Placed(OrderPlaced)`");
    }
    let variants: Vec<_> = variants.iter().filter_map(|variant| set_variant(variant, mistakes)).collect();
    refuse_repeated(&variants, mistakes);
    Some(EventSet { ident, variants })
}

fn set_variant<'a>(variant: &'a Variant, mistakes: &mut Mistakes) -> Option<SetVariant<'a>> {
    let ident = &variant.ident;
    if let Fields::Unnamed(fields) = &variant.fields
        && let (Some(field), 1) = (fields.unnamed.first(), fields.unnamed.len())
    {
        return Some(SetVariant { ident, event: &field.ty });
    }
    mistakes.add(ident, format!("a variant of a set holds exactly one event; write `{ident}(TheEvent)`"));
    None
}

/// Two variants of one type, as far as the source shows it: the second would never be used.
fn refuse_repeated(variants: &[SetVariant<'_>], mistakes: &mut Mistakes) {
    let mut seen = BTreeMap::new();
    for variant in variants {
        let name = variant.event.to_token_stream().to_string();
        if let Some(first) = seen.get(&name) {
            mistakes
                .add(variant.event, format!("the variant `{first}` holds this event already; remove one"));
        } else {
            seen.insert(name, variant.ident);
        }
    }
}
