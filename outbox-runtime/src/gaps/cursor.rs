//! The cursor: what it remembers of a log, and when it asks the database what.
//!
//! Invariants:
//! - The settled seq moves only to the seq of a row that this connection read, so every gap below it is a known hole.
//! - A hole ends only by a proof ([`Holes`]); the look that follows a proof is a statement of its own.
//! - What is remembered is dropped with the connection: on any error, and when a future is dropped half-way.

use super::{GapSession, GapStore, InHoles, Progress, Record, holes::Holes};
use crate::{
    cursor::{Filter, LogCursor, LogEvent, Page, Settled, Start},
    envelope::Seq,
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
/// The pause between questions who holds the sequence (0.2 ms each).
const TAKERS_PAUSE: Duration = Duration::from_secs(1);

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
    in_handler: Option<Record>,
}

/// A connection and what is remembered while it lives.
#[derive(Debug)]
struct Memory<C> {
    session: C,
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
        self.store.write_in(tx, fence, memory.settled, &record).await?;
        self.in_handler = Some(record);
        self.memory = Some(memory);
        Ok(())
    }

    fn settled(&mut self, _settled: &Settled) {
        if let (Some(memory), Some(record)) = (&mut self.memory, self.in_handler.take()) {
            memory.remember(record);
        }
    }
}

impl<C: GapSession> Memory<C> {
    fn new(session: C, progress: Progress) -> Self {
        let Progress { settled, inline, stored } = progress;
        let holes = Holes::load(inline, stored, Instant::now());
        Self { session, settled, read: settled, holes, looked_at_old: None, asked_for_takers: None }
    }

    async fn read(&mut self, filter: &Filter, max: i64) -> Result<Page, StoreError> {
        self.session.check().await?;
        let mut page = Page::default();
        let mut room = max;
        if !self.holes.is_empty() {
            self.ask_for_takers().await?;
            room -= self.read_holes(filter, max, &mut page).await?;
        }
        if room > 0 {
            self.read_on(filter, room, &mut page).await?;
        } else {
            page.full = true;
        }
        Ok(page)
    }

    /// Reads the rows above the last one that was read.
    async fn read_on(&mut self, filter: &Filter, max: i64, page: &mut Page) -> Result<(), StoreError> {
        let now = Instant::now();
        let before = self.read;
        let mut count = 0;
        let (read, holes, events) = (&mut self.read, &mut self.holes, &mut page.events);
        let row = |seq: Seq, envelope| {
            if seq.0 > *read + 1 {
                holes.note(*read + 1, seq.0 - 1, now);
            }
            *read = seq.0;
            count += 1;
            if let Some(envelope) = envelope {
                events.push(LogEvent { envelope, late: false });
            }
        };
        self.session.read_on(filter, before, max, row).await?;
        if self.read == before {
            return Ok(());
        }
        self.session.check_numbered(Seq(self.read)).await?;
        page.through = Some(Seq(self.read));
        page.full = count == max;
        Ok(())
    }

    /// Looks into the holes; gives the number of rows found.
    async fn read_holes(&mut self, filter: &Filter, max: i64, page: &mut Page) -> Result<i64, StoreError> {
        let now = Instant::now();
        let with_old = has_passed(self.looked_at_old, OLD_LOOK_PAUSE, now);
        let looks = self.holes.looks(with_old, LOOKS_MAX, now);
        if looks.is_empty() {
            return Ok(0);
        }
        let ranges: Vec<_> = looks.iter().map(|look| (look.first, look.last)).collect();
        let InHoles { xmin, rows } = self.session.read_holes(filter, &ranges, max).await?;
        let mut found = Vec::with_capacity(rows.len());
        for (seq, envelope) in rows {
            found.push(seq.0);
            match envelope {
                Some(envelope) => page.events.push(LogEvent { envelope, late: true }),
                None => page.late_unmatched.push(seq),
            }
        }
        let is_cut = found.len() as i64 == max;
        let complete_to = found.last().copied().filter(|_| is_cut).unwrap_or(i64::MAX);
        let changed = self.holes.looked(&looks, &found, complete_to, xmin);
        if with_old {
            // What yielded something is likely to yield more.
            self.looked_at_old = (!changed).then_some(now);
        }
        Ok(found.len() as i64)
    }

    /// For the exact proof: asks who holds the sequence, after every hole that is open now was seen.
    async fn ask_for_takers(&mut self) -> Result<(), StoreError> {
        let now = Instant::now();
        if !self.holes.wants_takers(now) || !has_passed(self.asked_for_takers, TAKERS_PAUSE, now) {
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
        let xid = if is_due || !changes.is_empty() {
            self.session.write(fence, self.settled, is_due.then_some(&plan), changes).await?
        } else {
            None
        };
        self.remember(plan);
        if let Some(xid) = xid {
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
