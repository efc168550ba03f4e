//! The trait [`Store`] for SQLite.

use super::{
    SqliteLog, SqliteStore, dead_letter, examine, forget, migrate, range,
    record::Recorder,
    row::{self, bind_event, database, get, held_event, json_array, span},
    scheduled,
    transaction::{self, SqliteTx},
};
use crate::{
    cursor::{Filter, Start},
    dead_letter::{AuditEntry, AuditFilter, DeadLetter, DeadLetterCount, DeadLetterFilter, Request, Terms},
    envelope::{EventId, NewEvent},
    finding::{Finding, Tolerance},
    held::{Change, HeldEvent, Stage},
    lease::{Fence, LeaseName, Owner},
    marker::Marker,
    range::{Range, RangePlan, RangeReplay},
    scheduled::{Cancellation, NewScheduled, Scheduled, ScheduledFilter},
    store::{
        Claim, Claimed, EventState, Forgetting, HandlerToken, News, OpenTx, Retention, StageStatus,
        Statement, Store, StoreError, Waiting, sealed::Sealed,
    },
    telemetry::{self, Outcome},
};
use sqlx::{Sqlite, SqliteConnection, Transaction, sqlite::SqliteRow};
use std::time::Duration;

/// The most rows that one statement of retention deletes, so that writers wait for it a few milliseconds at most.
const SWEEP_ROWS_MAX: i64 = 1_000;
/// Of the log more, and in several turns: each waits behind other writers, and together they must delete more than those
/// write meanwhile.
const SWEEP_LOG_ROWS_MAX: i64 = 4_000;
const SWEEP_LOG_TURNS: usize = 4;

/// How often retention is looked after, and the shortest and the longest pause meanwhile.
const SWEEPS_PER_RETENTION: u32 = 48;
const SWEEP_PAUSE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

/// The pause between two looks of who stands by whether a lease is free.
const FREED_PAUSE: Duration = Duration::from_millis(50);

impl Store for SqliteStore {
    type Tx = SqliteTx;
    type Connection = SqliteConnection;
    type Log = SqliteLog;

    const NAME: &'static str = "sqlite";
    const HANDLERS_MAX: u32 = 1;
    const NOTIFIES: bool = false;
    const SETTLES_IN_HANDLER: bool = true;

    async fn migrate(&self) -> Result<(), StoreError> {
        migrate::migrate(self).await
    }

    async fn check(&self) -> Result<(), StoreError> {
        migrate::migrate(self).await
    }

    async fn begin(&self) -> Result<SqliteTx, StoreError> {
        transaction::begin(self).await
    }

    async fn commit(&self, mut tx: SqliteTx) -> Result<(), StoreError> {
        // Errors such as a full disk end the transaction inside SQLite; then there is no savepoint to be had and COMMIT
        // fails too, so the commit itself is the proof.
        sqlx::query(self.statements.open_savepoint.clone())
            .execute(&mut *tx)
            .await
            .map_err(database("commit"))?;
        tx.commit().await.map_err(database("commit"))
    }

    async fn rollback(&self, tx: SqliteTx) {
        transaction::rollback(self, tx).await;
    }

    fn connection(tx: &mut SqliteTx) -> &mut SqliteConnection {
        tx
    }

    async fn insert(&self, connection: &mut SqliteConnection, events: &[NewEvent]) -> Result<(), StoreError> {
        for event in events {
            bind_event(sqlx::query(self.statements.insert_event.clone()), event)
                .execute(&mut *connection)
                .await
                .map_err(database("write an event"))?;
        }
        Ok(())
    }

    fn statement(&self, event: &NewEvent, twin: Option<&NewEvent>) -> Statement {
        let statements = &self.statements;
        let sql = if twin.is_some() { &statements.insert_pair } else { &statements.insert_event };
        let values = std::iter::once(event).chain(twin).flat_map(row::statement_values);
        Statement { sql: sql.as_str().to_owned(), values: values.collect() }
    }

