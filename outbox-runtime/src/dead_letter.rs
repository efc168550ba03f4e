//! Events set aside, with everything a person needs to decide: what, why, since when, after how many attempts.

use crate::{
    envelope::{Envelope, EventId, Seq},
    held::Stage,
};
use serde::Serialize;
use std::num::NonZeroU32;
use time::OffsetDateTime;

/// One event that a stage has given up, until a person replays or discards it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeadLetter {
    /// Its number in this store.
    pub id: i64,
    /// The relay or consumer that gave it up.
    pub stage: Stage,
    /// The event, unchanged.
    pub envelope: Envelope,
    /// A stable word for why: see [`Failure::reason`](crate::held::Failure::reason).
    pub reason: String,
    /// The last error and its causes, outermost first, a line each.
    pub error_chain: String,
    /// All attempts, those before earlier replays included.
    pub attempts: u32,
    /// The first failure.
    pub first_failed_at: OffsetDateTime,
    /// The last failure.
    pub last_failed_at: OffsetDateTime,
    /// Whether later events of its key wait for it.
    pub parks_key: bool,
    /// Whether a replay was asked for and is not finished.
    pub replaying: bool,
}

impl DeadLetter {
    #[doc(hidden)]
    #[must_use]
    #[expect(clippy::too_many_arguments, reason = "one argument a column; only stores call it")]
    pub fn from_row(
        id: i64,
        stage: Stage,
        envelope: Envelope,
        (reason, error_chain): (String, String),
        attempts: u32,
        (first_failed_at, last_failed_at): (OffsetDateTime, OffsetDateTime),
        parks_key: bool,
        replaying: bool,
    ) -> Self {
        Self {
            id,
            stage,
            envelope,
            reason,
            error_chain,
            attempts,
            first_failed_at,
            last_failed_at,
            parks_key,
            replaying,
        }
    }
}

/// Which dead letters; every field that is set must match.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeadLetterFilter {
    /// Of these numbers.
    pub ids: Vec<i64>,
    /// Of this relay or consumer.
    pub stage: Option<Stage>,
    /// Of this event, which may be a dead letter of several stages.
    pub event: Option<EventId>,
    /// Of this event type.
    pub event_type: Option<String>,
    /// Of this version of an event type.
    pub event_version: Option<u32>,
    /// Of this partition key.
    pub key: Option<String>,
    /// With this reason.
    pub reason: Option<String>,
    /// Last failed at this time or later.
    pub since: Option<OffsetDateTime>,
    /// Last failed before this time.
    pub until: Option<OffsetDateTime>,
    /// With a higher number than this (for paging).
    pub after: Option<i64>,
}

/// Dead letters that have in common what a person decides by, counted. As JSON it is what the command line shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DeadLetterCount {
    /// The relay or consumer.
    pub stage: Stage,
    /// The event type.
    #[serde(rename = "type")]
    pub event_type: String,
    /// Its version.
    #[serde(rename = "version")]
    pub event_version: u32,
    /// Why they were given up.
    pub reason: String,
    /// How many.
    pub count: u64,
    /// Of those, how many a request stands for that nobody has acted on yet.
    pub requested: u64,
    /// Of the others, how many are being replayed.
    pub replaying: u64,
    /// Of those, how many make later events of their key wait.
    pub parking: u64,
    /// The lowest number among them.
    #[serde(skip)]
    pub oldest: i64,
    /// The highest number among them.
    #[serde(skip)]
    pub newest: i64,
}

impl DeadLetterCount {
    #[doc(hidden)]
    #[must_use]
    pub fn from_row(
        stage: Stage,
        (event_type, event_version): (String, u32),
        reason: String,
        [count, requested, replaying, parking]: [u64; 4],
        (oldest, newest): (i64, i64),
    ) -> Self {
        Self {
            stage,
            event_type,
            event_version,
            reason,
            count,
            requested,
            replaying,
            parking,
            oldest,
            newest,
        }
    }

    /// How many a request would be recorded for.
    #[must_use]
    pub fn open_to(&self, request: Request) -> u64 {
        let taken = match request {
            Request::Replay => self.requested + self.replaying,
            Request::Discard => self.requested,
        };
        self.count.saturating_sub(taken)
    }
}

/// What a person asks of a dead letter. The leader of its stage acts on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// Try it again with its attempts at zero; its key goes on when it is done.
    Replay,
    /// Remove it; its key goes on.
    Discard,
}

impl Request {
    /// The word in the store.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Replay => "replay",
            Self::Discard => "discard",
        }
    }
}

/// On what terms something is asked of dead letters. Who and why are kept in the audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Terms {
    /// Who asks.
    pub asked_by: String,
    /// Why.
    pub why: String,
    /// How many are acted on in a second, over all processes; default: as fast as they go.
    pub per_second: Option<NonZeroU32>,
}

impl Terms {
    /// Asked by this person or program, for this reason.
    pub fn new(asked_by: impl Into<String>, why: impl Into<String>) -> Self {
        Self { asked_by: asked_by.into(), why: why.into(), per_second: None }
    }

    /// At most so many in a second, beginning with one at once.
    #[must_use]
    pub fn per_second(self, most: NonZeroU32) -> Self {
        Self { per_second: Some(most), ..self }
    }
}

/// What was done with a dead letter, or with an event that a forgotten stage held. It may be gone since; its payload and
/// headers are not kept here.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditEntry {
    /// Its number in the audit log of this store.
    pub id: i64,
    /// What was done.
    pub action: AuditAction,
    /// Who asked for it.
    pub asked_by: String,
    /// Why.
    pub why: String,
    /// When it was asked for.
    pub asked_at: OffsetDateTime,
    /// When it was done.
    pub done_at: OffsetDateTime,
    /// The relay or consumer.
    pub stage: Stage,
    /// The number that the dead letter had; `None` for an event that was held when its stage was forgotten.
    pub dead_letter: Option<i64>,
    /// The event.
    pub event: EventId,
    /// Its source.
    pub source: String,
    /// Its type.
    pub event_type: String,
    /// The version of its type.
    pub event_version: u32,
    /// Its topic.
    pub topic: String,
    /// Its partition key.
    pub key: Option<String>,
    /// Its place in the log.
    pub seq: Seq,
    /// Why it had been given up.
    pub reason: String,
    /// After how many attempts.
    pub attempts: u32,
}

/// What stands for no dead letter in the audit log of a database.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(crate) const NO_DEAD_LETTER: i64 = 0;

/// What can be done with a dead letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuditAction {
    /// It was taken up to be tried again. If that fails, it is a dead letter again.
    Replay,
    /// It was removed for good.
    Discard,
    /// What was asked of it was taken back in time.
    Cancel,
}

impl AuditAction {
    /// The word in the store.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Replay => Request::Replay.as_str(),
            Self::Discard => Request::Discard.as_str(),
            Self::Cancel => "cancel",
        }
    }

    #[doc(hidden)]
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Replay, Self::Discard, Self::Cancel].into_iter().find(|action| action.as_str() == word)
    }
}

/// Which entries of the audit log; every field that is set must match.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Of this relay or consumer.
    pub stage: Option<Stage>,
    /// Of this event.
    pub event: Option<EventId>,
    /// Done at this time or later.
    pub since: Option<OffsetDateTime>,
    /// With a higher number than this (for paging).
    pub after: Option<i64>,
}
