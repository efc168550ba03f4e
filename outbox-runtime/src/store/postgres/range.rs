//! Replays of ranges of the log: asked for by people, taken up by the leader of their stage.

use super::{
    PostgresStore,
    error::during,
    notify,
    record::Recorder,
    row::{PgQuery, envelope_at, free_of_nul},
    transaction::{begin_fenced, commit_own},
};
use crate::{
    cursor::Filter,
    dead_letter::Terms,
    envelope::{Envelope, Seq},
    held::Stage,
    lease::Fence,
    range::{Range, RangePlan, RangeReplay, RangeState, RangeStep},
    store::{News, StoreError},
};
use sqlx::{PgConnection, Row, SqlStr, postgres::PgRow};
use std::collections::HashSet;
use uuid::Uuid;

/// The most events of replays that a stage holds, but for parked keys.
const HELD_MAX: i64 = 1_000;

pub(super) async fn plan(store: &PostgresStore, range: &Range) -> Result<RangePlan, StoreError> {
    let during = || during("count the events of a range");
    let query = sqlx::query(store.sql().plan_range.clone())
        .bind(range.stage.as_str())
        .bind(range.from.map(|seq| seq.0))
        .bind(range.through.map(|seq| seq.0));
    let row = bind_conditions(query, range).fetch_optional(store.pool()).await.map_err(during())?;
    let Some(row) = row else { return Err(StoreError::ReadsNoLog { stage: range.stage.to_string() }) };
    let count = |column| row.try_get::<i64, _>(column).map(i64::cast_unsigned).map_err(during());
    let seq = |column| row.try_get::<Option<i64>, _>(column).map(|seq| seq.map(Seq)).map_err(during());
    let seqs = seq("first_seq")?.zip(seq("last_seq")?);
    Ok(RangePlan::from_row([count("matched")?, count("handled")?, count("dead")?], seqs, range.again))
}

pub(super) async fn replay(
    store: &PostgresStore,
    range: &Range,
    terms: &Terms,
) -> Result<(Option<i64>, RangePlan), StoreError> {
    let plan = plan(store, range).await?;
    let Some((first, last)) = plan.seqs.filter(|_| plan.open > 0) else { return Ok((None, plan)) };
    let query = sqlx::query(store.sql().insert_replay.clone())
        .bind(range.stage.as_str())
        .bind(first.0)
        .bind(last.0)
        .bind(plan.matched.cast_signed());
    let row = bind_conditions(query, range)
        .bind(range.to_topic.as_deref())
        .bind(range.again)
        .bind(terms.per_second.map(|most| i64::from(most.get())))
        .bind(free_of_nul(&terms.asked_by))
        .bind(free_of_nul(&terms.why))
        .fetch_one(store.pool())
        .await
        .map_err(during("record a replay"))?;
    // A hint: the leader looks for replays all the same.
    let _ = notify::notify(store, News::Logged).await;
    Ok((Some(row.try_get(0).map_err(during("record a replay"))?), plan))
}

fn bind_conditions<'q>(query: PgQuery<'q>, range: &'q Range) -> PgQuery<'q> {
    query
        .bind(range.since)
        .bind(range.until)
        .bind(&range.topics)
        .bind(&range.event_types)
        .bind(range.key.as_deref())
}

pub(super) async fn list(store: &PostgresStore, max: u32) -> Result<Vec<RangeReplay>, StoreError> {
    let during = || during("read the replays of ranges");
    let rows = sqlx::query(store.sql().select_replays.clone())
        .bind(i64::from(max))
        .fetch_all(store.pool())
        .await
        .map_err(during())?;
    rows.iter().map(|row| range_replay(row).map_err(during())).collect()
}

fn range_replay(row: &PgRow) -> Result<RangeReplay, sqlx::Error> {
    let count = |column| row.try_get::<i64, _>(column).map(i64::cast_unsigned);
    let state: String = row.try_get("state")?;
    Ok(RangeReplay {
        id: row.try_get("number")?,
        stage: Stage::from_text(row.try_get("stage")?),
        seqs: (Seq(row.try_get("first_seq")?), Seq(row.try_get("last_seq")?)),
        matched: count("matched")?,
        taken: count("taken")?,
        left_out: count("left_out")?,
        state: RangeState::parse(&state)
            .ok_or_else(|| sqlx::Error::Decode(format!("`{state}` is no state").into()))?,
        asked_by: row.try_get("asked_by")?,
        why: row.try_get("why")?,
        asked_at: row.try_get("asked_at")?,
        ended_at: row.try_get("ended_at")?,
    })
}