    async fn schedule(
        &self,
        connection: &mut SqliteConnection,
        events: &[NewScheduled],
    ) -> Result<(), StoreError> {
        scheduled::schedule(self, connection, events).await
    }

    async fn cancel(
        &self,
        connection: &mut SqliteConnection,
        id: EventId,
    ) -> Result<Cancellation, StoreError> {
        scheduled::cancel(self, connection, id).await
    }

    async fn scheduled(&self, filter: &ScheduledFilter, max: u32) -> Result<Vec<Scheduled>, StoreError> {
        scheduled::list(self, filter, max).await
    }

    async fn due_in(&self) -> Result<Option<Duration>, StoreError> {
        scheduled::due_in(self).await
    }

    async fn move_due(&self, fence: &Fence, max: u32) -> Result<u32, StoreError> {
        scheduled::move_due(self, fence, max).await
    }

    async fn state(&self, id: EventId) -> Result<EventState, StoreError> {
        let rows = sqlx::query(self.statements.select_state.clone())
            .bind(id.to_string())
            .fetch_all(&self.pool)
            .await
            .map_err(database("look where an event stands"))?;
        let (mut dead, mut held, mut state) = (Vec::new(), Vec::new(), EventState::Unknown);
        for row in &rows {
            match get::<String>(row, "place")?.as_str() {
                "dead" => dead.push(Stage::from_text(get(row, "stage")?)),
                "held" => held.push(Stage::from_text(get(row, "stage")?)),
                "scheduled" => state = EventState::Scheduled,
                "settled" => state = EventState::Settled,
                _ => state = EventState::Pending,
            }
        }
        Ok(match (dead.is_empty(), held.is_empty()) {
            (false, _) => EventState::Dead(dead),
            (true, false) => EventState::Held(held),
            (true, true) => state,
        })
    }

    async fn notify(&self, _news: News) -> Result<(), StoreError> {
        Ok(())
    }

    async fn notified(&self, _news: News, _heard: &mut u64) {
        std::future::pending().await
    }

    async fn acquire(
        &self,
        lease: &LeaseName,
        owner: Owner,
        ttl: Duration,
    ) -> Result<Option<i64>, StoreError> {
        // A standby's look takes no write lock.
        let is_taken: bool = sqlx::query_scalar(self.statements.is_lease_taken.clone())
            .bind(lease.as_str())
            .bind(owner.0.to_string())
            .fetch_one(&self.pool)
            .await
            .map_err(database("look at a lease"))?;
        if is_taken {
            return Ok(None);
        }
        let _turn = self.gate.urgent_turn().await;
        sqlx::query_scalar(self.statements.acquire_lease.clone())
            .bind(lease.as_str())
            .bind(owner.0.to_string())
            .bind(span(ttl))
            .fetch_optional(&self.pool)
            .await
            .map_err(database("take a lease"))
    }

    async fn renew(
        &self,
        leases: &[LeaseName],
        owner: Owner,
        ttl: Duration,
    ) -> Result<Vec<LeaseName>, StoreError> {
        let names: Vec<String> = leases.iter().map(LeaseName::to_string).collect();
        let _turn = self.gate.urgent_turn().await;
        let renewed: Vec<String> = sqlx::query_scalar(self.statements.renew_leases.clone())
            .bind(json_array(&names))
            .bind(owner.0.to_string())
            .bind(span(ttl))
            .fetch_all(&self.pool)
            .await
            .map_err(database("renew leases"))?;
        Ok(leases.iter().filter(|lease| renewed.iter().any(|name| name == lease.as_str())).cloned().collect())
    }

    async fn release(&self, lease: &LeaseName, owner: Owner) -> Result<(), StoreError> {
        let _turn = self.gate.urgent_turn().await;
        sqlx::query(self.statements.release_lease.clone())
            .bind(lease.as_str())
            .bind(owner.0.to_string())
            .execute(&self.pool)
            .await
            .map_err(database("release a lease"))?;
        Ok(())
    }

