//! What the order and completeness of the log rest on, checked before anybody trusts it.
//!
//! - The sequence gives one number at a time, counts up by one and does not cycle: a session's cached numbers would be
//!   used long after higher ones were read.
//! - The log takes its numbers from it, after the transaction has its id.
//! - It is not behind a number that is in the log or was settled: else new events would get numbers that readers have
//!   passed. A writer that supplies its own seq is noticed by this too.

use super::{PostgresStore, error::during};
use crate::{envelope::Seq, store::StoreError};
use sqlx::{PgConnection, Row};

/// Checks as much as the role may read: a producer may not read the log.
pub(super) async fn check(store: &PostgresStore, connection: &mut PgConnection) -> Result<(), StoreError> {
    let action = "check the numbers of the log";
    let row = sqlx::query(store.sql().select_sequence.clone())
        .fetch_optional(&mut *connection)
        .await
        .map_err(during(action))?
        .ok_or_else(|| broken("its sequence is missing"))?;
    let number = |column| row.try_get::<i64, _>(column).map_err(during(action));
    let cache = number("seqcache")?;
    if cache != 1 {
        return Err(broken(format!("its sequence gives each session {cache} numbers at once")));
    }
    if row.try_get("seqcycle").map_err(during(action))? {
        return Err(broken("its sequence begins again at its end"));
    }
    if number("seqincrement")? != 1 {
        return Err(broken("its sequence does not count up by one"));
    }
    let default: String = row.try_get("seq_default").map_err(during(action))?;
    let calls = default.find("pg_current_xact_id()").zip(default.find("nextval("));
    if calls.is_none_or(|(xid, number)| number < xid) {
        return Err(broken("the default of its column `seq` is not the one that `migrate` made"));
    }
    if row.try_get("may_read").map_err(during(action))? {
        check_last_numbers(store, connection).await?;
    }
    Ok(())
}

async fn check_last_numbers(store: &PostgresStore, connection: &mut PgConnection) -> Result<(), StoreError> {
    let action = "check the numbers of the log";
    let (given, in_log, settled): (i64, Option<i64>, Option<i64>) =
        sqlx::query_as(store.sql().select_last_numbers.clone())
            .fetch_one(connection)
            .await
            .map_err(during(action))?;
    if let Some(seq) = in_log {
        check_numbered(Seq(seq), given)?;
    }
    match settled {
        Some(settled) if settled > given && settled > Seq::ORIGIN.0 => Err(broken(format!(
            "its sequence stands at {given}, behind seq {settled} that a stage has settled"
        ))),
        _ => Ok(()),
    }
}

/// The last number that the sequence has given.
pub(super) async fn last_given(
    store: &PostgresStore,
    connection: &mut PgConnection,
) -> Result<i64, StoreError> {
    sqlx::query_scalar(store.sql().select_last_given.clone())
        .fetch_one(connection)
        .await
        .map_err(during("read the last number given"))
}

/// Refuses a row that the sequence cannot have numbered.
pub(super) fn check_numbered(seq: Seq, last_given: i64) -> Result<(), StoreError> {
    if seq.0 <= last_given {
        return Ok(());
    }
    Err(broken(format!(
        "a row has seq {seq}, but its sequence stands at {last_given}: a writer supplied the number itself, or the \
         sequence was set back"
    )))
}

fn broken(problem: impl Into<String>) -> StoreError {
    StoreError::Precondition {
        problem: problem.into(),
        fix: "stop the writers that do so, then run `outbox repair` under the role that owns the tables"
            .into(),
    }
}
