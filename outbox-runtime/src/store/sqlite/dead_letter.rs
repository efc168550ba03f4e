//! Dead letters for people, and what they ask of them.

use super::{
    SqliteStore,
    row::{self, database, envelope, get, moment},
};
use crate::{
    dead_letter::{
        AuditAction, AuditEntry, AuditFilter, DeadLetter, DeadLetterCount, DeadLetterFilter, NO_DEAD_LETTER,
        Request, Terms,
    },
    envelope::Seq,
    held::Stage,
    store::{Store, StoreError},
};
use sqlx::sqlite::SqliteRow;

pub(super) async fn list(
    store: &SqliteStore,
    filter: &DeadLetterFilter,
    max: u32,
) -> Result<Vec<DeadLetter>, StoreError> {
    let rows = bind_filter(sqlx::query(store.statements.select_dead_letters.clone()), filter)
        .bind(i64::from(max))
        .fetch_all(&store.pool)
        .await
        .map_err(database("read dead letters"))?;
    rows.iter().map(dead_letter).collect()
}

pub(super) async fn count(
    store: &SqliteStore,
    filter: &DeadLetterFilter,
) -> Result<Vec<DeadLetterCount>, StoreError> {
    let rows = bind_filter(sqlx::query(store.statements.count_dead_letters.clone()), filter)
        .fetch_all(&store.pool)
        .await
        .map_err(database("count dead letters"))?;
    rows.iter().map(dead_letter_count).collect()
}

pub(super) async fn request(
    store: &SqliteStore,
    filter: &DeadLetterFilter,
    request: Request,
    terms: &Terms,
) -> Result<u64, StoreError> {
    let _turn = store.gate.turn().await;
    let done = bind_filter(sqlx::query(store.statements.insert_requests.clone()), filter)
        .bind(request.as_str())
        .bind(terms.per_second.map(|most| i64::from(most.get())))
        .bind(terms.asked_by.clone())
        .bind(terms.why.clone())
        .execute(&store.pool)
        .await
        .map_err(database("record a request"))?;
    Ok(done.rows_affected())
}

pub(super) async fn cancel(
    store: &SqliteStore,
    filter: &DeadLetterFilter,
    terms: &Terms,
) -> Result<u64, StoreError> {
    let action = "take requests back";
    let mut tx = store.begin().await?;
    let requests = bind_filter(sqlx::query(store.statements.select_requests.clone()), filter)
        .fetch_all(&mut *tx)
        .await
        .map_err(database(action))?;
    for row in &requests {
        let id: i64 = get(row, "dead_letter_id")?;
        sqlx::query(store.statements.insert_audit.clone())
            .bind(id)
            .bind(AuditAction::Cancel.as_str())
            .bind(None::<i64>)
            .bind(&terms.asked_by)
            .bind(&terms.why)
            .execute(&mut *tx)
            .await
            .map_err(database(action))?;
        sqlx::query(store.statements.delete_request.clone())
            .bind(id)
            .execute(&mut *tx)
            .await
            .map_err(database(action))?;
    }
    tx.commit().await.map_err(database(action))?;
    Ok(requests.len() as u64)
}

pub(super) async fn audit(
    store: &SqliteStore,
    filter: &AuditFilter,
    max: u32,
) -> Result<Vec<AuditEntry>, StoreError> {
    let rows = sqlx::query(store.statements.select_audit.clone())
        .bind(filter.stage.as_ref().map(Stage::as_str))
        .bind(filter.event.map(|id| id.to_string()))
        .bind(filter.since.map(row::millis))
        .bind(filter.after)
        .bind(i64::from(max))
        .fetch_all(&store.pool)
        .await
        .map_err(database("read the audit log"))?;
    rows.iter().map(audit_entry).collect()
}

fn bind_filter<'q>(query: row::BoundQuery<'q>, filter: &DeadLetterFilter) -> row::BoundQuery<'q> {
    let ids = (!filter.ids.is_empty()).then(|| serde_json::to_string(&filter.ids).expect("numbers are JSON"));
    query
        .bind(ids)
        .bind(filter.stage.as_ref().map(|stage| stage.as_str().to_owned()))
        .bind(filter.event_type.clone())
        .bind(filter.key.clone())
        .bind(filter.reason.clone())
        .bind(filter.since.map(row::millis))
        .bind(filter.until.map(row::millis))
        .bind(filter.after)
        .bind(filter.event_version)
        .bind(filter.event.map(|id| id.to_string()))
}

fn dead_letter(row: &SqliteRow) -> Result<DeadLetter, StoreError> {
    Ok(DeadLetter::from_row(
        get(row, "dead_letter_id")?,
        Stage::from_text(get(row, "stage")?),
        envelope(row)?,
        (get(row, "reason")?, get(row, "error_chain")?),
        get(row, "attempts")?,
        (moment(get(row, "first_failed_at")?), moment(get(row, "last_failed_at")?)),
        get(row, "parks_key")?,
        get(row, "is_replaying")?,
    ))
}

fn dead_letter_count(row: &SqliteRow) -> Result<DeadLetterCount, StoreError> {
    let count = |column| get::<i64>(row, column).map(i64::cast_unsigned);
    Ok(DeadLetterCount::from_row(
        Stage::from_text(get(row, "stage")?),
        (get(row, "event_type")?, get(row, "event_version")?),
        get(row, "reason")?,
        [count("letters")?, count("requested")?, count("replaying")?, count("parking")?],
        (get(row, "oldest")?, get(row, "newest")?),
    ))
}

fn audit_entry(row: &SqliteRow) -> Result<AuditEntry, StoreError> {
    let id = get(row, "audit_id")?;
    let corrupt =
        |problem: String| StoreError::Corrupt { row: format!("entry {id} of the audit log"), problem };
    let (action, event): (String, String) = (get(row, "action")?, get(row, "id")?);
    Ok(AuditEntry {
        id,
        action: AuditAction::parse(&action).ok_or_else(|| corrupt(format!("`{action}` is no action")))?,
        asked_by: get(row, "asked_by")?,
        why: get(row, "why")?,
        asked_at: moment(get(row, "asked_at")?),
        done_at: moment(get(row, "done_at")?),
        stage: Stage::from_text(get(row, "stage")?),
        dead_letter: Some(get(row, "dead_letter_id")?).filter(|number| *number != NO_DEAD_LETTER),
        event: event.parse().map_err(|_| corrupt(format!("the id `{event}` is no UUID")))?,
        source: get(row, "source")?,
        event_type: get(row, "event_type")?,
        event_version: get(row, "event_version")?,
        topic: get(row, "topic")?,
        key: get(row, "key")?,
        seq: Seq(get(row, "seq")?),
        reason: get(row, "reason")?,
        attempts: get(row, "attempts")?,
    })
}
