//! Events that wait for their time before they enter the log.
//!
//! Their order counts from the moment they enter it. What waits here is nobody's read path: readers of the log never look.

use crate::envelope::NewEvent;
use time::OffsetDateTime;

/// An event on its way to those that wait for their time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewScheduled {
    /// When it is due.
    pub due: OffsetDateTime,
    /// The event. The time inside its id is that of `due`.
    pub event: NewEvent,
}

/// An event that waits for its time.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Scheduled {
    /// Its number, which decides between events that are due at the same time.
    pub number: i64,
    /// When it is due.
    pub due: OffsetDateTime,
    /// The event as it will stand in the log.
    pub event: NewEvent,
}

#[cfg(any(feature = "postgres", feature = "sqlite"))]
impl Scheduled {
    /// Of a row that was read as an envelope, with the number for its seq and the due time for its own.
    pub(crate) fn from_row(row: crate::envelope::Envelope) -> Self {
        Self { number: row.seq.0, due: row.occurred_at, event: row.event }
    }
}

/// Which scheduled events: those that match every condition.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScheduledFilter {
    /// Of this event type.
    pub event_type: Option<String>,
    /// Of this partition key.
    pub key: Option<String>,
    /// Due before this time.
    pub until: Option<OffsetDateTime>,
    /// Behind this one: its due time and number. For the next page.
    pub after: Option<(OffsetDateTime, i64)>,
}

/// What became of a cancellation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cancellation {
    /// The event is taken back if this transaction commits, and is never published.
    Cancelled,
    /// The event is due: it is published, or was.
    TooLate,
    /// No event of this id waits: it was never scheduled, its transaction rolled back, or it was cancelled before.
    Unknown,
}
