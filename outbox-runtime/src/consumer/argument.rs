//! How each argument of a handler is found, by its type alone.
//!
//! `#[consumer]` knows no list of types. For each parameter it calls [`by_value`], [`by_mut`] or [`by_ref`], whichever
//! the parameter is, and rustc picks the rest. What a handler takes is a constant, checked when it is compiled.

use super::{Context, DeliveryParts, FromDelivery, HandlerError, Invocation, States, TypeName};
use crate::{store::HandlerTx, telemetry};
use outbox_schema::{ConsumedEvent, EncodedEvent, EventSet};
use std::any::Any;

/// One argument of type `V`.
#[derive(Debug, Clone, Copy)]
pub struct Argument<'a, V> {
    /// What it is.
    pub kind: ArgumentKind,
    /// Takes it from what the handler is called with.
    pub take: fn(&mut Arguments<'a>) -> Result<V, HandlerError>,
}

/// What an argument is to the runtime.
#[derive(Debug, Clone, Copy)]
pub enum ArgumentKind {
    /// The event, or one of a set.
    Event(fn() -> Vec<ConsumedEvent>),
    /// The transaction.
    Transaction(TypeName),
    /// The context.
    Context,
    /// Made by the user's code, from these states.
    Extracted(fn() -> Vec<TypeName>),
}

/// What is left to take of an invocation.
#[derive(Debug)]
pub struct Arguments<'a> {
    event: EncodedEvent<'a>,
    context: &'a Context,
    tx: Option<&'a mut (dyn Any + Send)>,
    states: &'a States,
}

impl<'a> Arguments<'a> {
    /// Begins to take the arguments of one call.
    #[must_use]
    pub fn of(invocation: Invocation<'a>) -> Self {
        let Invocation { event, context, tx, states } = invocation;
        Self { event, context, tx: Some(tx), states }
    }
}

/// A type that a handler takes by value; `Way` is inferred.
#[diagnostic::on_unimplemented(
    message = "a handler cannot take `{Self}` by value",
    label = "neither an event, nor a set of events, nor made from the delivery",
    note = "an event derives `Event`, an enum of events derives `EventSet`; anything else implements `FromDelivery`, \
            as `State<T>` does"
)]
pub trait ByValue<Way>: Sized {
    /// What it is.
    const KIND: ArgumentKind;

    /// Takes it.
    ///
    /// # Errors
    /// The event cannot be decoded, or the value cannot be made.
    fn take(arguments: &mut Arguments<'_>) -> Result<Self, HandlerError>;
}

/// The way of events.
#[derive(Debug)]
pub enum AsEvent {}

/// The way of values made from the delivery.
#[derive(Debug)]
pub enum AsExtracted {}

impl<E: EventSet> ByValue<AsEvent> for E {
    const KIND: ArgumentKind = ArgumentKind::Event(E::events);

    fn take(arguments: &mut Arguments<'_>) -> Result<Self, HandlerError> {
        let event = &arguments.event;
        match E::decode(event) {
            Some(Ok(decoded)) => Ok(decoded),
            Some(Err(error)) => Err(HandlerError::Undecodable(telemetry::error_chain(&error))),
            None => Err(HandlerError::Undecodable(format!(
                "the handler takes no version {} of `{}`",
                event.event_version, event.event_type
            ))),
        }
    }
}

impl<T: FromDelivery> ByValue<AsExtracted> for T {
    const KIND: ArgumentKind = ArgumentKind::Extracted(T::states);

    fn take(arguments: &mut Arguments<'_>) -> Result<Self, HandlerError> {
        let parts = DeliveryParts::new(arguments.context, arguments.states);
        T::from_delivery(&parts).map_err(HandlerError::Failed)
    }
}

/// A type that a handler takes by `&`.
#[diagnostic::on_unimplemented(
    message = "a handler cannot take `&{Self}`",
    label = "only `&Context` is lent",
    note = "take the event by value, the transaction by `&mut`, and what is shared as `State<T>`"
)]
pub trait ByRef: Sized {
    /// Lends it.
    fn lend<'a>(arguments: &Arguments<'a>) -> &'a Self;
}

impl ByRef for Context {
    fn lend<'a>(arguments: &Arguments<'a>) -> &'a Self {
        arguments.context
    }
}

/// The argument of a parameter that is no reference.
#[must_use]
pub const fn by_value<'a, V: ByValue<Way>, Way>() -> Argument<'a, V> {
    Argument { kind: V::KIND, take: |arguments| V::take(arguments) }
}

/// The argument of a parameter `&mut T`.
#[must_use]
pub const fn by_mut<'a, T: HandlerTx>() -> Argument<'a, &'a mut T> {
    Argument { kind: ArgumentKind::Transaction(TypeName::of::<T>()), take: take_transaction::<T> }
}

/// The argument of a parameter `&T`.
#[must_use]
pub const fn by_ref<'a, T: ByRef>() -> Argument<'a, &'a T> {
    Argument { kind: ArgumentKind::Context, take: |arguments| Ok(T::lend(arguments)) }
}

fn take_transaction<'a, T: HandlerTx>(arguments: &mut Arguments<'a>) -> Result<&'a mut T, HandlerError> {
    let tx =
        arguments.tx.take().expect("a handler takes one transaction, which is checked when it is compiled");
    Ok(tx.downcast_mut().expect("a runner starts only handlers that take its store's transaction"))
}

/// Fails to compile when the argument at `index` repeats an earlier one.
#[track_caller]
pub const fn refuse_repeated(kinds: &[ArgumentKind], index: usize) {
    let mut earlier = 0;
    while earlier < index {
        match (&kinds[earlier], &kinds[index]) {
            (ArgumentKind::Event(_), ArgumentKind::Event(_)) => {
                panic!(
                    "a handler takes exactly one event; gather several in an enum with `#[derive(EventSet)]`"
                )
            }
            (ArgumentKind::Transaction(_), ArgumentKind::Transaction(_)) => {
                panic!("a handler takes at most one transaction; remove the other")
            }
            (ArgumentKind::Context, ArgumentKind::Context) => {
                panic!("a handler takes `&Context` at most once; remove the other")
            }
            _ => {}
        }
        earlier += 1;
    }
}

/// The events of a handler; fails to compile when it takes none.
#[must_use]
#[track_caller]
pub const fn consumed(kinds: &[ArgumentKind]) -> fn() -> Vec<ConsumedEvent> {
    let mut index = 0;
    while index < kinds.len() {
        if let ArgumentKind::Event(events) = kinds[index] {
            return events;
        }
        index += 1;
    }
    panic!("a handler takes exactly one event by value, and this one takes none; add it")
}

/// The transaction of a handler, if it takes one.
#[must_use]
pub const fn transaction(kinds: &[ArgumentKind]) -> Option<TypeName> {
    let mut index = 0;
    while index < kinds.len() {
        if let ArgumentKind::Transaction(name) = kinds[index] {
            return Some(name);
        }
        index += 1;
    }
    None
}

/// The states that a handler's arguments are made from.
#[must_use]
pub fn states(kinds: &[ArgumentKind]) -> Vec<TypeName> {
    let states = |kind: &ArgumentKind| match kind {
        ArgumentKind::Extracted(states) => states(),
        ArgumentKind::Event(_) | ArgumentKind::Transaction(_) | ArgumentKind::Context => Vec::new(),
    };
    kinds.iter().flat_map(states).collect()
}
