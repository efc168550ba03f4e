//! Replays of ranges of the log: asked for by people, taken up by the leader of their stage.

use super::{
    SqliteStore,
    record::Recorder,
    row::{BoundQuery, database, foreign_envelope, get, json_array, millis, moment},
    transaction::check_fence,
};
use crate::{
    cursor::Filter,
    dead_letter::Terms,
    envelope::{Envelope, Seq},
    held::Stage,
    lease::Fence,
    range::{Range, RangePlan, RangeReplay, RangeState, RangeStep},
    store::{Store, StoreError},
};
use sqlx::{SqlStr, SqliteConnection, sqlite::SqliteRow};

/// The most events of replays that a stage holds, but for parked keys.
const HELD_MAX: i64 = 1_000;

pub(super) async fn plan(store: &SqliteStore, range: &Range) -> Result<RangePlan, StoreError> {
    let query = sqlx::query(store.statements.plan_range.clone())
        .bind(range.stage.as_str())
        .bind(range.from.map(|seq| seq.0))
        .bind(range.through.map(|seq| seq.0));
    let row = bind_conditions(query, range)
        .fetch_optional(&store.pool)
        .await
        .map_err(database("count the events of a range"))?;
    let Some(row) = row else { return Err(StoreError::ReadsNoLog { stage: range.stage.to_string() }) };
    let count = |column| get::<i64>(&row, column).map(i64::cast_unsigned);
    let seq = |column| get::<Option<i64>>(&row, column).map(|seq| seq.map(Seq));
    let seqs = seq("first_seq")?.zip(seq("last_seq")?);
    Ok(RangePlan::from_row([count("matched")?, count("handled")?, count("dead")?], seqs, range.again))
}

pub(super) async fn replay(
    store: &SqliteStore,
    range: &Range,
    terms: &Terms,
) -> Result<(Option<i64>, RangePlan), StoreError> {
    let plan = plan(store, range).await?;
    let Some((first, last)) = plan.seqs.filter(|_| plan.open > 0) else { return Ok((None, plan)) };
    let _turn = store.gate.turn().await;
    let query = sqlx::query(store.statements.insert_replay.clone())
        .bind(range.stage.as_str())
        .bind(first.0)
        .bind(last.0)
        .bind(plan.matched.cast_signed());
    let row = bind_conditions(query, range)
        .bind(range.to_topic.clone())
        .bind(range.again)
        .bind(terms.per_second.map(|most| i64::from(most.get())))
        .bind(terms.asked_by.clone())
        .bind(terms.why.clone())
        .fetch_one(&store.pool)
        .await
        .map_err(database("record a replay"))?;
    Ok((Some(get(&row, "replay_id")?), plan))
}

fn bind_conditions<'q>(query: BoundQuery<'q>, range: &Range) -> BoundQuery<'q> {
    let all_or = |words: &[String]| (!words.is_empty()).then(|| json_array(words));
    query
        .bind(range.since.map(millis))
        .bind(range.until.map(millis))
        .bind(all_or(&range.topics))
        .bind(all_or(&range.event_types))
        .bind(range.key.clone())
}

pub(super) async fn list(store: &SqliteStore, max: u32) -> Result<Vec<RangeReplay>, StoreError> {
    let rows = sqlx::query(store.statements.select_replays.clone())
        .bind(i64::from(max))
        .fetch_all(&store.pool)
        .await
        .map_err(database("read the replays of ranges"))?;
    rows.iter().map(range_replay).collect()
}

fn range_replay(row: &SqliteRow) -> Result<RangeReplay, StoreError> {
    let id = get(row, "replay_id")?;
    let count = |column| get::<i64>(row, column).map(i64::cast_unsigned);
    let state: String = get(row, "state")?;
    Ok(RangeReplay {
        id,
        stage: Stage::from_text(get(row, "stage")?),
        seqs: (Seq(get(row, "first_seq")?), Seq(get(row, "last_seq")?)),
        matched: count("matched")?,
        taken: count("taken")?,
        left_out: count("left_out")?,
        state: RangeState::parse(&state).ok_or_else(|| StoreError::Corrupt {
            row: format!("replay {id}"),
            problem: format!("`{state}` is no state"),
        })?,
        asked_by: get(row, "asked_by")?,
        why: get(row, "why")?,
        asked_at: moment(get(row, "asked_at")?),
        ended_at: get::<Option<i64>>(row, "ended_at")?.map(moment),
    })
}

