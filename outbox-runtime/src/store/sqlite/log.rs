//! The log's reading side: a plain cursor, exact because there is one writer.

use super::{
    SqliteStore,
    record::Recorder,
    row::{database, foreign_envelope, get, headers_text, json_array, millis},
    transaction::{self, SqliteTx, check_fence},
};
use crate::{
    cursor::{Filter, LogCursor, LogEvent, Page, Settled, Start},
    envelope::Seq,
    held::Change,
    lease::Fence,
    store::StoreError,
};
use sqlx::Row;

const REGISTER: &str = "register a stage";

/// One stage's reading of the log.
#[derive(Debug)]
pub struct SqliteLog {
    store: SqliteStore,
    filter: Filter,
    read_to: Seq,
}

impl SqliteLog {
    pub(super) async fn open(
        store: SqliteStore,
        fence: &Fence,
        filter: Filter,
        start: Start,
    ) -> Result<Self, StoreError> {
        let mut tx = transaction::begin(&store).await?;
        check_fence(&store, &mut tx, fence).await?;
        let settled = sqlx::query_scalar(store.statements.select_progress.clone())
            .bind(fence.stage.as_str())
            .fetch_optional(&mut *tx)
            .await
            .map_err(database("read the progress of a stage"))?;
        let settled = match settled {
            Some(settled) => settled,
            None => register(&store, &mut tx, fence, start).await?,
        };
        tx.commit().await.map_err(database(REGISTER))?;
        Ok(Self { store, filter, read_to: Seq(settled) })
    }

    async fn write_progress(
        &self,
        tx: &mut SqliteTx,
        fence: &Fence,
        settled: &Settled,
    ) -> Result<(), StoreError> {
        check_fence(&self.store, tx, fence).await?;
        if let Some(through) = settled.through {
            sqlx::query(self.store.statements.update_progress.clone())
                .bind(fence.stage.as_str())
                .bind(through.0)
                .execute(&mut **tx)
                .await
                .map_err(database("settle the log"))?;
        }
        Ok(())
    }
}

/// Registers a stage that has no progress yet; gives what it has settled.
async fn register(
    store: &SqliteStore,
    tx: &mut SqliteTx,
    fence: &Fence,
    start: Start,
) -> Result<i64, StoreError> {
    let statements = &store.statements;
    let settled = match start {
        Start::Earliest => Seq::ORIGIN.0,
        Start::Latest => sqlx::query_scalar(statements.select_latest.clone())
            .fetch_one(&mut **tx)
            .await
            .map_err(database(REGISTER))?,
        Start::At(time) => sqlx::query_scalar::<_, Option<i64>>(statements.select_before_time.clone())
            .bind(millis(time))
            .fetch_one(&mut **tx)
            .await
            .map_err(database(REGISTER))?
            .unwrap_or(Seq::ORIGIN.0),
        Start::From(start) => {
            let last = sqlx::query_scalar(statements.select_last_given.clone())
                .fetch_one(&mut **tx)
                .await
                .map_err(database(REGISTER))?;
            if start.0 > last + 1 {
                return Err(StoreError::StartUnknown { start, last: Seq(last) });
            }
            (start.0 - 1).max(Seq::ORIGIN.0)
        }
    };
    sqlx::query(statements.insert_progress.clone())
        .bind(fence.stage.as_str())
        .bind(settled)
        .execute(&mut **tx)
        .await
        .map_err(database(REGISTER))?;
    Ok(settled)
}

impl LogCursor<SqliteStore> for SqliteLog {
    async fn read(&mut self, max: u32) -> Result<Page, StoreError> {
        let any = |items: &[String]| (!items.is_empty()).then(|| json_array(items));
        let headers = &self.filter.headers;
        let rows = sqlx::query(self.store.statements.select_page.clone())
            .bind(self.read_to.0)
            .bind(i64::from(max))
            .bind(any(&self.filter.topics))
            .bind(any(&self.filter.event_types))
            .bind((!headers.is_empty()).then(|| headers_text(headers)))
            .fetch_all(&self.store.pool)
            .await
            .map_err(database("read the log"))?;
        let mut page = Page { full: rows.len() == max as usize, ..Page::default() };
        for row in &rows {
            page.through = Some(Seq(get(row, "read_seq")?));
            let matches: Option<i64> = row.try_get("seq").map_err(database("read the log"))?;
            if matches.is_none() {
                continue;
            }
            let envelope = foreign_envelope(row)?;
            // Whether what is malformed was wanted is not known, so it is set aside.
            if envelope.malformed().is_some() || self.filter.wants(&envelope) {
                page.events.push(LogEvent { envelope, late: false });
            }
        }
        self.read_to = page.through.unwrap_or(self.read_to);
        Ok(page)
    }

    async fn settle(
        &mut self,
        fence: &Fence,
        settled: &Settled,
        changes: &[Change],
    ) -> Result<(), StoreError> {
        let mut tx = transaction::begin(&self.store).await?;
        self.write_progress(&mut tx, fence, settled).await?;
        Recorder { store: &self.store, connection: &mut tx, fence }.apply(changes).await?;
        tx.commit().await.map_err(database("settle the log"))
    }

    async fn settle_in(
        &mut self,
        tx: &mut SqliteTx,
        fence: &Fence,
        settled: &Settled,
    ) -> Result<(), StoreError> {
        self.write_progress(tx, fence, settled).await
    }

    fn settled(&mut self, _settled: &Settled) {}
}
