//! Writes the impl of `EventSet`.

use super::valid::{EventSet, SetVariant};
use crate::place::generated_at;
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Path;
use syn::spanned::Spanned;

pub(super) fn set(set: &EventSet<'_>, root: &Path) -> TokenStream {
    let private = quote!(#root::__private);
    let ident = generated_at(set.ident);
    let variants = set.variants.iter().map(|variant| event_variant(variant, &private));
    quote! {
        #[automatically_derived]
        impl #root::EventSet for #ident {
            const VARIANTS: &'static [#private::EventVariant<Self>] = &[#(#variants),*];
        }
    }
}

/// All of it stands at the event's type: that is what to change when it is no event.
fn event_variant(variant: &SetVariant<'_>, private: &TokenStream) -> TokenStream {
    let event = generated_at(variant.event);
    let ident = generated_at(variant.ident);
    quote_spanned! {event.span()=>
        #private::EventVariant {
            events: #private::events_of::<#event>,
            decode: |event| #private::decode_into::<Self, #event>(event, Self::#ident),
        }
    }
}
