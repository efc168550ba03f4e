//! Writes the impl of `Event` and the catalog entry.

use super::valid::{Event, EventField, Key, OnPoison};
use crate::place::{Place, all_at, generated_at};
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::Path;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

pub(super) fn event(event: &Event<'_>, root: &Path) -> TokenStream {
    let private = quote!(#root::__private);
    let ident = generated_at(event.ident);
    let Event { event_type, version, topic, description, .. } = event;
    let ordering = ordering(&event.key);
    let on_poison = on_poison(event.on_poison);
    let Links { names, kinds, calls } = Links::of(event, &private);
    let partition_key = partition_key(&event.key, &private);
    let source = key_source(&event.key, &private);
    let emitted_by =
        event.emitted_by.map_or_else(|| quote!(::core::env!("CARGO_PKG_NAME")), ToTokens::to_token_stream);
    let deprecated = option(event.deprecated);
    let retired = option(event.retired);
    let name = event.ident.unraw().to_string();
    let place = Place::of(event.ident);
    let Place { file, line } = &place;
    let fields = event.fields.iter().map(|field| field_descriptor(field, &place, &private));
    quote! {
        #[automatically_derived]
        impl #root::Event for #ident {
            const TYPE: &'static str = #event_type;
            const VERSION: u32 = #version;
            const TOPIC: &'static str = #topic;
            const ORDERING: #private::OrderingMode = #private::OrderingMode::#ordering;
            const ON_POISON: #private::OnPoison = #private::OnPoison::#on_poison;
            #(
                const #names: ::core::option::Option<#private::#kinds<Self>> = ::core::option::Option::Some(#calls);
            )*

            fn partition_key(&self) -> ::core::option::Option<#private::String> {
                #partition_key
            }
        }

        #(const _: #private::#kinds<#ident> = #calls;)*

        #private::submit! {
            #private::EventDescriptor::of::<#ident>(#private::EventSource {
                key: #source,
                emitted_by: #emitted_by,
                deprecated: #deprecated,
                retired: #retired,
                description: #description,
                rust_path: ::core::concat!(::core::module_path!(), "::", #name),
                file: #file,
                line: #line,
                fields: &[#(#fields),*],
            })
        }
    }
}

fn ordering(key: &Key<'_>) -> TokenStream {
    match key {
        Key::Field { .. } | Key::Function(_) => quote!(Keyed),
        Key::None => quote!(Unordered),
    }
}

fn on_poison(policy: OnPoison) -> TokenStream {
    match policy {
        OnPoison::Park => quote!(Park),
        OnPoison::Block => quote!(Block),
        OnPoison::Skip => quote!(Skip),
    }
}

/// The constants that tie an event to lower versions of its type, and the calls that make their values. Each stands in a
/// constant of its own too: that is evaluated, and thereby judged, whether anybody uses it or not.
#[derive(Default)]
struct Links {
    names: Vec<TokenStream>,
    kinds: Vec<TokenStream>,
    calls: Vec<TokenStream>,
}

impl Links {
    fn of(event: &Event<'_>, private: &TokenStream) -> Self {
        let mut links = Self::default();
        let ident = generated_at(event.ident);
        let mut link = |lower: &Path, name, kind, function: TokenStream| {
            let lower = generated_at(lower);
            links.names.push(name);
            links.kinds.push(kind);
            // All of it stands at the path: that is what to change when it names no lower version.
            links.calls.push(all_at(lower.span(), quote!(#private::#function::<#lower, #ident>())));
        };
        if let Some(lower) = event.upcast_from {
            link(lower, quote!(UPCAST), quote!(Upcast), quote!(upcast));
        }
        if let Some(lower) = event.also_as {
            link(lower, quote!(ALSO_AS), quote!(AlsoAs), quote!(also_as));
        }
        links
    }
}

fn partition_key(key: &Key<'_>, private: &TokenStream) -> TokenStream {
    match key {
        // The argument stands at the field's type: that is what to change when it has no `Display`.
        Key::Field { field, .. } => {
            let ident = generated_at(&field.ident);
            let argument = quote_spanned!(generated_at(&field.ty).span()=> &self.#ident);
            quote!(#private::key_of(#argument))
        }
        Key::Function(path) => {
            let path = generated_at(path);
            quote!(#private::key_with(self, #path))
        }
        Key::None => quote!(::core::option::Option::None),
    }
}

fn key_source(key: &Key<'_>, private: &TokenStream) -> TokenStream {
    match key {
        Key::Field { json_name, .. } => quote!(#private::KeySource::Field(#json_name)),
        Key::Function(path) => {
            let path = path.to_token_stream().to_string().replace(' ', "");
            quote!(#private::KeySource::Function(#path))
        }
        Key::None => quote!(#private::KeySource::None),
    }
}

fn field_descriptor(field: &EventField<'_>, place: &Place, private: &TokenStream) -> TokenStream {
    let EventField { reads, flatten, description, .. } = field;
    let name = field.ident.unraw().to_string();
    let writes = option(field.writes.as_ref());
    let line = place.line_of(field.ident);
    let members = members(field, private);
    quote! {
        #private::FieldDescriptor {
            name: #name,
            writes: #writes,
            reads: &[#(#reads),*],
            flatten: #flatten,
            members: #members,
            description: #description,
            line: #line,
        }
    }
}

/// The function that tells the names which the field brings by `flatten`.
fn members(field: &EventField<'_>, private: &TokenStream) -> TokenStream {
    // The descriptor stands outside of any impl, where there is no `Self`.
    if !field.flatten || mentions_self(field.ty.to_token_stream()) {
        return quote!(#private::none);
    }
    let ty = generated_at(field.ty);
    quote! {
        || {
            use #private::Undescribed as _;
            #private::Flattened::<#ty>::OF.names()
        }
    }
}

fn mentions_self(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == "Self",
        TokenTree::Group(group) => mentions_self(group.stream()),
        _ => false,
    })
}

fn option(value: Option<impl ToTokens>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}
