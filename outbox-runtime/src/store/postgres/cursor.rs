//! Reads the log over a connection of its own, and records what is settled.
//!
//! Invariants:
//! - The settled seq moves only to the seq of a row that this connection read, so every gap below it is a known hole.
//! - A hole ends only by a proof ([`Holes`]); the look that follows a proof is a statement of its own.
//! - What is remembered is dropped with the connection: on any error, and when a future is dropped half-way.

use super::{
    PostgresStore,
    error::{during, within},
    holes::Holes,
    precondition,
    progress::{self, Record},
    record,
    row::envelope_at,
    statements::millis,
    transaction::{Tx, commit_own, lock_fence},
};
use crate::{
    cursor::{Filter, LogCursor, LogEvent, Page, Settled, Start},
    envelope::Seq,
    held::Change,
    lease::Fence,
    store::StoreError,
};
use futures_util::TryStreamExt;
use sqlx::{ConnectOptions, Connection, PgConnection, Row, postgres::PgRow};
use std::{
    collections::{BTreeSet, HashSet},
    time::{Duration, Instant},
};

/// The most holes that one read looks at.
const LOOKS_MAX: usize = 256;
/// The pause between looks at old holes while none of them yields anything.
const OLD_LOOK_PAUSE: Duration = Duration::from_millis(50);
/// The pause between questions who holds the sequence (0.2 ms each).
const TAKERS_PAUSE: Duration = Duration::from_secs(1);

/// How often the preconditions are checked again while the log is read: a sequence that somebody sets back hides new
/// events below what was settled.
const CHECK_PAUSE: Duration = Duration::from_secs(10);

/// One stage's reading of the log on PostgreSQL.
#[derive(Debug)]
pub struct PostgresLog {
    store: PostgresStore,
    fence: Fence,
    filter: Filter,
    start: Start,
    /// `None` after an error, or when a call was dropped half-way.
    session: Option<Session>,
    /// What `settle_in` wrote in a transaction that has not committed yet.
    in_handler: Option<Record>,
}

/// A connection and what is remembered while it lives.
#[derive(Debug)]
struct Session {
    connection: PgConnection,
    settled: i64,
    read: i64,
    holes: Holes,
    looked_at_old: Option<Instant>,
    asked_for_takers: Option<Instant>,
    checked: Instant,
    /// A number that the sequence had given when it was last looked at.
    given: i64,
}

impl PostgresLog {
    /// Opens the log and registers the stage if it is new.
    pub(super) async fn open(
        store: PostgresStore,
        fence: &Fence,
        filter: Filter,
        start: Start,
    ) -> Result<Self, StoreError> {
        let mut log = Self { store, fence: fence.clone(), filter, start, session: None, in_handler: None };
        log.session = Some(log.connect().await?);
        Ok(log)
    }

    /// The session, taken out: whoever is dropped before putting it back has dropped the memory with it.
    async fn take_session(&mut self) -> Result<Session, StoreError> {
        match self.session.take() {
            Some(session) => Ok(session),
            None => self.connect().await,
        }
    }

    async fn connect(&self) -> Result<Session, StoreError> {
        within(&self.store, "open the log", Session::open(&self.store, &self.fence, self.start)).await
    }
}

impl LogCursor<PostgresStore> for PostgresLog {
    async fn read(&mut self, max: u32) -> Result<Page, StoreError> {
        let mut session = self.take_session().await?;
        let read = session.read(&self.store, &self.filter, i64::from(max));
        let page = within(&self.store, "read the log", read).await?;
        self.session = Some(session);
        Ok(page)
    }

    async fn settle(
        &mut self,
        fence: &Fence,
        settled: &Settled,
        changes: &[Change],
    ) -> Result<(), StoreError> {
        let mut session = self.take_session().await?;
        let settle = session.settle(&self.store, fence, settled, changes);
        within(&self.store, "settle the log", settle).await?;
        self.session = Some(session);
        Ok(())
    }

    async fn settle_in(&mut self, tx: &mut Tx, fence: &Fence, settled: &Settled) -> Result<(), StoreError> {
        let mut session = self.take_session().await?;
        let record = session.plan(settled)?;
        lock_fence(&self.store, tx, fence).await?;
        progress::write(&self.store, tx, fence, session.settled, &record).await?;
        self.in_handler = Some(record);
        self.session = Some(session);
        Ok(())
    }

    fn settled(&mut self, _settled: &Settled) {
        if let (Some(session), Some(record)) = (&mut self.session, self.in_handler.take()) {
            session.remember(record);
        }
    }
}

impl Session {
    async fn open(store: &PostgresStore, fence: &Fence, start: Start) -> Result<Self, StoreError> {
        let action = "open the log";
        let options = store.pool().connect_options();
        let mut connection = options.connect().await.map_err(during(action))?;
        let config = store.config();
        sqlx::query(store.sql().set_session.clone())
            .bind(millis(config.statement_max))
            .bind(millis(config.lock_wait_max))
            .bind(millis(config.idle_in_transaction_max))
            .execute(&mut connection)
            .await
            .map_err(during(action))?;
        precondition::check(store, &mut connection).await?;
        let (settled, holes) = progress::load_or_register(store, &mut connection, fence, start).await?;
        let session = Self {
            connection,
            settled,
            read: settled,
            holes,
            looked_at_old: None,
            asked_for_takers: None,
            checked: Instant::now(),
            given: Seq::ORIGIN.0,
        };
        Ok(session)
    }

