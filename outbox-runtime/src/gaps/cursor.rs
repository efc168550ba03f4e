//! The cursor: what it remembers of a log, and when it asks the database what.
//!
//! Invariants:
//! - The settled seq moves only to the seq of a row that this connection read, so every gap below it is a known hole.
//! - A hole ends only by a proof ([`Holes`]); the look that follows a proof is a statement of its own.
//! - What is remembered is dropped with the connection: on any error, and when a future is dropped half-way.

use super::{GapSession, GapStore, InHoles, Progress, Record, Written, holes::Holes};
use crate::{
    cursor::{Filter, LogCursor, LogEvent, Page, Settled, Start},
    held::Change,
    lease::Fence,
    store::StoreError,
};
use std::{
    collections::{BTreeSet, HashSet},
    time::Duration,
};
use tokio::time::Instant;

/// The most holes that one read looks at.
const LOOKS_MAX: usize = 256;
/// The pause between looks at old holes while none of them yields anything.
const OLD_LOOK_PAUSE: Duration = Duration::from_millis(50);
/// The pause between questions who holds the sequence (0.2 ms each), and that while there are many holes.
const TAKERS_PAUSE: Duration = Duration::from_secs(1);
const TAKERS_PAUSE_OF_MANY: Duration = Duration::from_millis(50);

/// One stage's reading of a log with gaps.
#[derive(Debug)]
pub struct GapCursor<S: GapStore> {
    store: S,
    fence: Fence,
    filter: Filter,
    start: Start,
    /// `None` after an error, or when a call was dropped half-way.
    memory: Option<Memory<S::Session>>,
    /// What `settle_in` wrote in a transaction that has not committed yet.
    in_handler: Option<(Record, Written)>,
}

/// A connection and what is remembered while it lives.
#[derive(Debug)]
struct Memory<C> {
    session: C,
    /// The newest row of progress, loaded or written.
    row_id: i64,
    settled: i64,
    read: i64,
    holes: Holes,
    looked_at_old: Option<Instant>,
    asked_for_takers: Option<Instant>,
}

impl<S: GapStore> GapCursor<S> {
    /// Opens the log and registers the stage if it is new.
    pub async fn open(store: S, fence: &Fence, filter: Filter, start: Start) -> Result<Self, StoreError> {
        let mut cursor = Self { store, fence: fence.clone(), filter, start, memory: None, in_handler: None };
        cursor.memory = Some(cursor.connect().await?);
        Ok(cursor)
    }

    /// The memory, taken out: whoever is dropped before putting it back has dropped it with its connection.
    async fn take_memory(&mut self) -> Result<Memory<S::Session>, StoreError> {
        match self.memory.take() {
            Some(memory) => Ok(memory),
            None => self.connect().await,
        }
    }

    async fn connect(&self) -> Result<Memory<S::Session>, StoreError> {
        let connect = self.store.connect(&self.fence, self.start);
        let (session, progress) = self.within("open the log", connect).await?;
        Ok(Memory::new(session, progress))
    }

    /// Waits no longer than a call may take: a connection that answers nothing is given up.
    async fn within<T>(
        &self,
        action: &'static str,
        work: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        match tokio::time::timeout(self.store.call_max(), work).await {
            Ok(outcome) => outcome,
            Err(elapsed) => Err(StoreError::Database { action, transient: true, source: Box::new(elapsed) }),
        }
    }
}

impl<S: GapStore> LogCursor<S> for GapCursor<S> {
    async fn read(&mut self, max: u32) -> Result<Page, StoreError> {
        let mut memory = self.take_memory().await?;
        let page = self.within("read the log", memory.read(&self.filter, i64::from(max))).await?;
        self.memory = Some(memory);
        Ok(page)
    }

    async fn settle(
        &mut self,
        fence: &Fence,
        settled: &Settled,
        changes: &[Change],
    ) -> Result<(), StoreError> {
        let mut memory = self.take_memory().await?;
        self.within("settle the log", memory.settle(fence, settled, changes)).await?;
        self.memory = Some(memory);
        Ok(())
    }

    async fn settle_in(
        &mut self,
        tx: &mut S::Tx,
        fence: &Fence,
        settled: &Settled,
    ) -> Result<(), StoreError> {
        let mut memory = self.take_memory().await?;
        let record = memory.plan(settled)?;
        let written = self.store.write_in(tx, fence, memory.row_id, &record).await?;
        self.in_handler = Some((record, written));
        self.memory = Some(memory);
        Ok(())
    }

    fn settled(&mut self, _settled: &Settled) {
        if let (Some(memory), Some((record, written))) = (&mut self.memory, self.in_handler.take()) {
            memory.row_id = written.row_id;
            memory.remember(record);
        }
    }
}

impl<C: GapSession> Memory<C> {
    fn new(session: C, progress: Progress) -> Self {
        let Progress { row_id, settled, inline, stored } = progress;
        let holes = Holes::load(inline, stored, Instant::now());
        Self { session, row_id, settled, read: settled, holes, looked_at_old: None, asked_for_takers: None }
    }

