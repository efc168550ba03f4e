//! Events set aside, with everything a person needs to decide: what, why, since when, after how many attempts.

use crate::{envelope::Envelope, held::Stage};
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
    /// Of this event type.
    pub event_type: Option<String>,
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
