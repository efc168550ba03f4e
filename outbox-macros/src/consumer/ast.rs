//! The function under `#[consumer]`, as far as it matters: all but its body.
//!
//! Read by hand, because syn's own items need its largest feature, which every crate of events would have to build.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Generics, Ident, ReturnType, Token, Type, Visibility};

/// A function with its parameters.
pub(super) struct Function {
    pub(super) attrs: Vec<Attribute>,
    pub(super) is_async: bool,
    pub(super) unsafety: Option<Token![unsafe]>,
    pub(super) fn_token: Token![fn],
    pub(super) ident: Ident,
    pub(super) generics: Generics,
    pub(super) parameters: Vec<Parameter>,
    pub(super) output: ReturnType,
}

/// One parameter.
pub(super) enum Parameter {
    /// `self` in any form.
    Receiver(TokenStream),
    /// Any other, of which only the type matters.
    Typed(Box<Type>),
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        input.parse::<Visibility>()?;
        input.parse::<Option<Token![const]>>()?;
        let is_async = input.parse::<Option<Token![async]>>()?.is_some();
        let unsafety = input.parse()?;
        if !input.peek(Token![fn]) {
            return Err(input.error("`#[consumer]` stands on a function; write `async fn`"));
        }
        let fn_token = input.parse()?;
        let ident = input.parse()?;
        let generics = input.parse()?;
        let inside;
        syn::parenthesized!(inside in input);
        let mut parameters = Vec::new();
        while !inside.is_empty() {
            parameters.push(inside.parse()?);
            inside.parse::<Option<Token![,]>>()?;
        }
        let output = input.parse()?;
        // The condition and the body stay as they are.
        input.parse::<TokenStream>()?;
        Ok(Self { attrs, is_async, unsafety, fn_token, ident, generics, parameters, output })
    }
}

impl Parse for Parameter {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        input.call(Attribute::parse_outer)?;
        let mut pattern = TokenStream::new();
        while !input.is_empty() && !input.peek(Token![,]) {
            if input.peek(Token![::]) {
                input.parse::<Token![::]>()?.to_tokens(&mut pattern);
            } else if input.peek(Token![:]) {
                break;
            } else {
                input.parse::<TokenTree>()?.to_tokens(&mut pattern);
            }
        }
        let is_receiver = pattern.clone().into_iter().any(|token| token.to_string() == "self");
        if input.parse::<Option<Token![:]>>()?.is_some() {
            let ty = input.parse()?;
            return Ok(if is_receiver { Self::Receiver(pattern) } else { Self::Typed(Box::new(ty)) });
        }
        if is_receiver { Ok(Self::Receiver(pattern)) } else { Err(input.error("expected `:` and a type")) }
    }
}