    /// Reads again and again, which takes no lock. For a stage of several shares it would find those that others leave for
    /// each other, so such a stage only asks now and then.
    async fn freed(&self, leases: &[LeaseName], _freed: &mut u64) {
        let [lease] = leases else { return std::future::pending().await };
        loop {
            tokio::time::sleep(FREED_PAUSE).await;
            let is_free = sqlx::query_scalar(self.statements.is_free.clone())
                .bind(lease.as_str())
                .fetch_one(&self.pool)
                .await;
            if matches!(is_free, Ok(true)) {
                return;
            }
        }
    }

    async fn join(&self, stage: &Stage, owner: Owner, ttl: Duration) -> Result<u32, StoreError> {
        let mut tx = transaction::begin_urgent(self).await?;
        sqlx::query(self.statements.upsert_member.clone())
            .bind(stage.as_str())
            .bind(owner.0.to_string())
            .bind(span(ttl))
            .execute(&mut *tx)
            .await
            .map_err(database("join a stage"))?;
        let members = sqlx::query_scalar(self.statements.count_members.clone())
            .bind(stage.as_str())
            .fetch_one(&mut *tx)
            .await
            .map_err(database("count the members of a stage"))?;
        tx.commit().await.map_err(database("join a stage"))?;
        Ok(members)
    }

    async fn leave(&self, stage: &Stage, owner: Owner) -> Result<(), StoreError> {
        let _turn = self.gate.urgent_turn().await;
        sqlx::query(self.statements.delete_member.clone())
            .bind(stage.as_str())
            .bind(owner.0.to_string())
            .execute(&self.pool)
            .await
            .map_err(database("leave a stage"))?;
        Ok(())
    }

    async fn open_log(&self, fence: &Fence, filter: Filter, start: Start) -> Result<SqliteLog, StoreError> {
        SqliteLog::open(self.clone(), fence, filter, start).await
    }

