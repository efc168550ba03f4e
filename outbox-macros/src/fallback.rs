//! Stub impls for items with mistakes, so that the rest of the crate still compiles and one mistake is one error.

use crate::place::generated_at;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Path, parse_quote};

/// An impl of `EventSet` for an item that could not be one; nothing of it ever runs.
pub(crate) fn event_set(input: &DeriveInput, root: &Path) -> TokenStream {
    let ident = generated_at(&input.ident);
    let mut generics = input.generics.clone();
    if !generics.params.is_empty() {
        let (_, arguments, _) = input.generics.split_for_impl();
        let bound = parse_quote!(#ident #arguments: ::core::marker::Send + 'static);
        generics.make_where_clause().predicates.push(bound);
    }
    let (parameters, arguments, condition) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #parameters #root::EventSet for #ident #arguments #condition {
            const VARIANTS: &'static [#root::__private::EventVariant<Self>] = &[];
        }
    }
}

/// An impl of `Event` for an item that could not be one; nothing of it ever runs.
pub(crate) fn event(input: &DeriveInput, root: &Path) -> TokenStream {
    let ident = generated_at(&input.ident);
    let mut generics = input.generics.clone();
    if !generics.params.is_empty() {
        // What a generic item lacks is no mistake of its own: it must not be generic in the first place.
        let (_, arguments, _) = input.generics.split_for_impl();
        let private = quote!(#root::__private);
        generics.make_where_clause().predicates.push(parse_quote! {
            #ident #arguments: #private::WrittenAsJson + #private::ReadFromJson + #private::DescribedBySchema
                + ::core::marker::Send + ::core::marker::Sync + 'static
        });
    }
    let (parameters, arguments, condition) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #parameters #root::Event for #ident #arguments #condition {
            const TYPE: &'static str = "";
            const VERSION: u32 = 0;
            const TOPIC: &'static str = "";
            const ORDERING: #root::__private::OrderingMode = #root::__private::OrderingMode::Unordered;
            const ON_POISON: #root::__private::OnPoison = #root::__private::OnPoison::Skip;

            fn partition_key(&self) -> ::core::option::Option<#root::__private::String> {
                ::core::option::Option::None
            }
        }
    }
}
