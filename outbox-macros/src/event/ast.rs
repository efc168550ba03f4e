//! What stands in the source: the struct with its attributes, read but not yet judged.

use super::attr::{self, EventAttr, FieldAttr, SerdeContainer, SerdeField};
use crate::mistakes::Mistakes;
use syn::{Data, DeriveInput, Fields, Generics, Ident, Type};

/// The item under `#[derive(Event)]`.
pub(super) struct Item {
    pub(super) ident: Ident,
    pub(super) generics: Generics,
    pub(super) shape: Shape,
    pub(super) description: String,
    pub(super) event: EventAttr,
    pub(super) serde: SerdeContainer,
}

/// The kind of item; only a struct with named fields can be an event.
pub(super) enum Shape {
    Named(Vec<Field>),
    Unit,
    Tuple,
    Enum,
    Union,
}

/// One named field.
pub(super) struct Field {
    pub(super) ident: Ident,
    pub(super) ty: Type,
    pub(super) description: String,
    pub(super) event: FieldAttr,
    pub(super) serde: SerdeField,
}

impl Item {
    /// Reads the item; attributes that cannot be read are noted as mistakes.
    pub(super) fn read(input: &DeriveInput, mistakes: &mut Mistakes) -> Self {
        Self {
            ident: input.ident.clone(),
            generics: input.generics.clone(),
            shape: Shape::read(&input.data, mistakes),
            description: attr::description(&input.attrs),
            event: EventAttr::read(&input.attrs, mistakes),
            serde: SerdeContainer::read(&input.attrs),
        }
    }
}

impl Shape {
    fn read(data: &Data, mistakes: &mut Mistakes) -> Self {
        match data {
            Data::Enum(_) => Self::Enum,
            Data::Union(_) => Self::Union,
            Data::Struct(data) => match &data.fields {
                Fields::Unit => Self::Unit,
                Fields::Unnamed(_) => Self::Tuple,
                Fields::Named(fields) => Self::Named(
                    fields.named.iter().filter_map(|field| Field::read(field, mistakes)).collect(),
                ),
            },
        }
    }
}

impl Field {
    fn read(field: &syn::Field, mistakes: &mut Mistakes) -> Option<Self> {
        Some(Self {
            ident: field.ident.clone()?,
            ty: field.ty.clone(),
            description: attr::description(&field.attrs),
            event: FieldAttr::read(&field.attrs, mistakes),
            serde: SerdeField::read(&field.attrs),
        })
    }
}