    async fn apply(&self, fence: &Fence, changes: &[Change]) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        self.apply_in(&mut tx, fence, changes).await?;
        tx.commit().await.map_err(database("record a stage's changes"))
    }

    async fn apply_in(&self, tx: &mut SqliteTx, fence: &Fence, changes: &[Change]) -> Result<(), StoreError> {
        transaction::check_fence(self, tx, fence).await?;
        Recorder { store: self, connection: tx, fence }.apply(changes).await
    }

    async fn due_heads(&self, fence: &Fence, max: u32) -> Result<Vec<HeldEvent>, StoreError> {
        let rows = sqlx::query(self.statements.select_due_heads.clone())
            .bind(fence.stage.as_str())
            .bind(&fence.share.0)
            .bind(i64::from(max))
            .fetch_all(&self.pool)
            .await
            .map_err(database("read the held events that are due"))?;
        rows.iter().map(held_event).collect()
    }

    async fn waiting(&self, fence: &Fence) -> Result<Waiting, StoreError> {
        let row = sqlx::query(self.statements.count_waiting.clone())
            .bind(fence.stage.as_str())
            .bind(&fence.share.0)
            .fetch_one(&self.pool)
            .await
            .map_err(database("count the keys that wait"))?;
        let due_in: Option<i64> = get(&row, "due_in")?;
        Ok(Waiting {
            lanes: get::<i64>(&row, "lanes")?.cast_unsigned(),
            due_in: due_in.map(|millis| Duration::from_millis(u64::try_from(millis).unwrap_or(0))),
        })
    }

    async fn waiting_lanes(&self, fence: &Fence, lanes: &[String]) -> Result<Vec<String>, StoreError> {
        sqlx::query_scalar(self.statements.select_waiting.clone())
            .bind(fence.stage.as_str())
            .bind(json_array(lanes))
            .fetch_all(&self.pool)
            .await
            .map_err(database("look which keys wait"))
    }

    async fn marker(&self, fence: &Fence) -> Result<Option<(i64, Marker)>, StoreError> {
        let row = sqlx::query(self.statements.select_marker.clone())
            .bind(fence.lease().as_str())
            .fetch_optional(&self.pool)
            .await
            .map_err(database("read what the leader before had in work"))?;
        row.as_ref().map(row::marker).transpose()
    }

    async fn mark(&self, fence: &Fence, marker: &Marker) -> Result<(), StoreError> {
        let mut tx = transaction::begin_urgent(self).await?;
        transaction::check_fence(self, &mut tx, fence).await?;
        sqlx::query(self.statements.upsert_marker.clone())
            .bind(fence.lease().as_str())
            .bind(fence.epoch)
            .bind(marker.suspects)
            .bind(marker.taken)
            .bind(marker.alone.map(|id| id.to_string()))
            .execute(&mut *tx)
            .await
            .map_err(database("mark what is in work"))?;
        tx.commit().await.map_err(database("mark what is in work"))
    }

    async fn begin_handler(&self, _timeout: Duration) -> Result<SqliteTx, StoreError> {
        // A process that stops inside keeps the file's lock: SQLite cannot take it away.
        self.begin().await
    }

    async fn claim(
        &self,
        tx: &mut SqliteTx,
        fence: &Fence,
        claim: &Claim<'_>,
    ) -> Result<Claimed, StoreError> {
        transaction::claim(self, tx, fence, claim).await
    }

    async fn prove_handler(
        &self,
        tx: &mut SqliteTx,
        fence: &Fence,
        _token: &HandlerToken,
    ) -> Result<(), StoreError> {
        transaction::prove_handler(self, tx, fence).await
    }

    async fn commit_proven(&self, tx: SqliteTx) -> Result<(), StoreError> {
        tx.commit().await.map_err(database("commit a handler's transaction"))
    }

    async fn dead_letters(&self, filter: &DeadLetterFilter, max: u32) -> Result<Vec<DeadLetter>, StoreError> {
        dead_letter::list(self, filter, max).await
    }

    async fn count_dead_letters(
        &self,
        filter: &DeadLetterFilter,
    ) -> Result<Vec<DeadLetterCount>, StoreError> {
        dead_letter::count(self, filter).await
    }

    async fn request(
        &self,
        filter: &DeadLetterFilter,
        request: Request,
        terms: &Terms,
    ) -> Result<u64, StoreError> {
        dead_letter::request(self, filter, request, terms).await
    }

    async fn cancel_requests(&self, filter: &DeadLetterFilter, terms: &Terms) -> Result<u64, StoreError> {
        dead_letter::cancel(self, filter, terms).await
    }

    async fn audit(&self, filter: &AuditFilter, max: u32) -> Result<Vec<AuditEntry>, StoreError> {
        dead_letter::audit(self, filter, max).await
    }

    async fn plan_range(&self, range: &Range) -> Result<RangePlan, StoreError> {
        range::plan(self, range).await
    }

    async fn replay_range(
        &self,
        range: &Range,
        terms: &Terms,
    ) -> Result<(Option<i64>, RangePlan), StoreError> {
        range::replay(self, range, terms).await
    }

    async fn range_replays(&self, max: u32) -> Result<Vec<RangeReplay>, StoreError> {
        range::list(self, max).await
    }

    async fn cancel_range(&self, id: i64) -> Result<bool, StoreError> {
        range::cancel(self, id).await
    }

    async fn take_up_range(&self, fence: &Fence, wanted: &Filter, max: u32) -> Result<u32, StoreError> {
        range::take_up(self, fence, wanted, max).await
    }

    async fn act_on_requests(&self, fence: &Fence, max: u32) -> Result<u32, StoreError> {
        let mut tx = self.begin().await?;
        transaction::check_fence(self, &mut tx, fence).await?;
        let done = Recorder { store: self, connection: &mut tx, fence }.act_on_requests(max).await?;
        tx.commit().await.map_err(database("act on requests"))?;
        Ok(done)
    }

    async fn forget(&self, stage: &Stage, discard: Option<&Terms>) -> Result<Forgetting, StoreError> {
        forget::forget(self, stage, discard).await
    }

    async fn status(&self) -> Result<Vec<StageStatus>, StoreError> {
        let rows = sqlx::query(self.statements.select_status.clone())
            .fetch_all(&self.pool)
            .await
            .map_err(database("count what the stages hold"))?;
        rows.iter().map(stage_status).collect()
    }

    async fn examine(&self, tolerance: &Tolerance) -> Result<Vec<Finding>, StoreError> {
        examine::examine(self, tolerance).await
    }

    async fn topics(&self) -> Result<Vec<String>, StoreError> {
        examine::topics(self).await
    }

    async fn sweep(&self, owner: Owner, retention: &Retention) -> Result<Duration, StoreError> {
        // One writer at a time: two processes that sweep at once delete each row once all the same.
        let _ = owner;
        let mut log_is_done = false;
        for _ in 0..SWEEP_LOG_TURNS {
            log_is_done = self.sweep_log(retention).await?;
            if log_is_done {
                break;
            }
        }
        let turn = self.gate.turn().await;
        let inbox = sqlx::query(self.statements.delete_inbox.clone())
            .bind(span(retention.inbox))
            .bind(SWEEP_ROWS_MAX)
            .execute(&self.pool)
            .await
            .map_err(database("delete inbox rows past the window"))?;
        drop(turn);
        let turn = self.gate.turn().await;
        let dead_letters = sqlx::query(self.statements.expire_dead_letters.clone())
            .bind(span(retention.dead_letters))
            .bind(SWEEP_ROWS_MAX)
            .execute(&self.pool)
            .await
            .map_err(database("discard dead letters past retention"))?
            .rows_affected();
        drop(turn);
        if dead_letters > 0 {
            tracing::warn!(count = dead_letters, "dead letters past retention are discarded");
        }
        let mut done = vec![inbox.rows_affected(), dead_letters];
        for statement in [&self.statements.delete_audit, &self.statements.delete_replays] {
            let _turn = self.gate.turn().await;
            let query = sqlx::query(statement.clone()).bind(span(retention.audit)).bind(SWEEP_ROWS_MAX);
            let deleted = query.execute(&self.pool).await;
            done.push(deleted.map_err(database("delete what people asked long ago"))?.rows_affected());
        }
        let pause = (retention.log / SWEEPS_PER_RETENTION).clamp(SWEEP_PAUSE.0, SWEEP_PAUSE.1);
        let is_done = log_is_done && !done.contains(&SWEEP_ROWS_MAX.unsigned_abs());
        Ok(if is_done { pause } else { Duration::ZERO })
    }
}

