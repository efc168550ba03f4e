//! Writes the catalog entry and the handler.

use super::valid::Consumer;
use crate::place::{Place, all_at, generated_at};
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Meta, Path, Type};

pub(super) fn consumer(consumer: &Consumer<'_>, root: &Path) -> TokenStream {
    let private = quote!(#root::__private);
    let Consumer { name, ident, .. } = consumer;
    let conditions = consumer.attrs.iter().filter(|attr| attr.path().is_ident("cfg"));
    let lints = lints(consumer.attrs);
    let arguments: Vec<_> = consumer.parameters.iter().map(|ty| argument(ty, &private)).collect();
    let checks = consumer.parameters.iter().enumerate().map(|(index, ty)| {
        let check = all_at(place_of(ty), quote!(#private::refuse_repeated(__OUTBOX_ARGUMENTS, #index)));
        quote!(const _: () = #check;)
    });
    let events = all_at(ident.span(), quote!(#private::consumed(__OUTBOX_ARGUMENTS)));
    let call = call(consumer, &arguments, &private);
    let Place { file, line } = Place::of(ident);
    let settings = settings(consumer, &private);
    quote! {
        #(#conditions)*
        #lints
        const _: () = {
            const __OUTBOX_ARGUMENTS: &[#private::ArgumentKind] = &[#(#arguments.kind),*];
            #(#checks)*
            const __OUTBOX_CONSUMER: #private::ConsumerEntry = #private::ConsumerEntry {
                name: #name,
                events: #events,
                package: ::core::env!("CARGO_PKG_NAME"),
                file: #file,
                line: #line,
            };
            #private::submit! { __OUTBOX_CONSUMER }
            #private::submit! {
                #private::HandlerEntry {
                    entry: __OUTBOX_CONSUMER,
                    #settings
                    transaction: #private::transaction(__OUTBOX_ARGUMENTS),
                    states: || #private::states(__OUTBOX_ARGUMENTS),
                    call: #call,
                }
            }
        };
    }
}

/// The names of its own cannot meet the user's: they are as hygienic as those of a `macro_rules!`.
fn call(consumer: &Consumer<'_>, arguments: &[TokenStream], private: &TokenStream) -> TokenStream {
    let handler = generated_at(consumer.ident);
    let (invocation, left) =
        (Ident::new("invocation", Span::mixed_site()), Ident::new("left", Span::mixed_site()));
    // At the return type: that is what to change when it is not what a handler returns.
    let called = quote!(#private::outcome(#handler(#((#arguments.take)(&mut #left)?),*).await));
    let called = all_at(consumer.output.span(), called);
    quote! {
        |#invocation| #private::Box::pin(async move {
            let mut #left = #private::Arguments::of(#invocation);
            #called
        })
    }
}

fn settings(consumer: &Consumer<'_>, private: &TokenStream) -> TokenStream {
    let duration =
        |millis: Option<u64>| millis.map(|millis| quote!(#private::Duration::from_millis(#millis)));
    let or = |value: Option<TokenStream>, default: TokenStream| {
        value.unwrap_or_else(|| quote!(#private::#default))
    };
    let attempts =
        or(consumer.attempts.map(ToTokens::into_token_stream), quote!(RetryPolicy::DEFAULT.attempts));
    let base = or(duration(consumer.base_ms), quote!(RetryPolicy::DEFAULT.base));
    let max = or(duration(consumer.max_ms), quote!(RetryPolicy::DEFAULT.max));
    let timeout = or(duration(consumer.timeout_ms), quote!(HandlerEntry::TIMEOUT));
    let concurrency =
        or(consumer.concurrency.map(ToTokens::into_token_stream), quote!(HandlerEntry::CONCURRENCY));
    quote! {
        retry: #private::RetryPolicy { attempts: #attempts, base: #base, max: #max },
        timeout: #timeout,
        concurrency: #concurrency,
    }
}

/// Where a type begins, without the `&` before it.
fn place_of(ty: &Type) -> Span {
    match ty {
        Type::Group(group) => place_of(&group.elem),
        Type::Reference(reference) => reference.elem.span(),
        _ => ty.span(),
    }
}

/// How the argument of a parameter is found. All of it stands at the parameter's type: that is what to change.
fn argument(ty: &Type, private: &TokenStream) -> TokenStream {
    match ty {
        Type::Group(group) => argument(&group.elem, private),
        Type::Reference(reference) => {
            let way = if reference.mutability.is_some() { quote!(by_mut) } else { quote!(by_ref) };
            let lent = without_names_of_lifetimes(generated_at(&reference.elem));
            quote_spanned!(lent.span()=> #private::#way::<#lent>())
        }
        _ => {
            let ty = without_names_of_lifetimes(generated_at(ty));
            quote_spanned!(ty.span()=> #private::by_value::<#ty, _>())
        }
    }
}

/// A lifetime that the function declares has no name in the code outside of it.
fn without_names_of_lifetimes(tokens: TokenStream) -> TokenStream {
    let mut follows_quote = false;
    let nameless = tokens.into_iter().map(|token| {
        let is_name = std::mem::take(&mut follows_quote);
        match token {
            TokenTree::Group(group) => {
                let mut copy = Group::new(group.delimiter(), without_names_of_lifetimes(group.stream()));
                copy.set_span(group.span());
                TokenTree::Group(copy)
            }
            TokenTree::Ident(ident) if is_name && ident != "static" => Ident::new("_", ident.span()).into(),
            TokenTree::Punct(punct) => {
                follows_quote = punct.as_char() == '\'';
                TokenTree::Punct(punct)
            }
            other => other,
        }
    });
    nameless.collect()
}

/// Naming a deprecated function or type again must not warn again, if its author knows.
fn lints(attrs: &[Attribute]) -> Option<TokenStream> {
    let knows = |attr: &Attribute| match &attr.meta {
        Meta::List(list) if list.path.is_ident("allow") || list.path.is_ident("expect") => {
            list.tokens.clone().into_iter().any(|token| token.to_string() == "deprecated")
        }
        meta => meta.path().is_ident("deprecated"),
    };
    attrs.iter().any(knows).then(|| quote!(#[allow(deprecated)]))
}
