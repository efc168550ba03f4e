//! `#[derive(Event)]`.

mod ast;
mod attr;
mod expand;
mod valid;

use crate::mistakes::Mistakes;
use crate::{fallback, root};
use proc_macro2::TokenStream;
use syn::DeriveInput;

/// The impl and the catalog entry of the event; or every mistake in it, and a stub impl.
pub(crate) fn derive(input: &DeriveInput) -> TokenStream {
    let mut mistakes = Mistakes::default();
    let item = ast::Item::read(input, &mut mistakes);
    let root = root::find(item.event.root.as_ref(), "event", &mut mistakes);
    let event = valid::check(&item, &mut mistakes);
    match (event, root) {
        (Some(event), Some(root)) if mistakes.is_empty() => expand::event(&event, &root),
        (_, root) => {
            let mut output = mistakes.into_compile_errors();
            output.extend(root.map(|root| fallback::event(input, &root)));
            output
        }
    }
}
