//! A handler with its types erased: what `#[consumer]` registers and the step calls.

use super::{Context, States};
use crate::backoff::RetryPolicy;
use futures_util::future::BoxFuture;
use outbox_schema::{ConsumedEvent, ConsumerEntry, EncodedEvent};
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
    /// The time limit of a handler that names none.
    pub const TIMEOUT: Duration = Duration::from_secs(30);
    /// The concurrency of a handler that names none.
    pub const CONCURRENCY: u32 = 8;

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
    /// The event, one of those the handler takes.
    pub event: EncodedEvent<'a>,
    /// The delivery.
    pub context: &'a Context,
    /// The store's owned transaction, `Store::Tx`.
    pub tx: &'a mut (dyn Any + Send),
    /// The states that the runner was given.
    pub states: &'a States,
}

impl fmt::Debug for Invocation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Invocation").field("context", &self.context).finish_non_exhaustive()
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

impl HandlerError {
    /// Whether a retry cannot help: the error or one of its causes is [`Permanent`].
    #[must_use]
    pub fn is_permanent(&self) -> bool {
        let Self::Failed(error) = self else { return true };
        let mut cause: Option<&(dyn Error + 'static)> = Some(&**error);
        while let Some(error) = cause {
            if error.is::<Permanent>() || error.is::<PermanentCause>() {
                return true;
            }
            cause = error.source();
        }
        false
    }
}

/// Wraps an error that no retry can mend: the event goes to the poison policy at once.
///
/// ```
/// # use outbox_runtime::consumer::{Permanent, permanent};
/// # struct Account;
/// fn account(found: Option<Account>) -> Result<Account, Permanent> {
///     found.ok_or_else(|| permanent("the account is closed"))
/// }
/// ```
///
/// It is still known under any error it is turned into, as long as that names it among its sources.
pub fn permanent(error: impl Into<Box<dyn Error + Send + Sync>>) -> Permanent {
    Permanent { cause: PermanentCause(error.into()) }
}

/// An error that no retry can mend; see [`permanent`].
#[derive(Debug)]
pub struct Permanent {
    cause: PermanentCause,
}

impl fmt::Display for Permanent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no retry can help")
    }
}

impl Error for Permanent {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.cause)
    }
}

/// The wrapped error as a cause: wrappers that hide their own type, as anyhow's does, still show their causes.
#[derive(Debug)]
struct PermanentCause(Box<dyn Error + Send + Sync>);

impl fmt::Display for PermanentCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for PermanentCause {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

/// What a handler returns.
#[diagnostic::on_unimplemented(
    message = "a handler cannot return `{Self}`",
    label = "return `Result<(), E>`, where `E` converts into `Box<dyn Error + Send + Sync>`",
    note = "`Ok(())` acks the event, an error makes it wait for another attempt"
)]
pub trait HandlerOutcome {
    /// The outcome as the runtime judges it.
    ///
    /// # Errors
    /// The handler's own.
    fn into_result(self) -> Result<(), HandlerError>;
}

#[diagnostic::do_not_recommend]
impl<E: Into<Box<dyn Error + Send + Sync>>> HandlerOutcome for Result<(), E> {
    fn into_result(self) -> Result<(), HandlerError> {
        self.map_err(|error| HandlerError::Failed(error.into()))
    }
}

/// See [`HandlerOutcome::into_result`].
///
/// # Errors
/// The handler's own.
pub fn outcome<O: HandlerOutcome>(returned: O) -> Result<(), HandlerError> {
    returned.into_result()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shows the text and the causes of another error, and hides its type, as `anyhow::Error` does when it is boxed.
    #[derive(Debug)]
    struct Hiding(Box<dyn Error + Send + Sync>);

    impl fmt::Display for Hiding {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.fmt(f)
        }
    }

    impl Error for Hiding {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.0.source()
        }
    }

    #[derive(Debug, thiserror::Error)]
    enum ChargeError {
        #[error("the card was refused")]
        Card(#[source] Permanent),
        #[error(transparent)]
        Any(#[from] Permanent),
        #[error("the bank is closed")]
        Closed,
    }

    fn is_permanent(error: impl Into<Box<dyn Error + Send + Sync>>) -> bool {
        HandlerError::Failed(error.into()).is_permanent()
    }

    #[test]
    fn a_permanent_error_is_known_under_whatever_it_is_turned_into() {
        assert!(is_permanent(permanent("stolen")));
        assert!(is_permanent(ChargeError::Card(permanent("stolen"))));
        assert!(is_permanent(ChargeError::from(permanent("stolen"))));
        assert!(is_permanent(Hiding(permanent("stolen").into())));
    }

    #[test]
    fn any_other_error_is_tried_again() {
        assert!(!is_permanent(ChargeError::Closed));
        assert!(!is_permanent("no route to the bank"));
        assert!(!is_permanent(Hiding(ChargeError::Closed.into())));
    }

    #[test]
    fn the_chain_of_a_permanent_error_tells_the_cause_once() {
        let error = permanent(ChargeError::Closed);
        assert_eq!(crate::telemetry::error_chain(&error), "no retry can help\nthe bank is closed");
    }
}
