//! Judges a consumer: finds all its mistakes, or makes the [`Consumer`] that can be expanded.
//!
//! What a parameter's *type* means is not judged here: traits decide that (`consumer/argument.rs` of the runtime).

mod duration;

use super::ast::{Function, Parameter};
use super::attr::ConsumerAttr;
use crate::mistakes::Mistakes;
use crate::name;
use quote::ToTokens;
use std::collections::BTreeSet;
use syn::{Attribute, GenericParam, Ident, LitInt, LitStr, ReturnType, Type};

/// A consumer without mistakes. What is `None` has the runtime's default.
pub(super) struct Consumer<'a> {
    pub(super) name: &'a LitStr,
    pub(super) attempts: Option<u32>,
    pub(super) base_ms: Option<u64>,
    pub(super) max_ms: Option<u64>,
    pub(super) timeout_ms: Option<u64>,
    pub(super) concurrency: Option<u32>,
    pub(super) attrs: &'a [Attribute],
    pub(super) ident: &'a Ident,
    pub(super) parameters: Vec<&'a Type>,
    pub(super) output: &'a Type,
}

/// The consumer that `attr` makes of `function`; `None` when a mistake leaves nothing to expand.
pub(super) fn check<'a>(
    attr: &'a ConsumerAttr,
    function: &'a Function,
    mistakes: &mut Mistakes,
) -> Option<Consumer<'a>> {
    if !attr.names("name") {
        mistakes
            .add(&function.ident, "the consumer has no name; write `#[consumer(name = \"billing.charge\")]`");
    }
    attr.name.as_ref().inspect(|name| name::CONSUMER.check(name, mistakes));
    check_signature(function, mistakes);
    let parameters = parameters(function, mistakes);
    let output = output(function, mistakes);
    let base_ms = duration::millis(attr.base.as_ref(), mistakes);
    let max_ms = duration::millis(attr.max.as_ref(), mistakes);
    if let (Some(base), Some(max), Some(literal)) = (base_ms, max_ms, &attr.base)
        && base > max
    {
        mistakes.add(literal, "the first wait is longer than the longest; make `base` at most `max`");
    }
    Some(Consumer {
        attempts: at_least_one(attr.attempts.as_ref(), "attempts", mistakes),
        base_ms,
        max_ms,
        timeout_ms: duration::millis(attr.timeout.as_ref(), mistakes),
        concurrency: at_least_one(attr.concurrency.as_ref(), "concurrency", mistakes),
        name: attr.name.as_ref()?,
        attrs: &function.attrs,
        ident: &function.ident,
        parameters,
        output: output?,
    })
}

fn check_signature(function: &Function, mistakes: &mut Mistakes) {
    if !function.is_async {
        mistakes.add(function.fn_token, "a handler is an async function; write `async fn`");
    }
    if let Some(word) = &function.unsafety {
        mistakes.add(word, "a handler is called by the runtime, which can promise nothing; remove `unsafe`");
    }
    for parameter in &function.generics.params {
        if !matches!(parameter, GenericParam::Lifetime(_)) {
            mistakes.add(
                parameter,
                "a handler is one function for one consumer, so it cannot be generic; name the type",
            );
        }
    }
    if function.parameters.is_empty() {
        mistakes.add(
            &function.ident,
            "a handler takes exactly one event by value, and this one takes none; add it",
        );
    }
}

fn output<'a>(function: &'a Function, mistakes: &mut Mistakes) -> Option<&'a Type> {
    match &function.output {
        ReturnType::Type(_, ty) => Some(ty),
        ReturnType::Default => {
            mistakes.add(
                &function.ident,
                "a handler says whether it succeeded; let it return `Result<(), E>` with an error type of yours",
            );
            None
        }
    }
}

/// The types of the parameters, each of which may stand there once.
fn parameters<'a>(function: &'a Function, mistakes: &mut Mistakes) -> Vec<&'a Type> {
    let mut types = Vec::new();
    let mut seen = BTreeSet::new();
    for parameter in &function.parameters {
        match parameter {
            Parameter::Receiver(tokens) => mistakes.add(
                tokens,
                "a handler is a free function, because nobody could make the `self` to call it on; \
                 take what it needs as `State<T>`",
            ),
            Parameter::Typed(ty) if matches!(**ty, Type::ImplTrait(_)) => mistakes.add(
                ty,
                "a handler is one function for one consumer, so it cannot be generic; name the type",
            ),
            Parameter::Typed(ty) => {
                if !seen.insert(ty.to_token_stream().to_string()) {
                    mistakes.add(ty, "a handler takes each type at most once; remove one of the two");
                }
                types.push(&**ty);
            }
        }
    }
    types
}

fn at_least_one(literal: Option<&LitInt>, what: &str, mistakes: &mut Mistakes) -> Option<u32> {
    let literal = literal?;
    let number = literal.base10_parse().ok().filter(|number| *number >= 1);
    if number.is_none() {
        mistakes.add(literal, format!("`{what}` is a number from 1 to {}; write `{what} = 8`", u32::MAX));
    }
    number
}