pub(super) async fn cancel(store: &SqliteStore, id: i64) -> Result<bool, StoreError> {
    let _turn = store.gate.turn().await;
    let query = sqlx::query(store.statements.cancel_replay.clone()).bind(id);
    let done = query.execute(&store.pool).await.map_err(database("take a replay back"))?;
    Ok(done.rows_affected() > 0)
}

/// See [`Store::take_up_range`]. A look that finds nothing to do takes no lock.
pub(super) async fn take_up(
    store: &SqliteStore,
    fence: &Fence,
    wanted: &Filter,
    max: u32,
) -> Result<u32, StoreError> {
    let action = "take up the events of a replay";
    let row = sqlx::query(store.statements.select_replay.clone())
        .bind(fence.stage.as_str())
        .bind(i64::from(max))
        .bind(HELD_MAX)
        .fetch_optional(&store.pool)
        .await
        .map_err(database(action))?;
    let Some(row) = row else { return Ok(0) };
    let step = range_step(&row)?;
    if step.max == 0 {
        return Ok(0);
    }
    let mut tx = store.begin().await?;
    check_fence(store, &mut tx, fence).await?;
    let rows = sqlx::query(store.statements.read_replay.clone())
        .bind(step.id)
        .bind(step.max)
        .fetch_all(&mut *tx)
        .await
        .map_err(database(action))?;
    let read = rows.iter().map(foreign_envelope).collect::<Result<Vec<_>, _>>()?;
    let (count, next) = (read.len(), step.read_to(&read).0 + 1);
    let mut taken: i64 = 0;
    for event in step.of(read, |event| wanted.wants(event)) {
        if fence.stage.is_consumer() && is_left_out(store, &mut tx, fence, step.again, &event).await? {
            continue;
        }
        taken += i64::from(Recorder { store, connection: &mut tx, fence }.take_up(&event).await?);
    }
    sqlx::query(store.statements.update_replay.clone())
        .bind(step.id)
        .bind(next)
        .bind(taken)
        .bind(count as i64 - taken)
        .execute(&mut *tx)
        .await
        .map_err(database(action))?;
    tx.commit().await.map_err(database(action))?;
    Ok(u32::try_from(count).expect("at most `max` rows"))
}

fn range_step(row: &SqliteRow) -> Result<RangeStep, StoreError> {
    Ok(RangeStep {
        id: get(row, "replay_id")?,
        to_topic: get(row, "to_topic")?,
        again: get(row, "again")?,
        through: Seq(get(row, "last_seq")?),
        max: get(row, "may_take")?,
    })
}

/// Whether the consumer has handled it; where it is to be handled again, that is forgotten.
async fn is_left_out(
    store: &SqliteStore,
    connection: &mut SqliteConnection,
    fence: &Fence,
    again: bool,
    event: &Envelope,
) -> Result<bool, StoreError> {
    let twin = event.twin.map(|twin| twin.id.to_string());
    let stage = fence.stage.as_str().to_owned();
    let (source, id) = (event.source.clone(), event.id.to_string());
    let on_event =
        |statement: &SqlStr| sqlx::query(statement.clone()).bind(stage).bind(source).bind(id).bind(twin);
    if again {
        let query = on_event(&store.statements.forget_handled);
        query.execute(connection).await.map_err(database("forget what was handled"))?;
        return Ok(false);
    }
    let row = on_event(&store.statements.is_handled)
        .fetch_one(connection)
        .await
        .map_err(database("look what was handled"))?;
    sqlx::Row::try_get(&row, 0).map_err(database("look what was handled"))
}
