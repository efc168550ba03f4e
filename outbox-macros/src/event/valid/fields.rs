//! The names of the fields in the JSON, in both directions, and what a key field must be.

use crate::event::ast::Field;
use crate::event::attr::{SerdeContainer, in_case};
use crate::mistakes::Mistakes;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Ident, LitStr, Type};

/// The members that the wire format puts first into every payload.
const RESERVED_NAMES: [&str; 2] = ["eventType", "eventVersion"];

/// One field with its names in the JSON.
pub(crate) struct EventField<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) ty: &'a Type,
    /// The name serde writes; `None` when the field is flattened or never written.
    pub(crate) writes: Option<String>,
    /// The names serde reads; empty when the field is flattened or never read.
    pub(crate) reads: Vec<String>,
    pub(crate) flatten: bool,
    pub(crate) description: &'a str,
}

impl<'a> EventField<'a> {
    /// Works out the names and notes those that the wire format reserves.
    pub(super) fn check(field: &'a Field, container: &SerdeContainer, mistakes: &mut Mistakes) -> Self {
        let flatten = field.serde.flatten.is_some();
        let writes = (!flatten && !field.serde.never_written).then(|| Name::written(field, container));
        let mut reads = Vec::new();
        if !flatten && !field.serde.never_read {
            reads = Name::read(field, container);
        }
        // A name that is both written and read is one mistake.
        let mut judged: Vec<&str> = Vec::new();
        for name in writes.iter().chain(&reads) {
            if !judged.contains(&name.text.as_str()) {
                judged.push(&name.text);
                name.refuse_reserved(field, mistakes);
            }
        }
        Self {
            ident: &field.ident,
            ty: &field.ty,
            writes: writes.map(|name| name.text),
            reads: reads.into_iter().map(|name| name.text).collect(),
            flatten,
            description: &field.description,
        }
    }
}

/// A name in the JSON, and the literal that gives it; without one the field's own name does.
struct Name<'a> {
    text: String,
    literal: Option<&'a LitStr>,
}

impl<'a> Name<'a> {
    fn written(field: &'a Field, container: &SerdeContainer) -> Self {
        match field.serde.rename.writes.first() {
            Some(literal) => Self::of(literal),
            None => Self::of_field(field, container.rename_all.writes.as_deref()),
        }
    }

    fn read(field: &'a Field, container: &SerdeContainer) -> Vec<Self> {
        let mut names: Vec<Self> = field.serde.rename.reads.iter().map(Self::of).collect();
        if names.is_empty() {
            names.push(Self::of_field(field, container.rename_all.reads.as_deref()));
        }
        names.extend(field.serde.aliases.iter().map(Self::of));
        names
    }

    fn of(literal: &'a LitStr) -> Self {
        Self { text: literal.value(), literal: Some(literal) }
    }

    fn of_field(field: &Field, case: Option<&str>) -> Self {
        Self { text: in_case(&field.ident.unraw().to_string(), case), literal: None }
    }

    fn refuse_reserved(&self, field: &Field, mistakes: &mut Mistakes) {
        match self.literal {
            Some(literal) => refuse_reserved(&self.text, literal, mistakes),
            None => refuse_reserved(&self.text, &field.ident, mistakes),
        }
    }
}

/// Notes a mistake on `tokens` when `name` is one that the wire format keeps for itself.
pub(super) fn refuse_reserved(name: &str, tokens: impl ToTokens, mistakes: &mut Mistakes) {
    if RESERVED_NAMES.contains(&name) {
        mistakes.add(
            tokens,
            format!("`{name}` is the member that every payload starts with; choose another name in the JSON"),
        );
    }
}

/// Notes what keeps the field from being a partition key; gives its name in the JSON.
///
/// A reader in another language computes the key from the JSON, so the field must always stand there.
pub(super) fn check_key(field: &Field, container: &SerdeContainer, mistakes: &mut Mistakes) -> String {
    if is_option(&field.ty) {
        mistakes.add(
            &field.ty,
            "a partition key is never absent; make the field required, \
             or name a function that always returns a key: `key_with = path`",
        );
    }
    for word in field.serde.flatten.iter().chain(&field.serde.skip_writing) {
        mistakes.add(
            word,
            "a partition key always stands in the JSON under its own name; remove this, \
             or name a function instead: `key_with = path`",
        );
    }
    Name::written(field, container).text
}

/// Whether the type is written as an `Option`; one behind an alias fails for want of `Display`.
fn is_option(ty: &Type) -> bool {
    match ty {
        Type::Group(group) => is_option(&group.elem),
        Type::Paren(paren) => is_option(&paren.elem),
        Type::Path(path) => path.path.segments.last().is_some_and(|segment| segment.ident == "Option"),
        _ => false,
    }
}
