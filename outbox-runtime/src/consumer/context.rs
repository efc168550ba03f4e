//! What a handler may know of the delivery it works on, and how it writes follow-up events.

use crate::{
    draft::IntoDraft,
    enqueue::{EnqueueError, Outbox},
    envelope::{Envelope, EventId, Headers},
    store::{OpenTx, Store},
};
use std::{any::Any, sync::Arc};

/// The delivery a handler works on.
#[derive(Clone)]
pub struct Context {
    consumer: &'static str,
    attempt: u32,
    envelope: Arc<Envelope>,
    outbox: Arc<dyn Any + Send + Sync>,
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The payload stays out: it must never reach a log.
        f.debug_struct("Context")
            .field("consumer", &self.consumer)
            .field("attempt", &self.attempt)
            .field("event_id", &self.envelope.id)
            .finish_non_exhaustive()
    }
}

impl Context {
    pub(crate) fn new<S: Store>(
        consumer: &'static str,
        attempt: u32,
        envelope: Arc<Envelope>,
        outbox: &Outbox<S>,
    ) -> Self {
        Self { consumer, attempt, envelope, outbox: Arc::new(outbox.clone()) }
    }

    /// The consumer's name.
    #[must_use]
    pub fn consumer(&self) -> &'static str {
        self.consumer
    }

    /// Which attempt this is: 1 for the first.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The identity of the event; unique with [`Envelope::source`](crate::envelope::NewEvent::source).
    #[must_use]
    pub fn event_id(&self) -> EventId {
        self.envelope.id
    }

    /// The user headers.
    #[must_use]
    pub fn headers(&self) -> &Headers {
        &self.envelope.headers
    }

    /// The event with all its metadata.
    #[must_use]
    pub fn envelope(&self) -> &Envelope {
        &self.envelope
    }

    /// Writes a follow-up event in the handler's transaction: it is published if and only if the handler commits.
    ///
    /// # Errors
    /// [`EnqueueError`]; nothing was written. Return it from the handler.
    ///
    /// # Panics
    /// If `tx` is not the transaction this handler was given.
    pub async fn enqueue<S: Store>(
        &self,
        tx: &mut impl OpenTx<S>,
        event: impl IntoDraft,
    ) -> Result<EventId, EnqueueError> {
        let outbox =
            self.outbox.downcast_ref::<Outbox<S>>().expect("a handler runs on the store of its transaction");
        outbox.enqueue(tx, event).await
    }
}