impl SqliteStore {
    /// Deletes a batch of the log's events past retention; whether these were all.
    async fn sweep_log(&self, retention: &Retention) -> Result<bool, StoreError> {
        let turn = self.gate.turn().await;
        let missed: Vec<bool> = sqlx::query_scalar(self.statements.delete_log.clone())
            .bind(span(retention.log))
            .bind(span(retention.wait_max))
            .bind(SWEEP_LOG_ROWS_MAX)
            .fetch_all(&self.pool)
            .await
            .map_err(database("delete events past retention"))?;
        drop(turn);
        let lost = missed.iter().filter(|missed| **missed).count();
        if lost > 0 {
            telemetry::count_events(Stage::upkeep().as_str(), Outcome::Missed, lost as u64);
            tracing::error!(
                count = lost,
                "events past retention were deleted though a stage had not settled them"
            );
        }
        Ok((missed.len() as u64) < SWEEP_LOG_ROWS_MAX.unsigned_abs())
    }
}

fn stage_status(row: &SqliteRow) -> Result<StageStatus, StoreError> {
    let count = |column| get::<i64>(row, column).map(i64::cast_unsigned);
    Ok(StageStatus {
        stage: Stage::from_text(get(row, "stage")?),
        lag: if get(row, "reads_log")? { Some(count("lag")?) } else { None },
        held: count("held")?,
        waiting_keys: count("waiting_keys")?,
        parked_keys: count("parked_keys")?,
        dead_letters: count("dead_letters")?,
        led: get(row, "led")?,
    })
}

impl Sealed for Transaction<'_, Sqlite> {}

impl OpenTx<SqliteStore> for Transaction<'_, Sqlite> {
    fn connection(&mut self) -> &mut SqliteConnection {
        self
    }
}
