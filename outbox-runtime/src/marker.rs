//! What a leader leaves behind, so that its successor knows how its process ended.
//!
//! One row for each lease. It is written when work begins and ends, and not for each page: what a leader has in work is
//! bounded, and it stays marked until it ends well or a successor has read it.

use crate::envelope::EventId;

/// What a leader has in work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Marker {
    /// One of so many next events may have ended a process; 0 when none is suspected.
    pub suspects: u32,
    /// The most events that are in work; 0 when none is, as after a good end.
    pub taken: u32,
    /// The one event in work, where there is one alone; else one that was, is to be charged, and is not yet.
    pub alone: Option<EventId>,
}
