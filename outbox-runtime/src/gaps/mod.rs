//! Reading a log whose numbers are taken before the commits: a cursor that knows its gaps.
//!
//! A lower number may become visible after a higher one was read. [`GapCursor`] keeps such numbers as holes until it is
//! proven that nothing comes any more, and decides all there is to decide; a database of this kind is a [`GapStore`], whose
//! session runs single statements and says what they answered.

mod cursor;
mod holes;

pub use cursor::GapCursor;
pub use holes::HolesRecord;

use crate::{
    cursor::{Filter, Start},
    envelope::{Envelope, Seq},
    held::Change,
    lease::Fence,
    store::{Store, StoreError},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

/// A store whose log has gaps.
pub trait GapStore: Store {
    /// One connection of a cursor.
    type Session: GapSession;

    /// How long one call of the cursor may take.
    fn call_max(&self) -> Duration;

    /// Connects, and loads where the fence's stage stands; a stage without progress is registered at `start` first.
    ///
    /// Whatever an earlier session of this leader has sent has ended before the progress is read, or has no effect: what
    /// is loaded stays true until this session writes.
    fn connect(
        &self,
        fence: &Fence,
        start: Start,
    ) -> impl Future<Output = Result<(Self::Session, Progress), StoreError>> + Send;

    /// As [`GapSession::write`] without changes, in an open transaction of a handler.
    fn write_in(
        &self,
        tx: &mut Self::Tx,
        fence: &Fence,
        before: i64,
        record: &Record,
    ) -> impl Future<Output = Result<Written, StoreError>> + Send;
}

/// The statements of a cursor, over one connection. After an error it is dropped.
pub trait GapSession: Send + Sync + 'static {
    /// Checks from time to time what the order of the numbers rests on.
    fn check(&mut self) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Checks that the database can have given the number of a row that was read.
    fn check_numbered(&mut self, seq: Seq) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Gives each row above `after` to `row`, in order, at most `max`: every seq, and the event if it matches.
    fn read_on(
        &mut self,
        filter: &Filter,
        after: i64,
        max: i64,
        row: impl FnMut(Seq, Option<Envelope>) + Send,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// The rows in these ranges, at most `max`, and the lowest open transaction id in the same snapshot.
    fn read_holes(
        &mut self,
        filter: &Filter,
        ranges: &[(i64, i64)],
        max: i64,
    ) -> impl Future<Output = Result<InHoles, StoreError>> + Send;

    /// Who has taken a number and not ended: virtual transaction, and whether it is a prepared one.
    fn number_holders(&mut self) -> impl Future<Output = Result<Vec<(String, bool)>, StoreError>> + Send;

    /// Applies `changes` and writes `record`, if there is one, behind the row `before`; all or nothing, fenced. If another
    /// row of progress is the newest, nothing is written.
    fn write(
        &mut self,
        fence: &Fence,
        before: i64,
        record: Option<&Record>,
        changes: &[Change],
    ) -> impl Future<Output = Result<Option<Written>, StoreError>> + Send;
}

/// Where a stage stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    /// The newest row of progress.
    pub row_id: i64,
    /// Everything up to here is settled, except the holes.
    pub settled: i64,
    /// The young holes: first, last, first, last, …
    pub inline: Vec<i64>,
    /// The other holes, first to last.
    pub stored: BTreeMap<i64, i64>,
}

/// A record that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Its row, now the newest.
    pub row_id: i64,
    /// Its transaction, which began after everything that the session was told before.
    pub xid: i64,
}

/// What a look into holes found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InHoles {
    /// The lowest transaction id that is still open.
    pub xmin: i64,
    /// The rows in order: every seq, and the event if it matches.
    pub rows: Vec<(Seq, Option<Envelope>)>,
}

/// What a settle writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Everything up to here is settled, except the holes.
    pub settled: i64,
    /// Late rows that are settled.
    pub late: BTreeSet<i64>,
    /// What changes about holes.
    pub holes: HolesRecord,
}