pub(super) async fn cancel(store: &PostgresStore, id: i64) -> Result<bool, StoreError> {
    let query = sqlx::query(store.sql().cancel_replay.clone()).bind(id);
    let done = query.execute(store.pool()).await.map_err(during("take a replay back"))?;
    Ok(done.rows_affected() > 0)
}

/// See [`Store::take_up_range`](crate::store::Store::take_up_range).
pub(super) async fn take_up(
    store: &PostgresStore,
    fence: &Fence,
    wanted: &Filter,
    max: u32,
) -> Result<u32, StoreError> {
    let during = || during("take up the events of a replay");
    let mut tx = begin_fenced(store, fence).await?;
    let row = sqlx::query(store.sql().lock_replay.clone())
        .bind(fence.stage.as_str())
        .bind(i64::from(max))
        .bind(HELD_MAX)
        .fetch_optional(&mut *tx)
        .await
        .map_err(during())?;
    let Some(row) = row else { return commit_own(tx).await.map(|()| 0) };
    let step = range_step(&row).map_err(during())?;
    if step.max == 0 {
        return commit_own(tx).await.map(|()| 0);
    }
    let rows = sqlx::query(store.sql().read_replay.clone())
        .bind(step.id)
        .bind(step.max)
        .fetch_all(&mut *tx)
        .await
        .map_err(during())?;
    let mut read = Vec::with_capacity(rows.len());
    for row in &rows {
        let seq = Seq(row.try_get("seq").map_err(during())?);
        read.push(envelope_at(row, seq, 1)?.expect("a row of the log has a time"));
    }
    let (count, next) = (read.len(), step.read_to(&read).0 + 1);
    let mut events = step.of(read, |event| wanted.wants(event));
    if fence.stage.is_consumer() {
        settle_inbox(store, &mut tx, fence, step.again, &mut events).await?;
    }
    let taken = Recorder::new(store, &mut tx, fence).take_up(&events).await?;
    sqlx::query(store.sql().update_replay.clone())
        .bind(step.id)
        .bind(next)
        .bind(taken.cast_signed())
        .bind(count as i64 - taken.cast_signed())
        .execute(&mut *tx)
        .await
        .map_err(during())?;
    commit_own(tx).await?;
    Ok(u32::try_from(count).expect("at most `max` rows"))
}

fn range_step(row: &PgRow) -> Result<RangeStep, sqlx::Error> {
    Ok(RangeStep {
        id: row.try_get("number")?,
        to_topic: row.try_get("to_topic")?,
        again: row.try_get("again")?,
        through: Seq(row.try_get("last_seq")?),
        max: row.try_get("may_take")?,
    })
}

/// Leaves out what the consumer has handled, or forgets that it has.
async fn settle_inbox(
    store: &PostgresStore,
    connection: &mut PgConnection,
    fence: &Fence,
    again: bool,
    events: &mut Vec<Envelope>,
) -> Result<(), StoreError> {
    let ids: Vec<Uuid> = events.iter().map(|event| event.id.0).collect();
    let sources: Vec<String> = events.iter().map(|event| event.source.clone()).collect();
    let twins: Vec<Option<Uuid>> = events.iter().map(|event| event.twin.map(|twin| twin.id.0)).collect();
    let on_events = |statement: &SqlStr| {
        let query = sqlx::query(statement.clone()).bind(fence.stage.as_str().to_owned());
        query.bind(ids).bind(sources).bind(twins)
    };
    if again {
        let query = on_events(&store.sql().forget_handled);
        query.execute(connection).await.map_err(during("forget what was handled"))?;
        return Ok(());
    }
    let rows = on_events(&store.sql().select_handled)
        .fetch_all(connection)
        .await
        .map_err(during("look what was handled"))?;
    let handled: HashSet<Uuid> = rows
        .iter()
        .map(|row| row.try_get(0))
        .collect::<Result<_, _>>()
        .map_err(during("look what was handled"))?;
    events.retain(|event| !handled.contains(&event.id.0));
    Ok(())
}
