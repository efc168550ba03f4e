//! What is wrong in a database, or will be: with its tables and numbers, its stages, its upkeep, and the server around them.

use super::{PostgresStore, error::during, migrate, precondition};
use crate::{
    finding::{Bytes, Finding, Span, Tolerance},
    held::Stage,
    store::{
        StoreError,
        health::{self, COUNTED_MAX, DeadLetters, NEWEST_MAX, StageHealth, UpkeepHealth, Waits},
    },
};
use sqlx::{PgConnection, Row, postgres::PgRow};
use std::time::Duration;

const ACTION: &str = "examine the database";

/// The most transactions that are named.
const TRANSACTIONS_MAX: i64 = 10;

/// Every finding. Where the tables are not fit for this build, that is the only one.
pub(super) async fn examine(
    store: &PostgresStore,
    tolerance: &Tolerance,
) -> Result<Vec<Finding>, StoreError> {
    let mut connection = store.pool().acquire().await.map_err(during(ACTION))?;
    match migrate::check_version(store, &mut connection).await {
        Err(StoreError::Schema { problem, fix }) => return Ok(vec![unfit(problem, fix)]),
        checked => checked?,
    }
    let mut findings = precondition::findings(store, &mut connection).await?;
    let unreadable = unreadable(store, &mut connection).await?;
    if unreadable.is_empty() {
        findings.extend(stages(store, &mut connection, tolerance).await?);
        findings.extend(health::of_upkeep(&upkeep(store, &mut connection).await?, tolerance));
    } else {
        findings.push(rights_missing(&unreadable));
    }
    findings.extend(transactions(store, &mut connection, tolerance).await?);
    findings.extend(prepared(store, &mut connection, tolerance).await?);
    findings.extend(slots(store, &mut connection, tolerance).await?);
    Ok(findings)
}

pub(super) async fn topics(store: &PostgresStore) -> Result<Vec<String>, StoreError> {
    let query = sqlx::query_scalar(store.sql().select_topics.clone()).bind(NEWEST_MAX);
    query.fetch_all(store.pool()).await.map_err(during("look for topics"))
}

fn unfit(problem: String, fix: String) -> Finding {
    Finding {
        code: "tables-unfit",
        about: "tables".to_owned(),
        problem,
        why: "no process of this build relays, consumes or enqueues on them",
        fix,
    }
}

async fn unreadable(store: &PostgresStore, connection: &mut PgConnection) -> Result<Vec<String>, StoreError> {
    let query = sqlx::query_scalar(store.sql().examine_rights.clone());
    query.fetch_all(connection).await.map_err(during(ACTION))
}

fn rights_missing(tables: &[String]) -> Finding {
    Finding {
        code: "rights-missing",
        about: "role".to_owned(),
        problem: format!("this role may not read {}", tables.join(", ")),
        why: "it can relay or consume nothing, and stages and upkeep were not examined",
        fix: "grant it the rights of a relay (`PostgresStore::grant`), or examine under the role of the relay or the owner"
            .to_owned(),
    }
}

async fn stages(
    store: &PostgresStore,
    connection: &mut PgConnection,
    tolerance: &Tolerance,
) -> Result<Vec<Finding>, StoreError> {
    let query = sqlx::query(store.sql().examine_stages.clone()).bind(COUNTED_MAX);
    let rows = query.fetch_all(connection).await.map_err(during(ACTION))?;
    let mut findings = Vec::new();
    for row in &rows {
        findings.extend(health::of_stage(&stage_health(row)?, tolerance));
    }
    Ok(findings)
}

fn stage_health(row: &PgRow) -> Result<StageHealth, StoreError> {
    Ok(StageHealth {
        stage: Stage::from_text(get(row, "stage")?),
        is_led: get(row, "is_led")?,
        unread: waits(row, "unread", "unread_secs")?,
        due: waits(row, "due", "due_secs")?,
        requests: waits(row, "requests", "requests_secs")?,
        waiting: waits(row, "waiting", "waiting_secs")?,
        parked: waits(row, "parked", "parked_secs")?,
        dead_letters: match waits(row, "letters", "oldest_secs")?.zip(age(row, "newest_secs")?) {
            Some((letters, newest)) => Some(DeadLetters {
                count: letters.count,
                recent: get(row, "recent")?,
                oldest: letters.oldest,
                newest,
            }),
            None => None,
        },
    })
}

async fn upkeep(store: &PostgresStore, connection: &mut PgConnection) -> Result<UpkeepHealth, StoreError> {
    let query = sqlx::query(store.sql().examine_upkeep.clone());
    let row = query.fetch_one(connection).await.map_err(during(ACTION))?;
    Ok(UpkeepHealth {
        is_led: get(&row, "is_led")?,
        unled: age(&row, "unled_secs")?,
        due: age(&row, "due_secs")?,
        late: age(&row, "late_secs")?,
        unread: age(&row, "unread_secs")?,
    })
}

