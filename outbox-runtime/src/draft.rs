//! What is enqueued: an event, and what is said of this one alone.

use crate::{
    enqueue::EnqueueError,
    envelope::{EventId, Headers, NewEvent, Twin},
    held::Lane,
    payload::{self, PayloadError},
    telemetry,
};
use outbox_schema::{Event, Lower};
use std::time::SystemTime;

/// An event on its way into the log, with what is said of this one alone.
#[derive(Debug)]
#[must_use = "a draft is written by `enqueue`"]
pub struct Draft {
    /// The event; behind it the lower version that `also_as` asks for.
    pub(crate) events: Result<Vec<NewEvent>, EnqueueError>,
    locks: bool,
    pub(crate) due: Option<SystemTime>,
}

/// Starts a draft of `event`.
///
/// ```ignore
/// outbox.enqueue(&mut tx, draft(&placed).header("tenant", "acme")).await?;
/// ```
pub fn draft<E: Event>(event: &E) -> Draft {
    Draft { events: events_of(event), locks: false, due: None }
}

/// The event, and behind it the lower version that is written too, each with the other as its twin.
fn events_of<E: Event>(event: &E) -> Result<Vec<NewEvent>, EnqueueError> {
    let refused = |source: PayloadError| EnqueueError::Payload { event: E::TYPE, source: Box::new(source) };
    let payload = payload::write(E::TYPE, E::VERSION, |text| serde_json::to_writer(text, event));
    let (traceparent, tracestate) = telemetry::current_trace_context();
    let mut newer = NewEvent {
        id: EventId::now(),
        source: String::new(),
        topic: E::TOPIC.to_owned(),
        key: event.partition_key(),
        event_type: E::TYPE.to_owned(),
        event_version: E::VERSION,
        payload: payload.map_err(refused)?,
        dataschema: String::new(),
        headers: Headers::new(),
        traceparent,
        tracestate,
        twin: None,
        on_poison: E::ON_POISON,
    };
    let Some(also_as) = E::ALSO_AS else { return Ok(vec![newer]) };
    let Lower { partition_key, json } = (also_as.write)(event);
    if partition_key != newer.key {
        return Err(EnqueueError::KeysDiffer { event: E::TYPE, version: E::VERSION, lower: also_as.version });
    }
    let payload =
        payload::write(E::TYPE, also_as.version, |text| json.map(|mut json| text.append(&mut json)));
    let lower = NewEvent {
        id: EventId::now(),
        event_version: also_as.version,
        payload: payload.map_err(refused)?,
        twin: Some(Twin { id: newer.id, version: newer.event_version }),
        on_poison: also_as.on_poison,
        ..newer.clone()
    };
    newer.twin = Some(Twin { id: lower.id, version: lower.event_version });
    Ok(vec![newer, lower])
}

impl Draft {
    /// Adds a user header: `[a-z0-9]`, 1 to 64 characters, and text without control characters.
    pub fn header(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let (name, value) = (name.into(), value.into());
        self.with(|event| {
            event.headers.insert(name.clone(), value.clone());
        })
    }

    /// Names another source than the outbox's.
    pub fn source(self, source: impl Into<String>) -> Self {
        let source = source.into();
        self.with(|event| event.source.clone_from(&source))
    }

    /// Sets the trace context instead of the current one.
    pub fn trace(self, traceparent: impl Into<String>, tracestate: Option<String>) -> Self {
        let traceparent = Some(traceparent.into());
        self.with(|event| {
            event.traceparent.clone_from(&traceparent);
            event.tracestate.clone_from(&tracestate);
        })
    }

    /// Lets the event enter the log at `time` by the database's clock; one that is past is due at once. Takes the time of
    /// the standard library, and what converts into it, such as those of the crates `time` and `chrono`.
    ///
    /// Until it is due it can be taken back by its id, with [`Outbox::cancel`](crate::Outbox::cancel). It keeps its id,
    /// key and headers; its order counts from the moment it enters the log, where events come in the order in which they
    /// are due. A process that runs a relay or a consumer of this database moves it there.
    pub fn at(mut self, time: impl Into<SystemTime>) -> Self {
        self.due = Some(time.into());
        self
    }

    /// Takes a lock on the event's key first and holds it to the end of the transaction, so that events of this key keep
    /// the order of their commits though their writers have no row in common. Every writer of the key must do so.
    ///
    /// On PostgreSQL it is an advisory lock: a writer waits for the others of the key, and two transactions that lock the
    /// same keys in different order may deadlock, which the database ends with a transient error. Events of one batch
    /// are locked in an order of their own. On SQLite nothing is taken: the one writer has locked everything already. An
    /// unordered event has no order to keep, and the order of one that is [scheduled](Self::at) begins later, so nothing is
    /// locked for them either.
    pub fn locked(mut self) -> Self {
        self.locks = true;
        self
    }

    /// What is to be locked before the event is written.
    pub(crate) fn locked_lane(&self) -> Option<Lane> {
        // Both versions of a pair are of one lane.
        let event = self.events.as_ref().ok()?.first();
        let event = event.filter(|event| self.locks && self.due.is_none() && event.key.is_some())?;
        Some(Lane::of(event))
    }

    fn with(mut self, change: impl FnMut(&mut NewEvent)) -> Self {
        if let Ok(events) = &mut self.events {
            events.iter_mut().for_each(change);
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
