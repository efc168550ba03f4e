//! The connection of a cursor: the statements that [`GapCursor`] asks for.

use super::{
    PostgresStore,
    error::during,
    precondition, progress, record,
    row::{PgQuery, envelope_at},
    statements::millis,
    transaction::{Tx, commit_own, lock_fence},
};
use crate::{
    cursor::{Filter, Start},
    envelope::{Envelope, Seq},
    gaps::{GapCursor, GapSession, GapStore, InHoles, Progress, Record, Written},
    held::Change,
    lease::Fence,
    store::StoreError,
};
use futures_util::TryStreamExt;
use sqlx::{ConnectOptions, Connection, PgConnection, Row, postgres::PgRow};
use std::time::{Duration, Instant};

/// How often the preconditions are checked again while the log is read: a sequence that somebody sets back hides new
/// events below what was settled.
const CHECK_PAUSE: Duration = Duration::from_secs(10);

/// One stage's reading of the log on PostgreSQL.
pub type PostgresLog = GapCursor<PostgresStore>;

/// The connection of one cursor.
#[derive(Debug)]
pub struct PostgresSession {
    store: PostgresStore,
    connection: PgConnection,
    checked: Instant,
    /// A number that the sequence had given when it was last looked at.
    given: i64,
}

impl GapStore for PostgresStore {
    type Session = PostgresSession;

    fn call_max(&self) -> Duration {
        self.config().statement_max
    }

    async fn connect(&self, fence: &Fence, start: Start) -> Result<(PostgresSession, Progress), StoreError> {
        let action = "open the log";
        let options = self.pool().connect_options();
        let mut connection = options.connect().await.map_err(during(action))?;
        let config = self.config();
        sqlx::query(self.sql().set_session.clone())
            .bind(millis(config.statement_max))
            .bind(millis(config.lock_wait_max))
            .bind(millis(config.idle_in_transaction_max))
            .execute(&mut connection)
            .await
            .map_err(during(action))?;
        precondition::check(self, &mut connection).await?;
        let progress = progress::load_or_register(self, &mut connection, fence, start).await?;
        let (checked, given) = (Instant::now(), Seq::ORIGIN.0);
        Ok((PostgresSession { store: self.clone(), connection, checked, given }, progress))
    }

    async fn write_in(
        &self,
        tx: &mut Tx,
        fence: &Fence,
        before: i64,
        record: &Record,
    ) -> Result<Written, StoreError> {
        lock_fence(self, tx, fence).await?;
        progress::write(self, tx, fence, before, record).await
    }
}

impl GapSession for PostgresSession {
    async fn check(&mut self) -> Result<(), StoreError> {
        if self.checked.elapsed() >= CHECK_PAUSE {
            precondition::check(&self.store, &mut self.connection).await?;
            self.checked = Instant::now();
        }
        Ok(())
    }

    async fn check_numbered(&mut self, seq: Seq) -> Result<(), StoreError> {
        if seq.0 > self.given {
            self.given = precondition::last_given(&self.store, &mut self.connection).await?;
        }
        precondition::check_numbered(seq, self.given)
    }

    async fn read_on(
        &mut self,
        filter: &Filter,
        after: i64,
        max: i64,
        mut row: impl FnMut(Seq, Option<Envelope>) + Send,
    ) -> Result<(), StoreError> {
        let query = if *filter == Filter::default() {
            sqlx::query(self.store.sql().read_log.clone()).bind(after).bind(max)
        } else {
            bind_filter(sqlx::query(self.store.sql().read_log_filtered.clone()).bind(after).bind(max), filter)
        };
        // Each row is taken apart while the server sends the next ones.
        let mut rows = query.fetch(&mut self.connection);
        while let Some(read) = rows.try_next().await.map_err(during("read the log"))? {
            let seq = seq_of(&read, 0)?;
            row(seq, envelope_at(&read, seq, 1)?.filter(|envelope| filter.wants(envelope)));
        }
        Ok(())
    }

    async fn read_holes(
        &mut self,
        filter: &Filter,
        ranges: &[(i64, i64)],
        max: i64,
    ) -> Result<InHoles, StoreError> {
        let (firsts, lasts): (Vec<i64>, Vec<i64>) = ranges.iter().copied().unzip();
        let query = sqlx::query(self.store.sql().read_holes.clone()).bind(firsts).bind(lasts).bind(max);
        let rows = bind_filter(query, filter)
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
            let seq = row.try_get::<Option<i64>, _>(1).map_err(during("read a late row"))?;
            if let Some(seq) = seq.map(Seq) {
                found.push((seq, envelope_at(row, seq, 2)?.filter(|envelope| filter.wants(envelope))));
            }
        }
        Ok(InHoles { xmin, rows: found })
    }

    async fn number_holders(&mut self) -> Result<Vec<(String, bool)>, StoreError> {
        sqlx::query_as(self.store.sql().select_number_holders.clone())
            .fetch_all(&mut self.connection)
            .await
            .map_err(during("ask who has taken numbers"))
    }

    async fn write(
        &mut self,
        fence: &Fence,
        before: i64,
        record: Option<&Record>,
        changes: &[Change],
    ) -> Result<Option<Written>, StoreError> {
        let store = &self.store;
        if let Some(record) = record
            && changes.is_empty()
            && !record.holes.has_rows()
        {
            // The usual case, in one statement.
            return progress::append(store, &mut self.connection, fence, before, record).await.map(Some);
        }
        let begin = store.sql().begin_write.clone();
        let mut tx =
            self.connection.begin_with(begin).await.map_err(during("begin a leader's transaction"))?;
        lock_fence(store, &mut tx, fence).await?;
        record::apply(store, &mut tx, fence, changes).await?;
        let written = match record {
            Some(record) => Some(progress::write(store, &mut tx, fence, before, record).await?),
            None => None,
        };
        commit_own(tx).await?;
        Ok(written)
    }
}

/// Binds the four arrays of a filter.
fn bind_filter<'q>(query: PgQuery<'q>, filter: &'q Filter) -> PgQuery<'q> {
    let (names, values): (Vec<&str>, Vec<&str>) =
        filter.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).unzip();
    query.bind(&filter.topics).bind(&filter.event_types).bind(names).bind(values)
}

fn seq_of(row: &PgRow, column: usize) -> Result<Seq, StoreError> {
    row.try_get(column).map(Seq).map_err(during("read a number of the log"))
}