    async fn read(&mut self, store: &PostgresStore, filter: &Filter, max: i64) -> Result<Page, StoreError> {
        if self.checked.elapsed() >= CHECK_PAUSE {
            precondition::check(store, &mut self.connection).await?;
            self.checked = Instant::now();
        }
        let mut page = Page::default();
        let mut room = max;
        if !self.holes.is_empty() {
            self.ask_for_takers(store).await?;
            room -= self.read_holes(store, filter, max, &mut page).await?;
        }
        if room > 0 {
            self.read_on(store, filter, room, &mut page).await?;
        } else {
            page.full = true;
        }
        Ok(page)
    }

    /// Reads the rows above the last one that was read.
    async fn read_on(
        &mut self,
        store: &PostgresStore,
        filter: &Filter,
        max: i64,
        page: &mut Page,
    ) -> Result<(), StoreError> {
        let action = "read the log";
        let query = if *filter == Filter::default() {
            sqlx::query(store.sql().read_log.clone()).bind(self.read).bind(max)
        } else {
            sqlx::query(store.sql().read_log_filtered.clone())
                .bind(self.read)
                .bind(max)
                .bind(&filter.topics)
                .bind(&filter.event_types)
        };
        let now = Instant::now();
        let before = self.read;
        let mut count = 0;
        // Each row is taken apart while the server sends the next ones.
        let mut rows = query.fetch(&mut self.connection);
        while let Some(row) = rows.try_next().await.map_err(during(action))? {
            let seq = seq_of(&row, 0)?;
            if seq.0 > self.read + 1 {
                self.holes.note(self.read + 1, seq.0 - 1, now);
            }
            self.read = seq.0;
            if let Some(envelope) = envelope_at(&row, seq, 1)? {
                page.events.push(LogEvent { envelope, late: false });
            }
            count += 1;
        }
        drop(rows);
        if self.read == before {
            return Ok(());
        }
        if self.read > self.given {
            self.given = precondition::last_given(store, &mut self.connection).await?;
            precondition::check_numbered(Seq(self.read), self.given)?;
        }
        page.through = Some(Seq(self.read));
        page.full = count == max;
        Ok(())
    }

    /// Looks into the holes; gives the number of rows found.
    async fn read_holes(
        &mut self,
        store: &PostgresStore,
        filter: &Filter,
        max: i64,
        page: &mut Page,
    ) -> Result<i64, StoreError> {
        let now = Instant::now();
        let with_old = has_passed(self.looked_at_old, OLD_LOOK_PAUSE, now);
        let looks = self.holes.looks(with_old, LOOKS_MAX, now);
        if looks.is_empty() {
            return Ok(0);
        }
        let rows = sqlx::query(store.sql().read_holes.clone())
            .bind(looks.iter().map(|look| look.first).collect::<Vec<_>>())
            .bind(looks.iter().map(|look| look.last).collect::<Vec<_>>())
            .bind(max)
            .bind(&filter.topics)
            .bind(&filter.event_types)
            .fetch_all(&mut self.connection)
            .await
            .map_err(during("look into the holes of the log"))?;
        let xmin = rows
            .first()
            .map(|row| row.try_get::<i64, _>(0))
            .expect("the statement always gives a row")
            .map_err(during("read the lowest open transaction id"))?;
        let mut found = Vec::new();
        for row in &rows {
            let Some(seq) = row.try_get::<Option<i64>, _>(1).map_err(during("read a late row"))? else {
                continue;
            };
            found.push(seq);
            match envelope_at(row, Seq(seq), 2)? {
                Some(envelope) => page.events.push(LogEvent { envelope, late: true }),
                None => page.late_unmatched.push(Seq(seq)),
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
    async fn ask_for_takers(&mut self, store: &PostgresStore) -> Result<(), StoreError> {
        let now = Instant::now();
        if !self.holes.wants_takers(now) || !has_passed(self.asked_for_takers, TAKERS_PAUSE, now) {
            return Ok(());
        }
        let holders: Vec<(String, bool)> = sqlx::query_as(store.sql().select_number_holders.clone())
            .fetch_all(&mut self.connection)
            .await
            .map_err(during("ask who has taken numbers"))?;
        let is_prepared = holders.iter().any(|(_, is_prepared)| *is_prepared);
        let holders: HashSet<String> = holders.into_iter().map(|(holder, _)| holder).collect();
        self.holes.note_takers(holders, is_prepared, now);
        self.asked_for_takers = Some(now);
        Ok(())
    }

    async fn settle(
        &mut self,
        store: &PostgresStore,
        fence: &Fence,
        settled: &Settled,
        changes: &[Change],
    ) -> Result<(), StoreError> {
        let plan = self.plan(settled)?;
        let is_due = plan.settled != self.settled || self.holes.differs(&plan.holes);
        let mut xid = None;
        if !changes.is_empty() || plan.holes.has_rows() {
            let begin = store.sql().begin_write.clone();
            let mut tx =
                self.connection.begin_with(begin).await.map_err(during("begin a leader's transaction"))?;
            lock_fence(store, &mut tx, fence).await?;
            record::apply(store, &mut tx, fence, changes).await?;
            if is_due {
                xid = Some(progress::write(store, &mut tx, fence, self.settled, &plan).await?);
            }
            commit_own(tx).await?;
        } else if is_due {
            xid = Some(progress::append(store, &mut self.connection, fence, self.settled, &plan).await?);
        }
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

fn seq_of(row: &PgRow, column: usize) -> Result<Seq, StoreError> {
    row.try_get(column).map(Seq).map_err(during("read a number of the log"))
}

fn has_passed(since: Option<Instant>, pause: Duration, now: Instant) -> bool {
    since.is_none_or(|since| now.duration_since(since) >= pause)
}
