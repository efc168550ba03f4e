//! The tables of the outbox, and two of the application.

use super::{Leader, Table};
use outbox::dead_letter::Request;
use outbox::envelope::{Envelope, EventId, NewEvent};
use outbox::lease::Owner;
use std::time::Duration;

/// Every table by its name. Times are those of the database's clock, from the beginning of the simulation.
#[derive(Debug, Default)]
pub(in crate::sim) struct Tables {
    pub(in crate::sim) log: Table<i64, LogRow>,
    /// By stage and number.
    pub(in crate::sim) progress: Table<(String, i64), ProgressRow>,
    /// By stage and first number; the last.
    pub(in crate::sim) hole: Table<(String, i64), i64>,
    pub(in crate::sim) leader: Table<String, Leader>,
    /// Until when a lease is whose.
    pub(in crate::sim) heartbeat: Table<String, (Owner, Duration)>,
    /// By stage and lane.
    pub(in crate::sim) waiting: Table<(String, String), Mark>,
    pub(in crate::sim) held: Table<HeldKey, HeldRow>,
    /// By stage and event.
    pub(in crate::sim) dead: Table<(String, EventId), DeadRow>,
    pub(in crate::sim) request: Table<(String, EventId), (Request, Duration)>,
    pub(in crate::sim) inbox: Table<(String, EventId), ()>,
    /// What producers lock: the state that their events tell of.
    pub(in crate::sim) state: Table<String, ()>,
    /// What numbers rows; no transaction takes a number back.
    pub(in crate::sim) numbered: i64,
}

impl Tables {
    /// The next number of a row that needs one.
    pub(in crate::sim) fn next_number(&mut self) -> i64 {
        self.numbered += 1;
        self.numbered
    }
}

#[derive(Debug, Clone)]
pub(in crate::sim) struct LogRow {
    pub(in crate::sim) event: NewEvent,
    pub(in crate::sim) occurred_at: Duration,
}

#[derive(Debug, Clone)]
pub(in crate::sim) struct ProgressRow {
    pub(in crate::sim) settled: i64,
    pub(in crate::sim) inline: Vec<i64>,
}

/// Of a lane that waits; without a time it waits for a request.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::sim) struct Mark {
    pub(in crate::sim) share: String,
    pub(in crate::sim) due_at: Option<Duration>,
}

/// Stage, lane, seq, event.
pub(in crate::sim) type HeldKey = (String, String, i64, EventId);

#[derive(Debug, Clone)]
pub(in crate::sim) struct HeldRow {
    pub(in crate::sim) envelope: Envelope,
    pub(in crate::sim) attempts: u32,
    pub(in crate::sim) is_replayed: bool,
}

#[derive(Debug, Clone)]
pub(in crate::sim) struct DeadRow {
    pub(in crate::sim) number: i64,
    pub(in crate::sim) share: String,
    pub(in crate::sim) lane: String,
    pub(in crate::sim) envelope: Envelope,
    pub(in crate::sim) attempts: u32,
    pub(in crate::sim) reason: &'static str,
    pub(in crate::sim) parks_key: bool,
    pub(in crate::sim) is_replaying: bool,
}