    /// Reads on, then looks into holes, in that order: a row that is read may tell of a commit whose own row fills a hole,
    /// and that one goes first. So whatever was read is given out only with what every hole held at a later moment.
    async fn read(&mut self, filter: &Filter, max: i64) -> Result<Page, StoreError> {
        self.session.check().await?;
        if !self.holes.is_empty() {
            self.ask_for_takers().await?;
        }
        let now = Instant::now();
        let mut rows = Vec::new();
        self.session.read_on(filter, self.read, max, |seq, envelope| rows.push((seq, envelope))).await?;
        let mut page = Page { full: rows.len() as i64 == max, ..Page::default() };
        let room = self.read_holes(filter, max, !rows.is_empty(), &mut page).await?;
        if room < rows.len() as i64 {
            page.full = true;
        }
        for (seq, envelope) in rows.into_iter().take(usize::try_from(room).expect("what is left is no debt"))
        {
            if seq.0 > self.read + 1 {
                self.holes.note(self.read + 1, seq.0 - 1, now);
            }
            self.read = seq.0;
            page.through = Some(seq);
            page.events.extend(envelope.map(|envelope| LogEvent { envelope, late: false }));
        }
        if let Some(through) = page.through {
            self.session.check_numbered(through).await?;
        }
        Ok(page)
    }

    /// Looks into the holes, `all` of them or those whose turn it is; gives the room that is left in the page. None is left
    /// if there may be more rows in the holes.
    async fn read_holes(
        &mut self,
        filter: &Filter,
        max: i64,
        all: bool,
        page: &mut Page,
    ) -> Result<i64, StoreError> {
        let now = Instant::now();
        let with_old = has_passed(self.looked_at_old, OLD_LOOK_PAUSE, now);
        let looks = if all { self.holes.all_looks() } else { self.holes.looks(with_old, LOOKS_MAX, now) };
        let (mut room, mut changed) = (max, false);
        for looks in looks.chunks(LOOKS_MAX) {
            let ranges: Vec<_> = looks.iter().map(|look| (look.first, look.last)).collect();
            let InHoles { xmin, rows } = self.session.read_holes(filter, &ranges, room).await?;
            let mut found = Vec::with_capacity(rows.len());
            for (seq, envelope) in rows {
                found.push(seq.0);
                match envelope {
                    Some(envelope) => page.events.push(LogEvent { envelope, late: true }),
                    None => page.late_unmatched.push(seq),
                }
            }
            let is_cut = found.len() as i64 == room;
            let complete_to = found.last().copied().filter(|_| is_cut).unwrap_or(i64::MAX);
            changed |= self.holes.looked(looks, &found, complete_to, xmin);
            room -= found.len() as i64;
            if is_cut {
                break;
            }
        }
        if (all || with_old) && !looks.is_empty() {
            // What yielded something is likely to yield more.
            self.looked_at_old = (!changed).then_some(now);
        }
        Ok(room)
    }

    /// For the exact proof: asks who holds the sequence, after every hole that is open now was seen.
    async fn ask_for_takers(&mut self) -> Result<(), StoreError> {
        let now = Instant::now();
        let pause = if self.holes.are_many() { TAKERS_PAUSE_OF_MANY } else { TAKERS_PAUSE };
        if !self.holes.wants_takers(now) || !has_passed(self.asked_for_takers, pause, now) {
            return Ok(());
        }
        let holders = self.session.number_holders().await?;
        let is_prepared = holders.iter().any(|(_, is_prepared)| *is_prepared);
        let holders: HashSet<String> = holders.into_iter().map(|(holder, _)| holder).collect();
        self.holes.note_takers(holders, is_prepared, now);
        self.asked_for_takers = Some(now);
        Ok(())
    }

    async fn settle(
        &mut self,
        fence: &Fence,
        settled: &Settled,
        changes: &[Change],
    ) -> Result<(), StoreError> {
        let plan = self.plan(settled)?;
        let is_due = plan.settled != self.settled || self.holes.differs(&plan.holes);
        let written = if is_due || !changes.is_empty() {
            self.session.write(fence, self.row_id, is_due.then_some(&plan), changes).await?
        } else {
            None
        };
        self.remember(plan);
        if let Some(Written { row_id, xid }) = written {
            self.row_id = row_id;
            // Every hole that is open now was seen before that transaction began.
            self.holes.note_later_xid(xid);
        }
        Ok(())
    }

    /// What is to be written for `settled`.
    fn plan(&mut self, settled: &Settled) -> Result<Record, StoreError> {
        let through = settled.through.map_or(self.settled, |seq| seq.0.max(self.settled));
        if through > self.read {
            // The connection that read it is gone, and with it the knowledge of the holes below.
            return Err(StoreError::Database {
                action: "settle the log",
                transient: true,
                source: format!("seq {through} was read over a connection that was lost; read it again")
                    .into(),
            });
        }
        let late: BTreeSet<i64> = settled.late.iter().map(|seq| seq.0).collect();
        for seq in &late {
            self.holes.find(*seq);
        }
        let holes = self.holes.record(through, &late, Instant::now());
        Ok(Record { settled: through, late, holes })
    }

    fn remember(&mut self, record: Record) {
        self.settled = record.settled;
        self.holes.recorded(record.holes, &record.late);
    }
}

fn has_passed(since: Option<Instant>, pause: Duration, now: Instant) -> bool {
    since.is_none_or(|since| now.duration_since(since) >= pause)
}

#[cfg(test)]
mod tests;
