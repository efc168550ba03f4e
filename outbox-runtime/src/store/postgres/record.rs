//! A stage's held events, marks and dead letters: each [`Change`] in terms of statements.
//!
//! Every change locks the marks of its lanes first, and the look that decides whether a lane goes on comes in a later
//! statement. So of two transactions on one lane the second sees what the first did, and no mark is lifted while another
//! transaction puts an event behind it.

use super::{
    PostgresStore,
    error::during,
    row::{EventColumns, envelope_at, free_of_nul},
    transaction::{begin_fenced, commit_own},
};
use crate::{
    envelope::{Envelope, Seq},
    held::{Change, Failure, HeldEvent, HeldId, Lane},
    lease::Fence,
    store::{StoreError, Waiting},
};
use sqlx::{PgConnection, Row, SqlStr};
use std::time::Duration;

/// How late a request at a limited rate may be acted on before those behind it are put off too.
const LATE_MAX: Duration = Duration::from_secs(5);

/// One write in an open transaction that holds the fence.
pub(super) struct Recorder<'a> {
    store: &'a PostgresStore,
    connection: &'a mut PgConnection,
    fence: &'a Fence,
}

/// What is noted of an event when it is held.
#[derive(Default)]
struct Held<'f> {
    attempts: u32,
    retry_in: Duration,
    failure: Option<&'f Failure>,
}

/// Applies the changes in a transaction of their own.
pub(super) async fn apply_fenced(
    store: &PostgresStore,
    fence: &Fence,
    changes: &[Change],
) -> Result<(), StoreError> {
    let mut tx = begin_fenced(store, fence).await?;
    apply(store, &mut tx, fence, changes).await?;
    commit_own(tx).await
}

/// Applies the changes in order. The transaction holds the fence.
pub(super) async fn apply(
    store: &PostgresStore,
    connection: &mut PgConnection,
    fence: &Fence,
    changes: &[Change],
) -> Result<(), StoreError> {
    let mut recorder = Recorder { store, connection, fence };
    // Events that only wait come in long runs: a page of a key that waits.
    for run in changes.chunk_by(|a, b| matches!((a, b), (Change::Behind { .. }, Change::Behind { .. }))) {
        match run {
            [Change::Hold { envelope, attempts, retry_in, failure }] => {
                recorder.hold(&[envelope], *attempts, *retry_in, Some(failure)).await?;
            }
            [Change::Retry { held, attempts, retry_in, failure }] => {
                recorder.retry(held, *attempts, *retry_in, failure).await?;
            }
            [Change::Done { held }] => recorder.finish(held).await?,
            [Change::Dead { envelope, attempts, failure, park }] => {
                recorder.set_aside(envelope, *attempts, failure, *park).await?;
            }
            behind => {
                let envelopes: Vec<&Envelope> = behind
                    .iter()
                    .filter_map(|change| match change {
                        Change::Behind { envelope } => Some(envelope),
                        _ => None,
                    })
                    .collect();
                recorder.hold(&envelopes, 0, Duration::ZERO, None).await?;
            }
        }
    }
    Ok(())
}

/// Acts on requests; see [`Store::act_on_requests`](crate::store::Store::act_on_requests).
pub(super) async fn act_on_requests(
    store: &PostgresStore,
    fence: &Fence,
    max: u32,
) -> Result<u32, StoreError> {
    let action = "act on requests";
    let mut tx = begin_fenced(store, fence).await?;
    let due: Vec<(i64, String, f64)> = sqlx::query_as(store.sql().select_requests.clone())
        .bind(fence.stage.as_str())
        .bind(&fence.share.0)
        .bind(i64::from(max))
        .fetch_all(&mut *tx)
        .await
        .map_err(during(action))?;
    let mut recorder = Recorder { store, connection: &mut tx, fence };
    if due.iter().any(|(.., late_secs)| *late_secs > LATE_MAX.as_secs_f64()) {
        recorder.postpone().await?;
        commit_own(tx).await?;
        return Ok(0);
    }
    let numbers: Vec<i64> = due.iter().map(|(number, ..)| *number).collect();
    // Lanes first, then dead letters, then requests: as everyone does.
    recorder.lock(due.iter().map(|(_, lane, _)| lane.as_str()).collect(), Duration::ZERO).await?;
    let requests: Vec<(i64, String, String)> = sqlx::query_as(store.sql().delete_requests.clone())
        .bind(&numbers)
        .fetch_all(&mut *recorder.connection)
        .await
        .map_err(during(action))?;
    for (number, request, lane) in &requests {
        recorder.act(*number, request, lane).await?;
    }
    // What was taken back meanwhile leaves the mark that was set for it.
    for (_, lane, _) in due.iter().filter(|(due, ..)| !requests.iter().any(|(number, ..)| number == due)) {
        recorder.advance(lane).await?;
    }
    commit_own(tx).await?;
    Ok(u32::try_from(requests.len()).expect("at most `max` rows"))
}

