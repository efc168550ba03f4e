//! Reads the inside of an attribute as a list of `key`, `key = value` and `key(list)`.
//!
//! A mistake in one entry does not hide those in the others, which syn's own list parser would do.

use crate::mistakes::Mistakes;
use crate::suggest;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Ident, LitInt, LitStr, Path, Token};

/// One entry of an attribute.
pub(crate) struct Entry {
    /// The word before `=` or `(`; it may be a keyword of Rust.
    pub(crate) key: Ident,
    value: Value,
}

enum Value {
    Absent,
    Assigned(TokenStream),
    List(TokenStream),
}

/// The entries of one attribute's inside; those that are none are noted as mistakes.
pub(crate) fn read(inside: TokenStream, mistakes: &mut Mistakes) -> Vec<Entry> {
    split_at_commas(inside)
        .into_iter()
        .filter_map(|tokens| mistakes.note(Entry::parse.parse2(tokens)))
        .collect()
}

fn split_at_commas(tokens: TokenStream) -> Vec<TokenStream> {
    let mut parts = vec![TokenStream::new()];
    for token in tokens {
        match (&token, parts.last_mut()) {
            (TokenTree::Punct(punct), _) if punct.as_char() == ',' => parts.push(TokenStream::new()),
            (_, Some(part)) => part.extend([token]),
            (_, None) => {}
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

impl Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let key = input.call(Ident::parse_any)?;
        let value = if input.is_empty() {
            Value::Absent
        } else if input.peek(syn::token::Paren) {
            let inside;
            syn::parenthesized!(inside in input);
            Value::List(inside.parse()?)
        } else if input.parse::<Option<Token![=]>>()?.is_some() {
            Value::Assigned(input.parse()?)
        } else {
            return Err(input.error(format!("expected `=` after `{key}`, or a comma")));
        };
        if !input.is_empty() {
            return Err(input.error("expected a comma"));
        }
        Ok(Self { key, value })
    }

    /// The key as text.
    pub(crate) fn name(&self) -> String {
        self.key.to_string()
    }

    /// Puts the text of `key = "text"` into `slot`.
    pub(crate) fn text(&self, slot: &mut Option<LitStr>, example: &str, mistakes: &mut Mistakes) {
        let value = self.assigned(<LitStr as Parse>::parse, "a text in quotes", example, mistakes);
        self.set_once(slot, value, mistakes);
    }

    /// Puts the number of `key = 1` into `slot`.
    pub(crate) fn number(&self, slot: &mut Option<LitInt>, example: &str, mistakes: &mut Mistakes) {
        let value =
            self.assigned(<LitInt as Parse>::parse, "a whole number without quotes", example, mistakes);
        self.set_once(slot, value, mistakes);
    }

    /// Puts the path of `key = path` into `slot`.
    pub(crate) fn path(&self, slot: &mut Option<Path>, example: &str, mistakes: &mut Mistakes) {
        let value = self.assigned(Path::parse_mod_style, "a path without quotes", example, mistakes);
        self.set_once(slot, value, mistakes);
    }

    /// Puts the key of the bare word `key` into `slot`.
    pub(crate) fn flag(&self, slot: &mut Option<Ident>, mistakes: &mut Mistakes) {
        match &self.value {
            Value::Absent => {}
            Value::Assigned(tokens) | Value::List(tokens) => {
                mistakes.add(
                    or_key(tokens, &self.key),
                    format!("`{0}` takes no value; write only `{0}`", self.key),
                );
            }
        }
        self.set_once(slot, Some(self.key.clone()), mistakes);
    }

    /// The entries of `key(…)`.
    pub(crate) fn list(&self, example: &str, mistakes: &mut Mistakes) -> Option<Vec<Self>> {
        if let Value::List(inside) = &self.value {
            return Some(read(inside.clone(), mistakes));
        }
        mistakes.add(&self.key, format!("`{}` takes a list; write `{example}`", self.key));
        None
    }

    /// Puts `value` into `slot`; a second one is a mistake.
    fn set_once<T>(&self, slot: &mut Option<T>, value: Option<T>, mistakes: &mut Mistakes) {
        if slot.is_some() {
            mistakes.add(&self.key, format!("`{}` is given twice; remove one", self.key));
        } else {
            *slot = value;
        }
    }

    fn assigned<T>(
        &self,
        parse: fn(ParseStream<'_>) -> syn::Result<T>,
        what: &str,
        example: &str,
        mistakes: &mut Mistakes,
    ) -> Option<T> {
        let value = match &self.value {
            Value::Assigned(tokens) => parse.parse2(tokens.clone()).ok(),
            Value::Absent | Value::List(_) => None,
        };
        if value.is_none() {
            let wrong = match &self.value {
                Value::Assigned(tokens) => or_key(tokens, &self.key),
                Value::Absent | Value::List(_) => self.key.to_token_stream(),
            };
            mistakes.add(wrong, format!("`{}` takes {what}; write `{example}`", self.key));
        }
        value
    }
}

/// The tokens to point at: `tokens`, or the key where there are none.
fn or_key(tokens: &TokenStream, key: &Ident) -> TokenStream {
    if tokens.is_empty() { key.to_token_stream() } else { tokens.clone() }
}

/// Notes a key that is not among `known`; gives the one that was probably meant.
pub(crate) fn unknown<'a>(key: &Ident, known: &[&'a str], mistakes: &mut Mistakes) -> Option<&'a str> {
    let word = key.to_string();
    mistakes.add(key, format!("unknown key `{word}`; {}", suggest::instead_of(&word, known)));
    suggest::closest(&word, known)
}
