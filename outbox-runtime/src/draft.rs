//! What is enqueued: an event, and what is said of this one alone.

use crate::{
    enqueue::EnqueueError,
    envelope::{EventId, Headers, NewEvent},
    held::Lane,
    payload, telemetry,
};
use outbox_schema::Event;

/// An event on its way into the log, with what is said of this one alone.
#[derive(Debug)]
#[must_use = "a draft is written by `enqueue`"]
pub struct Draft {
    pub(crate) event: Result<NewEvent, EnqueueError>,
    locks: bool,
}

/// Starts a draft of `event`.
///
/// ```ignore
/// outbox.enqueue(&mut tx, draft(&placed).header("tenant", "acme")).await?;
/// ```
pub fn draft<E: Event>(event: &E) -> Draft {
    let refused =
        |source: payload::PayloadError| EnqueueError::Payload { event: E::TYPE, source: Box::new(source) };
    let (traceparent, tracestate) = telemetry::current_trace_context();
    let event = payload::write(event).map_err(refused).map(|payload| NewEvent {
        id: EventId::now(),
        source: String::new(),
        topic: E::TOPIC.to_owned(),
        key: event.partition_key(),
        event_type: E::TYPE.to_owned(),
        event_version: E::VERSION,
        payload,
        dataschema: String::new(),
        headers: Headers::new(),
        traceparent,
        tracestate,
        twin: None,
        on_poison: E::ON_POISON,
    });
    Draft { event, locks: false }
}

impl Draft {
    /// Adds a user header: `[a-z0-9]`, 1 to 64 characters, and text without control characters.
    pub fn header(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.with(|event| {
            event.headers.insert(name.into(), value.into());
        })
    }

    /// Names another source than the outbox's.
    pub fn source(self, source: impl Into<String>) -> Self {
        self.with(|event| event.source = source.into())
    }

    /// Sets the trace context instead of the current one.
    pub fn trace(self, traceparent: impl Into<String>, tracestate: Option<String>) -> Self {
        self.with(|event| {
            event.traceparent = Some(traceparent.into());
            event.tracestate = tracestate;
        })
    }

    /// Takes a lock on the event's key first and holds it to the end of the transaction, so that events of this key keep
    /// the order of their commits though their writers have no row in common. Every writer of the key must do so.
    ///
    /// On PostgreSQL it is an advisory lock: a writer waits for the others of the key, and two transactions that lock the
    /// same keys in different order may deadlock, which the database ends with a transient error. Events of one batch
    /// are locked in an order of their own. On SQLite nothing is taken: the one writer has locked everything already. An
    /// unordered event has no order to keep, so nothing is locked for it either.
    pub fn locked(mut self) -> Self {
        self.locks = true;
        self
    }

    /// What is to be locked before the event is written.
    pub(crate) fn locked_lane(&self) -> Option<Lane> {
        let event = self.event.as_ref().ok().filter(|event| self.locks && event.key.is_some())?;
        Some(Lane::of(event))
    }

    fn with(mut self, change: impl FnOnce(&mut NewEvent)) -> Self {
        if let Ok(event) = &mut self.event {
            change(event);
        }
        self
    }
}

/// What can be enqueued: `&event`, or a [`draft`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be enqueued",
    label = "expected a reference to an event, or a draft",
    note = "write `enqueue(&mut tx, &event)` for a type that derives `Event`, or `draft(&event)` to add headers"
)]
pub trait IntoDraft {
    /// The draft.
    fn into_draft(self) -> Draft;
}

impl IntoDraft for Draft {
    fn into_draft(self) -> Draft {
        self
    }
}

impl<E: Event> IntoDraft for &E {
    fn into_draft(self) -> Draft {
        draft(self)
    }
}