impl<'a> Recorder<'a> {
    pub(super) fn new(store: &'a PostgresStore, connection: &'a mut PgConnection, fence: &'a Fence) -> Self {
        Self { store, connection, fence }
    }

    /// Holds events of a replay, due at once; gives how many were not held or set aside already.
    pub(super) async fn take_up(&mut self, events: &[Envelope]) -> Result<u64, StoreError> {
        if events.is_empty() {
            return Ok(0);
        }
        let events: Vec<&Envelope> = events.iter().collect();
        self.hold_as(&events, Held::default(), true).await
    }

    /// Puts off what was asked for at a limited rate. Nothing is locked yet.
    async fn postpone(&mut self) -> Result<(), StoreError> {
        sqlx::query(self.store.sql().postpone_requests.clone())
            .bind(self.fence.stage.as_str())
            .bind(&self.fence.share.0)
            .execute(&mut *self.connection)
            .await
            .map_err(during("put requests off"))?;
        Ok(())
    }

    /// Acts on what was asked of one dead letter.
    async fn act(&mut self, number: i64, request: &str, lane: &str) -> Result<(), StoreError> {
        // The request before may have lifted the mark of this lane.
        self.lock(vec![lane], Duration::ZERO).await?;
        let sql = self.store.sql();
        let statements: &[_] = match request {
            "discard" if self.fence.stage.is_consumer() => {
                &[&sql.insert_discarded_twin, &sql.delete_dead_letter]
            }
            "discard" => &[&sql.delete_dead_letter],
            _ => &[&sql.hold_dead_letter],
        };
        for &statement in statements {
            let query = sqlx::query(statement.clone()).bind(number);
            query.execute(&mut *self.connection).await.map_err(during("act on a request"))?;
        }
        self.advance(lane).await
    }

    async fn hold(
        &mut self,
        envelopes: &[&Envelope],
        attempts: u32,
        retry_in: Duration,
        failure: Option<&Failure>,
    ) -> Result<(), StoreError> {
        self.hold_as(envelopes, Held { attempts, retry_in, failure }, false).await.map(|_| ())
    }

    /// Gives how many were held that were not before.
    async fn hold_as(
        &mut self,
        envelopes: &[&Envelope],
        held: Held<'_>,
        replayed: bool,
    ) -> Result<u64, StoreError> {
        let Held { attempts, retry_in, failure } = held;
        let lanes: Vec<Lane> = envelopes.iter().map(|envelope| Lane::of(envelope)).collect();
        let lanes: Vec<&str> = lanes.iter().map(Lane::as_str).collect();
        self.lock(lanes.clone(), retry_in).await?;
        let query = sqlx::query(self.store.sql().insert_held.clone());
        let held = EventColumns::of_envelopes(envelopes)
            .bind(query)
            .bind(self.fence.stage.as_str())
            .bind(&lanes)
            .bind(attempts.cast_signed())
            .bind(failure.map(|failure| failure.reason))
            .bind(failure.map(|failure| free_of_nul(&failure.error_chain)))
            .bind(replayed)
            .execute(&mut *self.connection)
            .await
            .map_err(during("hold events"))?
            .rows_affected();
        if held < envelopes.len() as u64 {
            sqlx::query(self.store.sql().lift_lanes.clone())
                .bind(self.fence.stage.as_str())
                .bind(lanes)
                .execute(&mut *self.connection)
                .await
                .map_err(during("lift the marks of keys"))?;
        }
        Ok(held)
    }

    async fn retry(
        &mut self,
        held: &HeldId,
        attempts: u32,
        retry_in: Duration,
        failure: &Failure,
    ) -> Result<(), StoreError> {
        self.on_held(self.store.sql().update_held.clone(), held)
            .bind(attempts.cast_signed())
            .bind(failure.reason)
            .bind(free_of_nul(&failure.error_chain))
            .bind(retry_in.as_secs_f64())
            .execute(&mut *self.connection)
            .await
            .map_err(during("record a failed attempt"))?;
        Ok(())
    }