async fn transactions(
    store: &PostgresStore,
    connection: &mut PgConnection,
    tolerance: &Tolerance,
) -> Result<Vec<Finding>, StoreError> {
    let query = sqlx::query(store.sql().examine_transactions.clone())
        .bind(tolerance.transaction.as_secs_f64())
        .bind(TRANSACTIONS_MAX);
    let rows = query.fetch_all(connection).await.map_err(during(ACTION))?;
    rows.iter().map(transaction).collect()
}

fn transaction(row: &PgRow) -> Result<Finding, StoreError> {
    let (pid, open): (i32, _) = (get(row, "pid")?, age(row, "open_secs")?.unwrap_or_default());
    let text = |column| get::<String>(row, column);
    let has_number = if get(row, "has_number")? { ", and holds numbers of the log" } else { "" };
    Ok(Finding {
        code: "transaction-long",
        about: format!("process {pid}"),
        problem: format!(
            "a transaction of role `{}`, application `{}`, database `{}`, is open for {} ({}){has_number}",
            text("role")?,
            text("application")?,
            text("database")?,
            Span(open),
            text("state")?
        ),
        why: "vacuum removes nothing that came after it, so tables grow; what it has enqueued is not committed, and no event after \
              its numbers leaves the log",
        fix: format!(
            "end it where it was begun, or `SELECT pg_terminate_backend({pid})`; set `idle_in_transaction_session_timeout`"
        ),
    })
}

async fn prepared(
    store: &PostgresStore,
    connection: &mut PgConnection,
    tolerance: &Tolerance,
) -> Result<Vec<Finding>, StoreError> {
    let rows: Vec<(String, String, String, f64)> = sqlx::query_as(store.sql().examine_prepared.clone())
        .bind(tolerance.transaction.as_secs_f64())
        .bind(TRANSACTIONS_MAX)
        .fetch_all(connection)
        .await
        .map_err(during(ACTION))?;
    let finding = |(gid, database, owner, secs): (String, String, String, f64)| Finding {
        code: "transaction-prepared",
        problem: format!(
            "a transaction of role `{owner}`, database `{database}`, is prepared for {} and not ended",
            Span(span(secs))
        ),
        why: "it outlives its session and a restart: vacuum removes nothing that came after it, its numbers of the log stay \
              holes, and no event after them leaves the log",
        fix: format!(
            "in its database: `COMMIT PREPARED '{0}'` or `ROLLBACK PREPARED '{0}'`",
            gid.replace('\'', "''")
        ),
        about: gid,
    };
    Ok(rows.into_iter().map(finding).collect())
}

async fn slots(
    store: &PostgresStore,
    connection: &mut PgConnection,
    tolerance: &Tolerance,
) -> Result<Vec<Finding>, StoreError> {
    let query = sqlx::query(store.sql().examine_slots.clone())
        .bind(i64::try_from(tolerance.slot_bytes).unwrap_or(i64::MAX));
    let rows = query.fetch_all(connection).await.map_err(during(ACTION))?;
    rows.iter().map(slot).collect()
}

fn slot(row: &PgRow) -> Result<Finding, StoreError> {
    let (name, kind): (String, String) = (get(row, "name")?, get(row, "kind")?);
    let fix =
        format!("start its reader; if that is gone for good: `SELECT pg_drop_replication_slot('{name}')`");
    if get(row, "is_lost")? {
        return Ok(Finding {
            code: "slot-lost",
            about: name,
            problem: format!("the server has removed WAL that this {kind} slot still needed"),
            why: "its reader cannot go on from where it was, and has missed what was written",
            fix: fix.replace("start its reader", "make the slot and its reader anew"),
        });
    }
    let bytes = get::<i64>(row, "bytes")?.unsigned_abs();
    let state = if get(row, "is_active")? { "in use and behind" } else { "used by nobody" };
    let rows_too = if get(row, "holds_rows")? { ", and dead rows" } else { "" };
    Ok(Finding {
        code: "slot-behind",
        about: name,
        problem: format!("this {kind} slot is {state}, and holds {} of WAL{rows_too}", Bytes(bytes)),
        why: "the server keeps all of it, until the disk is full and nothing can be written",
        fix: format!("{fix}; set `max_slot_wal_keep_size`"),
    })
}

fn get<'r, T: sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres>>(
    row: &'r PgRow,
    column: &str,
) -> Result<T, StoreError> {
    row.try_get(column).map_err(during(ACTION))
}

fn age(row: &PgRow, column: &str) -> Result<Option<Duration>, StoreError> {
    Ok(get::<Option<f64>>(row, column)?.map(span))
}

/// `None` where nothing waits.
fn waits(row: &PgRow, count: &str, oldest: &str) -> Result<Option<Waits>, StoreError> {
    let count = get::<Option<i64>>(row, count)?.filter(|count| *count > 0);
    Ok(count.zip(age(row, oldest)?).map(|(count, oldest)| Waits { count, oldest }))
}

/// What is yet to come has no age.
fn span(secs: f64) -> Duration {
    Duration::try_from_secs_f64(secs.max(0.0)).unwrap_or_default()
}
