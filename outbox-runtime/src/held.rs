//! Events that wait with their key: the one mechanism that keeps order through failure, for relays and consumers.
//!
//! ```text
//!            first failure                 attempts left
//!  (flows) ───────────────▶ waiting ─────────────────────▶ waiting, tried again at next_at
//!     ▲                        │
//!     │  head done, none left  │ exhausted or refused for good
//!     └────────────────────────┼──▶ park:  dead letter, the rest waits for a request
//!                              ├──▶ skip:  dead letter, the next of the key becomes the head
//!                              └──▶ block: stays the head, tried for ever
//! ```
//! A key waits as long as its mark stands. Marks and held rows change only in fenced writes of the stage's leader, and
//! the write that removes the last held row of a key removes its mark with it.

use crate::envelope::{Envelope, EventId, NewEvent, Seq};
use serde::Serialize;
use std::{fmt, time::Duration};

/// One relay or one consumer: whose progress, held events and dead letters these are.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Stage(String);

impl Stage {
    /// The stage of the relay of that name.
    #[must_use]
    pub fn relay(name: &str) -> Self {
        Self(format!("relay/{name}"))
    }

    /// The stage of the consumer of that name.
    #[must_use]
    pub fn consumer(name: &str) -> Self {
        Self(format!("consumer/{name}"))
    }

    /// The upkeep of a store: retention and sweeps.
    #[must_use]
    pub fn upkeep() -> Self {
        Self("upkeep".to_owned())
    }

    /// The look for new dead letters.
    #[must_use]
    pub fn alerts() -> Self {
        Self("alerts".to_owned())
    }

    /// Whether this is a consumer, which has an inbox.
    #[must_use]
    pub fn is_consumer(&self) -> bool {
        self.0.starts_with("consumer/")
    }

    /// The stage that a store's row names.
    #[must_use]
    pub fn from_text(text: String) -> Self {
        Self(text)
    }

    /// The text in the store: `relay/<name>` or `consumer/<name>`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The events of one topic that keep their order: those of one partition key. An unordered event is alone in its lane.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lane(String);

impl Lane {
    /// The lane of an event.
    #[must_use]
    pub fn of(event: &NewEvent) -> Self {
        match &event.key {
            Some(key) => Self(format!("{}/{key}", event.topic)),
            // A topic is never empty, so no key's lane begins with a slash.
            None => Self(format!("/{}", event.id)),
        }
    }

    /// The lane that a store's row names.
    #[must_use]
    pub fn from_text(text: String) -> Self {
        Self(text)
    }

    /// The text in the store.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The share of a stage that one lease covers: empty for the whole stage, else `<topic>.<partition>`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Share(pub String);

/// Why an attempt failed, as people read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// A stable word in kebab-case: `handler-error`, `handler-panic`, `handler-timeout`, `undecodable`, `refused`,
    /// `process-ended`, `connection-lost`, …
    pub reason: &'static str,
    /// The error and its causes, outermost first, a line each.
    pub error_chain: String,
}

/// An event that waits, with the history of its attempts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldEvent {
    /// The event.
    pub envelope: Envelope,
    /// Attempts charged so far, since it was first held or last replayed.
    pub attempts: u32,
    /// Whether a dead letter of this event stands beside it, to be removed when it is done.
    pub replayed: bool,
    /// Whether its last attempt ended the process or lost the handler's connection, so that it is tried alone.
    pub tried_alone: bool,
}

/// Names one held row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldId {
    /// Its lane.
    pub lane: Lane,
    /// Its place in the log.
    pub seq: Seq,
    /// Its source.
    pub source: String,
    /// Its id.
    pub id: EventId,
}

impl HeldId {
    /// The name of the held row of `envelope`.
    #[must_use]
    pub fn of(envelope: &Envelope) -> Self {
        Self { lane: Lane::of(envelope), seq: envelope.seq, source: envelope.source.clone(), id: envelope.id }
    }
}

/// One change of a stage's held events, marks and dead letters. Applied in order, in one fenced write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The first failure in a lane that did not wait: hold the event and set the lane's mark.
    /// On a lane that waits by now, as [`Change::Behind`].
    Hold {
        /// The event.
        envelope: Envelope,
        /// Attempts charged so far; 0 when the failure is not the event's fault.
        attempts: u32,
        /// The wait until the next attempt.
        retry_in: Duration,
        /// Why it failed.
        failure: Failure,
    },
    /// An event of a lane that waits: hold it behind the head. A row that stands there already stays as it is. If the
    /// lane's mark is gone by now (its head was done or skipped in the same write), the mark is set again, due at once:
    /// no held row is ever without a mark.
    Behind {
        /// The event.
        envelope: Envelope,
    },
    /// The head failed again and stays the head.
    Retry {
        /// The head.
        held: HeldId,
        /// Attempts charged so far.
        attempts: u32,
        /// The wait until the next attempt.
        retry_in: Duration,
        /// Why it failed.
        failure: Failure,
    },
    /// The head is done: remove it, and its dead letter if it was replayed; the next of the lane is due at once, or the
    /// mark goes.
    Done {
        /// The head.
        held: HeldId,
    },
    /// The event goes to the dead letters (it may be held, or not yet).
    Dead {
        /// The event.
        envelope: Envelope,
        /// Attempts charged, this one included.
        attempts: u32,
        /// Why it failed last.
        failure: Failure,
        /// Whether the rest of its lane waits for a request (park) or goes on (skip).
        park: bool,
    },
}
