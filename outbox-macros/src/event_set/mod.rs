//! `#[derive(EventSet)]`.

mod ast;
mod attr;
mod expand;
mod valid;

use crate::mistakes::Mistakes;
use crate::{fallback, root};
use proc_macro2::TokenStream;
use syn::DeriveInput;

/// The impl of the set; or every mistake in it, and a stub impl.
pub(crate) fn derive(input: &DeriveInput) -> TokenStream {
    let mut mistakes = Mistakes::default();
    let item = ast::Item::read(input, &mut mistakes);
    let root = root::find(item.attr.root.as_ref(), "event_set", &mut mistakes);
    let set = valid::check(&item, &mut mistakes);
    match (set, root) {
        (Some(set), Some(root)) if mistakes.is_empty() => expand::set(&set, &root),
        (_, root) => {
            let mut output = mistakes.into_compile_errors();
            output.extend(root.map(|root| fallback::event_set(input, &root)));
            output
        }
    }
}
