//! A stage's held events, marks and dead letters: each [`Change`] in terms of statements.

use super::{
    SqliteStore,
    row::{bind_envelope, bind_held_id, database, get, held_id, lane, span},
};
use crate::{
    envelope::Envelope,
    held::{Change, Failure, HeldId, Lane},
    lease::Fence,
    store::StoreError,
};
use sqlx::{SqlStr, SqliteConnection};
use std::time::Duration;

/// How late a request at a limited rate may be acted on before those behind it are put off too.
const LATE_MAX: Duration = Duration::from_secs(5);

/// One write in an open transaction, for one stage.
pub(super) struct Recorder<'a> {
    pub(super) store: &'a SqliteStore,
    pub(super) connection: &'a mut SqliteConnection,
    pub(super) fence: &'a Fence,
}

impl Recorder<'_> {
    /// Applies the changes in order. The caller has checked the fence under the write lock.
    pub(super) async fn apply(&mut self, changes: &[Change]) -> Result<(), StoreError> {
        for change in changes {
            match change {
                Change::Hold { envelope, attempts, retry_in, failure } => {
                    self.mark_waiting(&Lane::of(envelope), *retry_in).await?;
                    self.hold(envelope, *attempts, Some(failure)).await?;
                }
                Change::Behind { envelope } => {
                    self.mark_waiting(&Lane::of(envelope), Duration::ZERO).await?;
                    self.hold(envelope, 0, None).await?;
                }
                Change::Retry { held, attempts, retry_in, failure } => {
                    self.retry(held, *attempts, *retry_in, failure).await?;
                }
                Change::Done { held } => self.finish(held).await?,
                Change::Dead { envelope, attempts, failure, park } => {
                    self.set_aside(envelope, *attempts, failure, *park).await?;
                }
            }
        }
        Ok(())
    }

    async fn mark_waiting(&mut self, lane: &Lane, retry_in: Duration) -> Result<(), StoreError> {
        let query = sqlx::query(self.store.statements.insert_waiting.clone())
            .bind(self.fence.stage.as_str())
            .bind(lane.as_str())
            .bind(&self.fence.share.0)
            .bind(span(retry_in));
        query.execute(&mut *self.connection).await.map_err(database("mark a key as waiting"))?;
        Ok(())
    }

    async fn hold(
        &mut self,
        envelope: &Envelope,
        attempts: u32,
        failure: Option<&Failure>,
    ) -> Result<(), StoreError> {
        self.hold_as(envelope, attempts, failure, false).await.map(|_| ())
    }

    /// Holds an event of a replay, due at once; whether it was not held or set aside already.
    pub(super) async fn take_up(&mut self, envelope: &Envelope) -> Result<bool, StoreError> {
        self.mark_waiting(&Lane::of(envelope), Duration::ZERO).await?;
        self.hold_as(envelope, 0, None, true).await
    }

    async fn hold_as(
        &mut self,
        envelope: &Envelope,
        attempts: u32,
        failure: Option<&Failure>,
        replayed: bool,
    ) -> Result<bool, StoreError> {
        let query = sqlx::query(self.store.statements.insert_held.clone())
            .bind(self.fence.stage.as_str().to_owned())
            .bind(Lane::of(envelope).as_str().to_owned());
        let query = bind_envelope(query, envelope)
            .bind(i64::from(attempts))
            .bind(failure.map(|failure| failure.reason))
            .bind(failure.map(|failure| failure.error_chain.clone()))
            .bind(replayed);
        let held = query.execute(&mut *self.connection).await.map_err(database("hold an event"))?;
        let is_new = held.rows_affected() > 0;
        // A mark that was set for an event which turned out to be set aside already goes again.
        if !is_new {
            self.lift(&Lane::of(envelope)).await?;
        }
        Ok(is_new)
    }

    async fn retry(
        &mut self,
        held: &HeldId,
        attempts: u32,
        retry_in: Duration,
        failure: &Failure,
    ) -> Result<(), StoreError> {
        let query =
            sqlx::query(self.store.statements.update_held.clone()).bind(self.fence.stage.as_str().to_owned());
        let query = bind_held_id(query, held)
            .bind(i64::from(attempts))
            .bind(failure.reason)
            .bind(failure.error_chain.clone());
        query.execute(&mut *self.connection).await.map_err(database("record a failed attempt"))?;
        let query = sqlx::query(self.store.statements.update_waiting.clone())
            .bind(self.fence.stage.as_str())
            .bind(held.lane.as_str())
            .bind(span(retry_in));
        query.execute(&mut *self.connection).await.map_err(database("set the next attempt of a key"))?;
        Ok(())
    }

    async fn finish(&mut self, held: &HeldId) -> Result<(), StoreError> {
        self.remove(held).await?;
        let query = sqlx::query(self.store.statements.delete_replayed.clone())
            .bind(self.fence.stage.as_str())
            .bind(&held.source)
            .bind(held.id.to_string());
        query.execute(&mut *self.connection).await.map_err(database("remove a replayed dead letter"))?;
        self.advance(&held.lane).await
    }

    async fn set_aside(
        &mut self,
        envelope: &Envelope,
        attempts: u32,
        failure: &Failure,
        park: bool,
    ) -> Result<(), StoreError> {
        let held = HeldId::of(envelope);
        let was_held = self.remove(&held).await?;
        let query = sqlx::query(self.store.statements.upsert_dead_letter.clone())
            .bind(self.fence.stage.as_str().to_owned())
            .bind(held.lane.as_str().to_owned())
            .bind(self.fence.share.0.clone());
        let query = bind_envelope(query, envelope)
            .bind(i64::from(attempts))
            .bind(failure.reason)
            .bind(failure.error_chain.clone())
            .bind(was_held.flatten())
            .bind(park);
        query.execute(&mut *self.connection).await.map_err(database("set an event aside"))?;
        self.mark_waiting(&held.lane, Duration::ZERO).await?;
        self.advance(&held.lane).await
    }

    /// Removes a held row; tells when it failed first. `None`: no such row.
    async fn remove(&mut self, held: &HeldId) -> Result<Option<Option<i64>>, StoreError> {
        let query =
            sqlx::query(self.store.statements.delete_held.clone()).bind(self.fence.stage.as_str().to_owned());
        let row = bind_held_id(query, held)
            .fetch_optional(&mut *self.connection)
            .await
            .map_err(database("remove a held event"))?;
        row.map(|row| get(&row, "first_failed_at")).transpose()
    }

    /// Lets a lane go on after its head has changed, or lifts the mark of one that waits for nothing.
    pub(super) async fn advance(&mut self, lane: &Lane) -> Result<(), StoreError> {
        self.change_lane(self.store.statements.advance_lane.clone(), lane).await?;
        self.lift(lane).await
    }

    async fn lift(&mut self, lane: &Lane) -> Result<(), StoreError> {
        self.change_lane(self.store.statements.lift_lane.clone(), lane).await
    }

    async fn change_lane(&mut self, statement: SqlStr, lane: &Lane) -> Result<(), StoreError> {
        sqlx::query(statement)
            .bind(self.fence.stage.as_str())
            .bind(lane.as_str())
            .execute(&mut *self.connection)
            .await
            .map_err(database("go on with a key"))?;
        Ok(())
    }

    /// Acts on requests; see [`Store::act_on_requests`](crate::store::Store::act_on_requests).
    pub(super) async fn act_on_requests(&mut self, max: u32) -> Result<u32, StoreError> {
        sqlx::query(self.store.statements.postpone_requests.clone())
            .bind(self.fence.stage.as_str())
            .bind(&self.fence.share.0)
            .bind(span(LATE_MAX))
            .execute(&mut *self.connection)
            .await
            .map_err(database("put requests off"))?;
        let rows = sqlx::query(self.store.statements.delete_requests.clone())
            .bind(self.fence.stage.as_str())
            .bind(&self.fence.share.0)
            .bind(i64::from(max))
            .fetch_all(&mut *self.connection)
            .await
            .map_err(database("take requests"))?;
        for row in &rows {
            let id: i64 = get(row, "dead_letter_id")?;
            let request: String = get(row, "request")?;
            sqlx::query(self.store.statements.insert_audit.clone())
                .bind(id)
                .bind(&request)
                .bind(get::<i64>(row, "requested_at")?)
                .bind(get::<String>(row, "asked_by")?)
                .bind(get::<String>(row, "why")?)
                .execute(&mut *self.connection)
                .await
                .map_err(database("enter a request in the audit log"))?;
            match request.as_str() {
                "discard" => self.discard(id).await?,
                _ => self.replay(id).await?,
            }
        }
        Ok(u32::try_from(rows.len()).expect("at most `max` rows"))
    }

    async fn replay(&mut self, id: i64) -> Result<(), StoreError> {
        let action = "replay a dead letter";
        sqlx::query(self.store.statements.hold_dead_letter.clone())
            .bind(id)
            .execute(&mut *self.connection)
            .await
            .map_err(database(action))?;
        let row = sqlx::query(self.store.statements.mark_replaying.clone())
            .bind(id)
            .fetch_one(&mut *self.connection)
            .await
            .map_err(database(action))?;
        let lane = lane(&row)?;
        self.mark_waiting(&lane, Duration::ZERO).await?;
        self.advance(&lane).await
    }

    async fn discard(&mut self, id: i64) -> Result<(), StoreError> {
        if self.fence.stage.is_consumer() {
            sqlx::query(self.store.statements.insert_discarded_twin.clone())
                .bind(id)
                .execute(&mut *self.connection)
                .await
                .map_err(database("discard a pair"))?;
        }
        let row = sqlx::query(self.store.statements.delete_dead_letter.clone())
            .bind(id)
            .fetch_one(&mut *self.connection)
            .await
            .map_err(database("discard a dead letter"))?;
        let held = held_id(&row)?;
        self.remove(&held).await?;
        self.advance(&held.lane).await
    }
}