    async fn finish(&mut self, held: &HeldId) -> Result<(), StoreError> {
        self.lock(vec![held.lane.as_str()], Duration::ZERO).await?;
        self.on_held(self.store.sql().delete_held.clone(), held)
            .execute(&mut *self.connection)
            .await
            .map_err(during("remove a held event"))?;
        self.advance(held.lane.as_str()).await
    }

    async fn set_aside(
        &mut self,
        envelope: &Envelope,
        attempts: u32,
        failure: &Failure,
        park: bool,
    ) -> Result<(), StoreError> {
        let lane = Lane::of(envelope);
        self.lock(vec![lane.as_str()], Duration::ZERO).await?;
        let query = sqlx::query(self.store.sql().insert_dead_letter.clone());
        EventColumns::of_envelopes(&[envelope])
            .bind(query)
            .bind(self.fence.stage.as_str())
            .bind(&self.fence.share.0)
            .bind(lane.as_str())
            .bind(attempts.cast_signed())
            .bind(failure.reason)
            .bind(free_of_nul(&failure.error_chain))
            .bind(park)
            .execute(&mut *self.connection)
            .await
            .map_err(during("set an event aside"))?;
        self.advance(lane.as_str()).await
    }

    /// Locks the marks of the lanes; those that do not wait get one, due after `retry_in`.
    async fn lock(&mut self, lanes: Vec<&str>, retry_in: Duration) -> Result<(), StoreError> {
        sqlx::query(self.store.sql().lock_lanes.clone())
            .bind(self.fence.stage.as_str())
            .bind(&self.fence.share.0)
            .bind(lanes)
            .bind(retry_in.as_secs_f64())
            .execute(&mut *self.connection)
            .await
            .map_err(during("mark keys as waiting"))?;
        Ok(())
    }

    async fn advance(&mut self, lane: &str) -> Result<(), StoreError> {
        sqlx::query(self.store.sql().advance_lane.clone())
            .bind(self.fence.stage.as_str())
            .bind(lane)
            .execute(&mut *self.connection)
            .await
            .map_err(during("go on with a key"))?;
        Ok(())
    }

    /// A statement on one held row of this stage, which its first five values name.
    fn on_held<'q>(&self, statement: SqlStr, held: &'q HeldId) -> super::row::PgQuery<'q> {
        sqlx::query(statement)
            .bind(self.fence.stage.as_str().to_owned())
            .bind(held.lane.as_str())
            .bind(held.seq.0)
            .bind(&held.source)
            .bind(held.id.0)
    }
}

pub(super) async fn due_heads(
    store: &PostgresStore,
    fence: &Fence,
    max: u32,
) -> Result<Vec<HeldEvent>, StoreError> {
    let action = "read the held events that are due";
    let rows = sqlx::query(store.sql().select_due_heads.clone())
        .bind(fence.stage.as_str())
        .bind(&fence.share.0)
        .bind(i64::from(max))
        .fetch_all(store.pool())
        .await
        .map_err(during(action))?;
    rows.iter()
        .map(|row| {
            let seq = Seq(row.try_get("seq").map_err(during(action))?);
            let envelope = envelope_at(row, seq, 1)?.expect("a held event has a time");
            let attempts: i32 = row.try_get("attempts").map_err(during(action))?;
            let replayed = row.try_get("replayed").map_err(during(action))?;
            let tried_alone = row.try_get("tried_alone").map_err(during(action))?;
            Ok(HeldEvent { envelope, attempts: attempts.cast_unsigned(), replayed, tried_alone })
        })
        .collect()
}

pub(super) async fn waiting(store: &PostgresStore, fence: &Fence) -> Result<Waiting, StoreError> {
    let (lanes, due_in): (i64, Option<f64>) = sqlx::query_as(store.sql().count_waiting.clone())
        .bind(fence.stage.as_str())
        .bind(&fence.share.0)
        .fetch_one(store.pool())
        .await
        .map_err(during("count the keys that wait"))?;
    let due_in = due_in.map(|secs| Duration::try_from_secs_f64(secs).unwrap_or(Duration::ZERO));
    Ok(Waiting { lanes: lanes.cast_unsigned(), due_in })
}

pub(super) async fn waiting_lanes(
    store: &PostgresStore,
    fence: &Fence,
    lanes: &[String],
) -> Result<Vec<String>, StoreError> {
    sqlx::query_scalar(store.sql().select_waiting.clone())
        .bind(fence.stage.as_str())
        .bind(lanes)
        .fetch_all(store.pool())
        .await
        .map_err(during("look which keys wait"))
}
