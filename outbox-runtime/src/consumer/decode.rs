//! Decides what a consumer does with an event, by the type and version alone.

use crate::{
    broker::Malformed,
    envelope::{Envelope, Twin},
    payload,
};
use outbox_schema::ConsumedEvent;
use std::borrow::Cow;

/// What is to be done with a delivery.
#[derive(Debug)]
pub(super) enum Route<'a> {
    /// The handler takes it: which of its events it is, and the event's own JSON object.
    Handle { event: ConsumedEvent, body: Cow<'a, str> },
    /// A type that this consumer does not take, or the newer half of a cutover pair of which it takes the older one, which
    /// comes next: done without running.
    Ignore,
    /// The older half of a pair of which it takes the newer one, which came before.
    Behind(Twin),
    /// A version above those it takes: hold it until a process that knows it runs.
    Newer(String),
    /// It can never be handled: a dead letter.
    Refuse { reason: &'static str, problem: String },
}

/// Routes one delivery of a consumer that takes `events`.
pub(super) fn route<'a>(event: Result<&'a Envelope, &'a Malformed>, events: &[ConsumedEvent]) -> Route<'a> {
    let envelope = match event {
        Ok(envelope) => envelope,
        Err(malformed) => return Route::Refuse { reason: "undecodable", problem: malformed.problem.clone() },
    };
    let opened = match payload::open(&envelope.payload) {
        Ok(opened) => opened,
        Err(error) => {
            let problem = match envelope.malformed() {
                Some(problem) => problem.to_owned(),
                None => format!("the payload is no JSON object: {error}"),
            };
            return Route::Refuse { reason: "undecodable", problem };
        }
    };
    // The payload's own word counts: it is the same on every broker.
    let event_type = opened.event_type.as_deref().unwrap_or(&envelope.event_type);
    let event_version = opened.event_version.unwrap_or(envelope.event_version);
    let of_type = events.iter().filter(|event| event.event_type == event_type);
    if let Some(problem) = envelope.malformed()
        && of_type.clone().next().is_some()
    {
        return Route::Refuse { reason: "undecodable", problem: problem.to_owned() };
    }
    if let Some(&event) = of_type.clone().find(|event| event.event_version == event_version) {
        return Route::Handle { event, body: opened.body };
    }
    let mut versions = of_type.map(|event| event.event_version);
    let Some(newest) = versions.clone().max() else { return Route::Ignore };
    if let Some(twin) = envelope.twin.filter(|twin| versions.any(|version| version == twin.version)) {
        return if event_version > twin.version { Route::Ignore } else { Route::Behind(twin) };
    }
    if event_version > newest {
        return Route::Newer(format!(
            "this process takes `{event_type}` up to version {newest}, and the event is of version {event_version}; \
             it waits for a process that knows that version"
        ));
    }
    Route::Refuse {
        reason: "version-not-taken",
        problem: format!(
            "no handler of this consumer takes version {event_version} of `{event_type}`; let a newer version that it \
             takes be made from this one with `upcast_from`"
        ),
    }
}
