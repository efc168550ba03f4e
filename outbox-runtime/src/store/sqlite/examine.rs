//! What is wrong in a database, or will be: with its stages and its upkeep. Tables are made fit when a store opens, and numbers
//! are those of the one writer.

use super::{
    SqliteStore,
    row::{database, get},
};
use crate::{
    finding::{Finding, Tolerance},
    held::Stage,
    store::{
        StoreError,
        health::{self, COUNTED_MAX, DeadLetters, NEWEST_MAX, StageHealth, UpkeepHealth, Waits},
    },
};
use sqlx::sqlite::SqliteRow;
use std::time::Duration;

const ACTION: &str = "examine the database";

/// Every finding.
pub(super) async fn examine(store: &SqliteStore, tolerance: &Tolerance) -> Result<Vec<Finding>, StoreError> {
    let query = sqlx::query(store.statements.examine_stages.clone()).bind(COUNTED_MAX);
    let rows = query.fetch_all(&store.pool).await.map_err(database(ACTION))?;
    let mut findings = Vec::new();
    for row in &rows {
        findings.extend(health::of_stage(&stage_health(row)?, tolerance));
    }
    let query = sqlx::query(store.statements.examine_upkeep.clone());
    let row = query.fetch_one(&store.pool).await.map_err(database(ACTION))?;
    let upkeep = UpkeepHealth {
        is_led: get(&row, "is_led")?,
        unled: age(&row, "unled_ms")?,
        due: age(&row, "due_ms")?,
        late: None,
        unread: age(&row, "unread_ms")?,
    };
    findings.extend(health::of_upkeep(&upkeep, tolerance));
    Ok(findings)
}

pub(super) async fn topics(store: &SqliteStore) -> Result<Vec<String>, StoreError> {
    let query = sqlx::query_scalar(store.statements.select_topics.clone()).bind(NEWEST_MAX);
    query.fetch_all(&store.pool).await.map_err(database("look for topics"))
}

fn stage_health(row: &SqliteRow) -> Result<StageHealth, StoreError> {
    Ok(StageHealth {
        stage: Stage::from_text(get(row, "stage")?),
        is_led: get(row, "is_led")?,
        unread: waits(row, "unread", "unread_ms")?,
        due: waits(row, "due", "due_ms")?,
        requests: waits(row, "requests", "requests_ms")?,
        waiting: waits(row, "waiting", "waiting_ms")?,
        parked: waits(row, "parked", "parked_ms")?,
        dead_letters: match waits(row, "letters", "oldest_ms")?.zip(age(row, "newest_ms")?) {
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

/// What is yet to come has no age.
fn age(row: &SqliteRow, column: &str) -> Result<Option<Duration>, StoreError> {
    let millis: Option<i64> = get(row, column)?;
    Ok(millis.map(|millis| Duration::from_millis(u64::try_from(millis).unwrap_or(0))))
}

/// `None` where nothing waits.
fn waits(row: &SqliteRow, count: &str, oldest: &str) -> Result<Option<Waits>, StoreError> {
    let count = get::<Option<i64>>(row, count)?.filter(|count| *count > 0);
    Ok(count.zip(age(row, oldest)?).map(|(count, oldest)| Waits { count, oldest }))
}
