//! What stands in the source: the enum with its variants, read but not yet judged.

use super::attr::SetAttr;
use crate::mistakes::Mistakes;
use syn::{Data, DeriveInput, Fields, Generics, Ident};

/// The item under `#[derive(EventSet)]`.
pub(super) struct Item {
    pub(super) ident: Ident,
    pub(super) generics: Generics,
    /// `None` when the item is no enum.
    pub(super) variants: Option<Vec<Variant>>,
    pub(super) attr: SetAttr,
}

/// One variant with its fields, of whatever kind.
pub(super) struct Variant {
    pub(super) ident: Ident,
    pub(super) fields: Fields,
}

impl Item {
    /// Reads the item; attributes that cannot be read are noted as mistakes.
    pub(super) fn read(input: &DeriveInput, mistakes: &mut Mistakes) -> Self {
        let variants = match &input.data {
            Data::Enum(data) => Some(data.variants.iter().map(Variant::read).collect()),
            Data::Struct(_) | Data::Union(_) => None,
        };
        Self {
            ident: input.ident.clone(),
            generics: input.generics.clone(),
            variants,
            attr: SetAttr::read(&input.attrs, mistakes),
        }
    }
}

impl Variant {
    fn read(variant: &syn::Variant) -> Self {
        Self { ident: variant.ident.clone(), fields: variant.fields.clone() }
    }
}
