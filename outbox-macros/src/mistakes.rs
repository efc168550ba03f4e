//! Collects the mistakes of one item, so that the user sees all of them at once.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use std::fmt::Display;

/// The mistakes found so far, each on the token to change.
#[derive(Default)]
pub(crate) struct Mistakes {
    errors: Option<syn::Error>,
}

impl Mistakes {
    /// Notes that `tokens` are wrong; `message` says why and names the fix.
    pub(crate) fn add(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.add_error(syn::Error::new_spanned(tokens, message));
    }

    /// As [`Mistakes::add`], where there is no token to change.
    pub(crate) fn add_at(&mut self, span: Span, message: impl Display) {
        self.add_error(syn::Error::new(span, message));
    }

    /// Notes an error that syn found.
    pub(crate) fn add_error(&mut self, error: syn::Error) {
        match &mut self.errors {
            Some(errors) => errors.combine(error),
            None => self.errors = Some(error),
        }
    }

    /// The value of `result`; an error is noted.
    pub(crate) fn note<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.add_error(error)).ok()
    }

    /// Whether nothing is wrong so far.
    pub(crate) fn is_empty(&self) -> bool {
        self.errors.is_none()
    }

    /// One `compile_error!` for each mistake.
    pub(crate) fn into_compile_errors(self) -> TokenStream {
        self.errors.map(syn::Error::into_compile_error).unwrap_or_default()
    }
}
