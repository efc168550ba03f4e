//! What a handler can take beside its event and the transaction: states, and values of the user's own making.

use super::{Context, States, TypeName};
use std::{error::Error, fmt, ops::Deref, sync::Arc};

/// A value that a handler takes, made from the delivery.
///
/// ```
/// use outbox_runtime::consumer::{DeliveryParts, FromDelivery};
///
/// struct Tenant(String);
///
/// impl FromDelivery for Tenant {
///     fn from_delivery(parts: &DeliveryParts<'_>) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
///         let tenant = parts.context().headers().get("tenant").ok_or("the event names no tenant")?;
///         Ok(Self(tenant.clone()))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be made from a delivery",
    label = "this type does not implement `FromDelivery`"
)]
pub trait FromDelivery: Sized + Send {
    /// The states that [`FromDelivery::from_delivery`] reads; a runner without one of them does not start.
    #[must_use]
    fn states() -> Vec<TypeName> {
        Vec::new()
    }

    /// Makes the value, each time the handler runs.
    ///
    /// # Errors
    /// Whatever keeps the handler from running. The attempt failed as if the handler had returned the error.
    fn from_delivery(parts: &DeliveryParts<'_>) -> Result<Self, Box<dyn Error + Send + Sync>>;
}

/// What a value of a handler can be made from.
#[derive(Debug, Clone, Copy)]
pub struct DeliveryParts<'a> {
    context: &'a Context,
    states: &'a States,
}

impl<'a> DeliveryParts<'a> {
    pub(super) fn new(context: &'a Context, states: &'a States) -> Self {
        Self { context, states }
    }

    /// The delivery: its attempt and the event's metadata.
    #[must_use]
    pub fn context(&self) -> &'a Context {
        self.context
    }

    /// The state of type `T` that the runner was given.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.states.get()
    }
}

/// A value that handlers share, given to the runner at start.
#[derive(Debug)]
pub struct State<T>(pub Arc<T>);

impl<T> Deref for State<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> Clone for State<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: Send + Sync + 'static> FromDelivery for State<T> {
    fn states() -> Vec<TypeName> {
        vec![TypeName::of::<T>()]
    }

    fn from_delivery(parts: &DeliveryParts<'_>) -> Result<Self, Box<dyn Error + Send + Sync>> {
        parts.state().map(Self).ok_or_else(|| StateMissing { state: std::any::type_name::<T>() }.into())
    }
}

/// An extractor asked for a state without listing it in [`FromDelivery::states`].
#[derive(Debug)]
struct StateMissing {
    state: &'static str,
}

impl fmt::Display for StateMissing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "nobody gave `State<{}>`; add `.state(…)` to the runner", self.state)
    }
}

impl Error for StateMissing {}
