//! The log's reading side: a plain cursor, exact because there is one writer.

use super::{
    SqliteStore,
    record::Recorder,
    row::{database, envelope, get, json_array},
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

/// One stage's reading of the log.
#[derive(Debug)]
pub struct SqliteLog {
    store: SqliteStore,
    topics: Option<String>,
    event_types: Option<String>,
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
        sqlx::query(store.statements.insert_progress.clone())
            .bind(fence.stage.as_str())
            .bind(start == Start::Latest)
            .execute(&mut *tx)
            .await
            .map_err(database("register a stage"))?;
        let settled = sqlx::query_scalar(store.statements.select_progress.clone())
            .bind(fence.stage.as_str())
            .fetch_one(&mut *tx)
            .await
            .map_err(database("read the progress of a stage"))?;
        tx.commit().await.map_err(database("register a stage"))?;
        let any = |items: Vec<String>| (!items.is_empty()).then(|| json_array(&items));
        Ok(Self {
            store,
            topics: any(filter.topics),
            event_types: any(filter.event_types),
            read_to: Seq(settled),
        })
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

impl LogCursor<SqliteStore> for SqliteLog {
    async fn read(&mut self, max: u32) -> Result<Page, StoreError> {
        let rows = sqlx::query(self.store.statements.select_page.clone())
            .bind(self.read_to.0)
            .bind(i64::from(max))
            .bind(&self.topics)
            .bind(&self.event_types)
            .fetch_all(&self.store.pool)
            .await
            .map_err(database("read the log"))?;
        let mut page = Page { full: rows.len() == max as usize, ..Page::default() };
        for row in &rows {
            page.through = Some(Seq(get(row, "read_seq")?));
            let matches: Option<i64> = row.try_get("seq").map_err(database("read the log"))?;
            if matches.is_some() {
                page.events.push(LogEvent { envelope: envelope(row)?, late: false });
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
