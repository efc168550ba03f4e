//! `#[consumer]`.

mod ast;
mod attr;
mod expand;
mod valid;

use crate::mistakes::Mistakes;
use crate::root;
use attr::ConsumerAttr;
use proc_macro2::TokenStream;

/// The function as it was written, then its catalog entry and its handler; or every mistake in it.
pub(crate) fn attribute(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut mistakes = Mistakes::default();
    let attr = ConsumerAttr::read(arguments, &mut mistakes);
    let root = root::find(attr.root.as_ref(), "consumer", &mut mistakes);
    let function = mistakes.note(syn::parse2::<ast::Function>(item.clone()));
    let consumer = function.as_ref().and_then(|function| valid::check(&attr, function, &mut mistakes));
    let mut output = item;
    output.extend(match (consumer, root) {
        (Some(consumer), Some(root)) if mistakes.is_empty() => expand::consumer(&consumer, &root),
        _ => mistakes.into_compile_errors(),
    });
    output
}
