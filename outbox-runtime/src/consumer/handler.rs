//! A handler with its types erased: what `#[consumer]` registers and the step calls.

use super::{Context, States};
use crate::{backoff::RetryPolicy, envelope::Envelope};
use futures_util::future::BoxFuture;
use outbox_schema::{ConsumedEvent, ConsumerEntry};
use std::{
    any::{Any, TypeId},
    error::Error,
    fmt,
    time::Duration,
};

/// One consumer as the runtime needs it, written by `#[consumer]`.
#[derive(Debug, Clone, Copy)]
pub struct HandlerEntry {
    /// What documents know of it.
    pub entry: ConsumerEntry,
    /// How often and how far apart a failing event is tried.
    pub retry: RetryPolicy,
    /// How long one attempt may take.
    pub timeout: Duration,
    /// The most events of one partition handled at once; 1 where the store has one writer.
    pub concurrency: u32,
    /// The transaction it takes; `None` runs on every store.
    pub transaction: Option<TypeName>,
    /// The states it takes.
    pub states: fn() -> Vec<TypeName>,
    /// Decodes the event and runs the function.
    pub call: HandlerFn,
}

/// Runs a handler on one delivery.
pub type HandlerFn = for<'a> fn(Invocation<'a>) -> BoxFuture<'a, Result<(), HandlerError>>;

inventory::collect!(HandlerEntry);

impl HandlerEntry {
    /// The events it takes.
    #[must_use]
    pub fn events(&self) -> Vec<ConsumedEvent> {
        (self.entry.events)()
    }

    /// The topics of the events it takes, sorted, each once.
    #[must_use]
    pub fn topics(&self) -> Vec<&'static str> {
        let mut topics: Vec<_> = self.events().into_iter().map(|event| event.topic).collect();
        topics.sort_unstable();
        topics.dedup();
        topics
    }
}

/// A type that a handler takes, for comparison at start and for the error that names it.
#[derive(Debug, Clone, Copy)]
pub struct TypeName {
    /// The type.
    pub id: fn() -> TypeId,
    /// Its name, for people.
    pub name: fn() -> &'static str,
}

impl TypeName {
    /// Names the type `T`.
    #[must_use]
    pub const fn of<T: 'static>() -> Self {
        Self { id: TypeId::of::<T>, name: std::any::type_name::<T> }
    }
}

/// What a handler is called with.
pub struct Invocation<'a> {
    /// The event with its metadata.
    pub envelope: &'a Envelope,
    /// The event's own JSON object, without `eventType` and `eventVersion`.
    pub body: &'a str,
    /// The delivery, for handlers that take `&Context`.
    pub context: &'a Context,
    /// The store's owned transaction, `Store::Tx`.
    pub tx: &'a mut (dyn Any + Send),
    /// The states that the runner was given.
    pub states: &'a States,
}

impl fmt::Debug for Invocation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Invocation").field("event_id", &self.envelope.id).finish_non_exhaustive()
    }
}

/// Why a handler did not succeed.
#[derive(Debug)]
pub enum HandlerError {
    /// The payload is not the event that its type and version promise: a dead letter at once.
    Undecodable(String),
    /// The function, or an extractor before it, returned an error.
    Failed(Box<dyn Error + Send + Sync>),
}

/// Wraps an error that no retry can mend: the event goes to the poison policy at once.
///
/// ```ignore
/// let account = find(&event).ok_or_else(|| outbox::permanent("no such account"))?;
/// ```
pub fn permanent(error: impl Into<Box<dyn Error + Send + Sync>>) -> Permanent {
    Permanent(error.into())
}

/// An error that no retry can mend; see [`permanent`].
#[derive(Debug)]
pub struct Permanent(Box<dyn Error + Send + Sync>);

impl fmt::Display for Permanent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for Permanent {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

impl HandlerError {
    /// Whether a retry cannot help: the error or one of its causes is [`Permanent`].
    #[must_use]
    pub fn is_permanent(&self) -> bool {
        let Self::Failed(error) = self else { return true };
        let mut cause: Option<&(dyn Error + 'static)> = Some(&**error);
        while let Some(error) = cause {
            if error.is::<Permanent>() {
                return true;
            }
            cause = error.source();
        }
        false
    }
}
