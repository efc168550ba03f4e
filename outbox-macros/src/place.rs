//! Where a token stands in the source, and tokens that stand there without being the user's.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;

/// The file and the line of a token.
pub(crate) struct Place {
    pub(crate) file: String,
    pub(crate) line: u32,
}

impl Place {
    pub(crate) fn of(tokens: &impl Spanned) -> Self {
        let span = tokens.span();
        if !proc_macro::is_available() {
            return Self { file: String::new(), line: 0 };
        }
        let span = span.unwrap();
        Self { file: span.file(), line: u32::try_from(span.line()).unwrap_or(u32::MAX) }
    }

    /// The line of `tokens`, or of this place when they stand in another file, as those of a `macro_rules!` may.
    pub(crate) fn line_of(&self, tokens: &impl Spanned) -> u32 {
        let other = Self::of(tokens);
        if other.file == self.file { other.line } else { self.line }
    }
}

/// `tokens` as if the macro had written them where they stand.
///
/// Errors still point at the user's source, but lints (deprecated items, needless qualifications) see generated
/// code and keep quiet. `$crate` keeps its span, which alone says which crate it means.
pub(crate) fn generated_at(tokens: &impl ToTokens) -> TokenStream {
    tokens.to_token_stream().into_iter().map(generated_token).collect()
}

/// All of `tokens` as if the macro had written them at `span`, so that an error in any of them points there.
pub(crate) fn all_at(span: Span, tokens: TokenStream) -> TokenStream {
    let place = |token: TokenTree| match token {
        TokenTree::Group(group) => {
            let mut copy = Group::new(group.delimiter(), all_at(span, group.stream()));
            copy.set_span(group.span().located_at(span));
            TokenTree::Group(copy)
        }
        mut other => {
            // Only the place: what a name means stays as it is.
            other.set_span(other.span().located_at(span));
            other
        }
    };
    tokens.into_iter().map(place).collect()
}

fn generated_token(token: TokenTree) -> TokenTree {
    let span = Span::call_site().located_at(token.span());
    match token {
        TokenTree::Group(group) => {
            let mut copy = Group::new(group.delimiter(), generated_at(&group.stream()));
            copy.set_span(span);
            TokenTree::Group(copy)
        }
        TokenTree::Ident(ident) if ident.to_string().starts_with('$') => TokenTree::Ident(ident),
        mut other => {
            other.set_span(span);
            other
        }
    }
}
