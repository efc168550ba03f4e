//! What the order and completeness of the log rest on, checked before anybody trusts it.
//!
//! - The sequence gives one number at a time, counts up by one and does not cycle: a session's cached numbers would be
//!   used long after higher ones were read.
//! - The log takes its numbers from it, after the transaction has its id.
//! - It is not behind a number that is in the log or was settled: else new events would get numbers that readers have
//!   passed. A writer that supplies its own seq is noticed by this too.

use super::{PostgresStore, error::during};
use crate::{envelope::Seq, finding::Finding, store::StoreError};
use sqlx::{PgConnection, Row, postgres::PgRow};

const ACTION: &str = "check the numbers of the log";

const FIX: &str = "stop the writers that do so, then run `outbox repair` under the role that owns the tables";

/// A rule that is broken.
enum Broken {
    /// How numbers are given.
    Numbering(String),
    /// Numbers that are yet to be given, and are in use.
    Behind(String),
}

/// Refuses what breaks a rule, as far as the role may read: a producer may not read the log.
pub(super) async fn check(store: &PostgresStore, connection: &mut PgConnection) -> Result<(), StoreError> {
    match look(store, connection).await?.into_iter().next() {
        Some(Broken::Numbering(problem) | Broken::Behind(problem)) => Err(broken(problem)),
        None => Ok(()),
    }
}

/// The same for people, and all of it.
pub(super) async fn findings(
    store: &PostgresStore,
    connection: &mut PgConnection,
) -> Result<Vec<Finding>, StoreError> {
    let finding = |found| {
        let (code, problem) = match found {
            Broken::Numbering(problem) => ("sequence-unsafe", problem),
            Broken::Behind(problem) => ("sequence-behind", problem),
        };
        Finding {
            code,
            about: "log".to_owned(),
            problem,
            why: "events could get numbers that readers have passed, and would never be read: so relays and consumers refuse to start",
            fix: FIX.to_owned(),
        }
    };
    Ok(look(store, connection).await?.into_iter().map(finding).collect())
}

async fn look(store: &PostgresStore, connection: &mut PgConnection) -> Result<Vec<Broken>, StoreError> {
    let row = sqlx::query(store.sql().select_sequence.clone())
        .fetch_optional(&mut *connection)
        .await
        .map_err(during(ACTION))?
        .ok_or_else(|| broken("its sequence is missing"))?;
    let mut found: Vec<Broken> = numbering(&row)?.into_iter().map(Broken::Numbering).collect();
    if row.try_get("may_read").map_err(during(ACTION))? {
        found.extend(behind(store, connection).await?.map(Broken::Behind));
    }
    Ok(found)
}

/// What is wrong with how the log gets its numbers.
fn numbering(row: &PgRow) -> Result<Vec<String>, StoreError> {
    let number = |column| row.try_get::<i64, _>(column).map_err(during(ACTION));
    let mut problems = Vec::new();
    let cache = number("seqcache")?;
    if cache != 1 {
        problems.push(format!("its sequence gives each session {cache} numbers at once"));
    }
    if row.try_get("seqcycle").map_err(during(ACTION))? {
        problems.push("its sequence begins again at its end".to_owned());
    }
    if number("seqincrement")? != 1 {
        problems.push("its sequence does not count up by one".to_owned());
    }
    let default: String = row.try_get("seq_default").map_err(during(ACTION))?;
    let calls = default.find("pg_current_xact_id()").zip(default.find("nextval("));
    if calls.is_none_or(|(xid, number)| number < xid) {
        problems.push("the default of its column `seq` is not the one that `migrate` made".to_owned());
    }
    Ok(problems)
}

/// Whether the sequence is behind what is in the log or was settled.
async fn behind(store: &PostgresStore, connection: &mut PgConnection) -> Result<Option<String>, StoreError> {
    let (given, in_log, settled): (i64, Option<i64>, Option<i64>) =
        sqlx::query_as(store.sql().select_last_numbers.clone())
            .fetch_one(connection)
            .await
            .map_err(during(ACTION))?;
    let unnumbered = in_log.and_then(|seq| unnumbered(Seq(seq), given));
    let passed = settled.filter(|settled| *settled > given && *settled > Seq::ORIGIN.0).map(|settled| {
        format!("its sequence stands at {given}, behind seq {settled} that a stage has settled")
    });
    Ok(unnumbered.or(passed))
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
    unnumbered(seq, last_given).map_or(Ok(()), |problem| Err(broken(problem)))
}

/// What is wrong with a row that the sequence cannot have numbered.
fn unnumbered(seq: Seq, last_given: i64) -> Option<String> {
    (seq.0 > last_given).then(|| {
        format!(
            "a row has seq {seq}, but its sequence stands at {last_given}: a writer supplied the number itself, or the \
             sequence was set back"
        )
    })
}

fn broken(problem: impl Into<String>) -> StoreError {
    StoreError::Precondition { problem: problem.into(), fix: FIX.to_owned() }
}
