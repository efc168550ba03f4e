//! Reads serde's attributes as far as they decide the names in the JSON.
//!
//! Whatever serde itself refuses is left to serde, so that one mistake stays one error.

use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Meta, MetaList, Path, Token};

/// One value for what serde writes and one for what it reads.
#[derive(Default, Clone)]
pub(crate) struct Both<T> {
    pub(crate) writes: T,
    pub(crate) reads: T,
}

/// `#[serde(…)]` on the struct.
#[derive(Default)]
pub(crate) struct SerdeContainer {
    /// The case that field names are turned into.
    pub(crate) rename_all: Both<Option<String>>,
    /// The member that `tag = "…"` adds.
    pub(crate) tag: Option<LitStr>,
    /// Every attribute by its name, for those that an event cannot have.
    pub(crate) words: Vec<Path>,
}

/// `#[serde(…)]` on a field.
#[derive(Default)]
pub(crate) struct SerdeField {
    /// The names of `rename`; when reading, serde takes more than one.
    pub(crate) rename: Both<Vec<LitStr>>,
    pub(crate) aliases: Vec<LitStr>,
    pub(crate) flatten: Option<Path>,
    /// Set when the field is left out of what is written, always or sometimes.
    pub(crate) skip_writing: Option<Path>,
    pub(crate) never_written: bool,
    pub(crate) never_read: bool,
}

impl SerdeContainer {
    pub(crate) fn read(attrs: &[Attribute]) -> Self {
        let mut read = Self::default();
        for meta in serde_metas(attrs) {
            read.words.push(meta.path().clone());
            if meta.path().is_ident("rename_all") {
                let case = both_texts(&meta);
                read.rename_all.writes = case.writes.first().map(LitStr::value);
                read.rename_all.reads = case.reads.first().map(LitStr::value);
            } else if meta.path().is_ident("tag") {
                read.tag = text_of(&meta);
            }
        }
        read
    }
}

impl SerdeField {
    pub(crate) fn read(attrs: &[Attribute]) -> Self {
        let mut read = Self::default();
        for meta in serde_metas(attrs) {
            let path = meta.path().clone();
            match path.get_ident().map(ToString::to_string).as_deref() {
                Some("rename") => {
                    let names = both_texts(&meta);
                    read.rename.writes.extend(names.writes);
                    read.rename.reads.extend(names.reads);
                }
                Some("alias") => read.aliases.extend(text_of(&meta)),
                Some("flatten") => read.flatten = Some(path),
                Some("skip") => {
                    (read.never_written, read.never_read) = (true, true);
                    read.skip_writing = Some(path);
                }
                Some("skip_serializing") => {
                    read.never_written = true;
                    read.skip_writing = Some(path);
                }
                Some("skip_serializing_if") => read.skip_writing = Some(path),
                Some("skip_deserializing") => read.never_read = true,
                _ => {}
            }
        }
        read
    }
}

fn serde_metas(attrs: &[Attribute]) -> impl Iterator<Item = Meta> {
    attrs.iter().filter(|attr| attr.path().is_ident("serde")).flat_map(|attr| match &attr.meta {
        Meta::List(list) => metas(list),
        Meta::Path(_) | Meta::NameValue(_) => Vec::new(),
    })
}

fn metas(list: &MetaList) -> Vec<Meta> {
    list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
        .map(|metas| metas.into_iter().collect())
        .unwrap_or_default()
}

/// The texts of `word = "…"` and of `word(serialize = "…", deserialize = "…")`.
fn both_texts(meta: &Meta) -> Both<Vec<LitStr>> {
    let mut both: Both<Vec<LitStr>> = Both::default();
    match meta {
        Meta::Path(_) => {}
        Meta::NameValue(_) => {
            both.writes.extend(text_of(meta));
            both.reads.extend(text_of(meta));
        }
        Meta::List(list) => {
            for side in metas(list) {
                if side.path().is_ident("serialize") {
                    both.writes.extend(text_of(&side));
                } else if side.path().is_ident("deserialize") {
                    both.reads.extend(text_of(&side));
                }
            }
        }
    }
    both
}

fn text_of(meta: &Meta) -> Option<LitStr> {
    match meta {
        Meta::NameValue(pair) => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.clone()),
            _ => None,
        },
        Meta::Path(_) | Meta::List(_) => None,
    }
}

/// The field name `name` in the case that `rename_all` names; unknown cases are left to serde.
pub(crate) fn in_case(name: &str, case: Option<&str>) -> String {
    match case {
        Some("UPPERCASE" | "SCREAMING_SNAKE_CASE") => name.to_ascii_uppercase(),
        Some("PascalCase") => pascal(name),
        Some("camelCase") => {
            let pascal = pascal(name);
            let mut letters = pascal.chars();
            letters
                .next()
                .map_or_else(String::new, |first| first.to_ascii_lowercase().to_string() + letters.as_str())
        }
        Some("kebab-case") => name.replace('_', "-"),
        Some("SCREAMING-KEBAB-CASE") => name.to_ascii_uppercase().replace('_', "-"),
        _ => name.to_owned(),
    }
}

fn pascal(name: &str) -> String {
    name.split('_')
        .map(|word| {
            let mut letters = word.chars();
            letters
                .next()
                .map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
        })
        .collect()
}
