//! How a stage reads the log: pages in seq order, and the record of what it has settled.
//!
//! "Everything up to S is settled, except these holes." What a hole is and how it is proven dead is each store's own
//! matter; a store with one writer has none.

use crate::{
    envelope::{Envelope, NewEvent, Seq},
    held::Change,
    lease::Fence,
    store::{Store, StoreError},
};
use std::collections::BTreeMap;
use time::OffsetDateTime;

/// Which rows of the log a stage wants: those that match every field. The seq of every row is read all the same, the
/// payload of these only.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// The topics; empty means all.
    pub topics: Vec<String>,
    /// The event types; empty means all.
    pub event_types: Vec<String>,
    /// User headers that an event must have, each with this value; empty means all.
    pub headers: BTreeMap<String, String>,
}

impl Filter {
    /// Whether an event is wanted.
    #[must_use]
    pub fn wants(&self, event: &NewEvent) -> bool {
        let is_among = |wanted: &[String], found: &String| wanted.is_empty() || wanted.contains(found);
        is_among(&self.topics, &event.topic)
            && is_among(&self.event_types, &event.event_type)
            && self.headers.iter().all(|(name, value)| event.headers.get(name) == Some(value))
    }
}

/// Where a stage that has no progress yet begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Start {
    /// At the oldest retained event; the default of a relay.
    Earliest,
    /// After the progress of the most advanced stage, or after the newest event; the default of a local consumer.
    #[default]
    Latest,
    /// At the first event of the log that was written at this time or later, by the database's clock; after the newest
    /// one where there is none. Events behind it in the log are read too, whatever their time.
    At(OffsetDateTime),
    /// At this place: the events of this seq and above. At most one above the last number that was given out, else the
    /// start is refused ([`StoreError::StartUnknown`]).
    From(Seq),
}

/// One row of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEvent {
    /// The event.
    pub envelope: Envelope,
    /// Whether it was found in a hole below what was read before.
    pub late: bool,
}

/// What one read found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// The matching events, late ones first, each part in seq order.
    pub events: Vec<LogEvent>,
    /// The highest seq of a row that was read, matching or not; `None` when no new row was there.
    pub through: Option<Seq>,
    /// Whether more rows are likely to be there at once.
    pub full: bool,
    /// Late rows that do not match the filter: nothing is to be done, settle them with the page.
    pub late_unmatched: Vec<Seq>,
}

/// What a stage has finished.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settled {
    /// Every row read up to this seq is finished. It is the seq of a row that was read; `None` moves nothing.
    pub through: Option<Seq>,
    /// Late rows that are finished.
    pub late: Vec<Seq>,
}

/// One stage's reading of the log, over a connection of its own.
///
/// What it remembers is trusted only while that connection lives: after an error that loses it, the next read loads
/// the progress again and repeats what was not settled.
pub trait LogCursor<S: Store>: Send + 'static {
    /// Reads the next rows, at most `max`.
    ///
    /// # Cancel safety
    /// If dropped, the next read repeats the page.
    fn read(&mut self, max: u32) -> impl Future<Output = Result<Page, StoreError>> + Send;

    /// Records what is finished and `changes` with it, all or nothing, fenced.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] when another owner leads the stage: stop at once, publish nothing more.
    ///
    /// # Cancel safety
    /// If dropped, it may or may not have been recorded; drop the cursor too and open it again.
    fn settle(
        &mut self,
        fence: &Fence,
        settled: &Settled,
        changes: &[Change],
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// As [`LogCursor::settle`], in the open transaction of a handler. Nothing is remembered until
    /// [`LogCursor::settled`] says that the transaction committed.
    fn settle_in(
        &mut self,
        tx: &mut S::Tx,
        fence: &Fence,
        settled: &Settled,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Remembers what [`LogCursor::settle_in`] wrote, after the commit.
    fn settled(&mut self, settled: &Settled);
}
