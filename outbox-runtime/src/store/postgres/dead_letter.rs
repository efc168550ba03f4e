//! Dead letters for people, and what they ask of them.

use super::{
    PostgresStore,
    error::during,
    notify,
    row::{PgQuery, envelope_at, free_of_nul},
};
use crate::{
    dead_letter::{
        AuditAction, AuditEntry, AuditFilter, DeadLetter, DeadLetterCount, DeadLetterFilter, NO_DEAD_LETTER,
        Request, Terms,
    },
    envelope::{EventId, Seq},
    held::Stage,
    store::{News, StoreError},
};
use sqlx::{Row, postgres::PgRow};

pub(super) async fn list(
    store: &PostgresStore,
    filter: &DeadLetterFilter,
    max: u32,
) -> Result<Vec<DeadLetter>, StoreError> {
    let rows = bind_filter(sqlx::query(store.sql().select_dead_letters.clone()), filter)
        .bind(i64::from(max))
        .fetch_all(store.pool())
        .await
        .map_err(during("read dead letters"))?;
    rows.iter().map(dead_letter).collect()
}

pub(super) async fn count(
    store: &PostgresStore,
    filter: &DeadLetterFilter,
) -> Result<Vec<DeadLetterCount>, StoreError> {
    let during = || during("count dead letters");
    let rows = bind_filter(sqlx::query(store.sql().count_dead_letters.clone()), filter)
        .fetch_all(store.pool())
        .await
        .map_err(during())?;
    rows.iter()
        .map(|row| {
            let count = |column| row.try_get::<i64, _>(column).map(i64::cast_unsigned).map_err(during());
            let version: i32 = row.try_get("event_version").map_err(during())?;
            Ok(DeadLetterCount::from_row(
                Stage::from_text(row.try_get("stage").map_err(during())?),
                (row.try_get("event_type").map_err(during())?, version.cast_unsigned()),
                row.try_get("reason").map_err(during())?,
                [count("letters")?, count("requested")?, count("replaying")?, count("parking")?],
                (row.try_get("oldest").map_err(during())?, row.try_get("newest").map_err(during())?),
            ))
        })
        .collect()
}

pub(super) async fn request(
    store: &PostgresStore,
    filter: &DeadLetterFilter,
    request: Request,
    terms: &Terms,
) -> Result<u64, StoreError> {
    let recorded = bind_filter(sqlx::query(store.sql().insert_requests.clone()), filter)
        .bind(request.as_str())
        .bind(terms.per_second.map(|most| i64::from(most.get())))
        .bind(free_of_nul(&terms.asked_by))
        .bind(free_of_nul(&terms.why))
        .execute(store.pool())
        .await
        .map_err(during("record a request"))?
        .rows_affected();
    if recorded > 0 {
        // A hint: the leader looks for requests all the same.
        let _ = notify::notify(store, News::Logged).await;
    }
    Ok(recorded)
}

pub(super) async fn cancel(
    store: &PostgresStore,
    filter: &DeadLetterFilter,
    terms: &Terms,
) -> Result<u64, StoreError> {
    let cancelled = bind_filter(sqlx::query(store.sql().cancel_requests.clone()), filter)
        .bind(free_of_nul(&terms.asked_by))
        .bind(free_of_nul(&terms.why))
        .execute(store.pool())
        .await
        .map_err(during("take requests back"))?;
    Ok(cancelled.rows_affected())
}

pub(super) async fn audit(
    store: &PostgresStore,
    filter: &AuditFilter,
    max: u32,
) -> Result<Vec<AuditEntry>, StoreError> {
    let rows = sqlx::query(store.sql().select_audit.clone())
        .bind(filter.stage.as_ref().map(Stage::as_str))
        .bind(filter.event.map(|id| id.0))
        .bind(filter.since)
        .bind(filter.after)
        .bind(i64::from(max))
        .fetch_all(store.pool())
        .await
        .map_err(during("read the audit log"))?;
    rows.iter().map(|row| audit_entry(row).map_err(during("read an entry of the audit log"))).collect()
}

fn audit_entry(row: &PgRow) -> Result<AuditEntry, sqlx::Error> {
    let action: String = row.try_get("action")?;
    Ok(AuditEntry {
        id: row.try_get("number")?,
        action: AuditAction::parse(&action)
            .ok_or_else(|| sqlx::Error::Decode(format!("`{action}` is no action").into()))?,
        asked_by: row.try_get("asked_by")?,
        why: row.try_get("why")?,
        asked_at: row.try_get("asked_at")?,
        done_at: row.try_get("done_at")?,
        stage: Stage::from_text(row.try_get("stage")?),
        dead_letter: Some(row.try_get("dead_letter")?).filter(|number| *number != NO_DEAD_LETTER),
        event: EventId(row.try_get("id")?),
        source: row.try_get("source")?,
        event_type: row.try_get("event_type")?,
        event_version: row.try_get::<i32, _>("event_version")?.cast_unsigned(),
        topic: row.try_get("topic")?,
        key: row.try_get("key")?,
        seq: Seq(row.try_get("seq")?),
        reason: row.try_get("reason")?,
        attempts: row.try_get::<i32, _>("attempts")?.cast_unsigned(),
    })
}

/// Binds the ten values of a filter, in the order of select_dead_letters.sql.
fn bind_filter<'q>(query: PgQuery<'q>, filter: &'q DeadLetterFilter) -> PgQuery<'q> {
    query
        .bind(&filter.ids)
        .bind(filter.stage.as_ref().map(Stage::as_str))
        .bind(filter.event_type.as_deref())
        .bind(filter.key.as_deref())
        .bind(filter.reason.as_deref())
        .bind(filter.since)
        .bind(filter.until)
        .bind(filter.after)
        .bind(filter.event_version.map(u32::cast_signed))
        .bind(filter.event.map(|id| id.0))
}

fn dead_letter(row: &PgRow) -> Result<DeadLetter, StoreError> {
    let during = || during("read a dead letter");
    let seq = Seq(row.try_get("seq").map_err(during())?);
    let envelope = envelope_at(row, seq, 1)?.expect("a dead letter has a time");
    let attempts: i32 = row.try_get("attempts").map_err(during())?;
    Ok(DeadLetter::from_row(
        row.try_get("number").map_err(during())?,
        Stage::from_text(row.try_get("stage").map_err(during())?),
        envelope,
        (row.try_get("reason").map_err(during())?, row.try_get("error_chain").map_err(during())?),
        attempts.cast_unsigned(),
        (row.try_get("first_failed_at").map_err(during())?, row.try_get("last_failed_at").map_err(during())?),
        row.try_get("parks_key").map_err(during())?,
        row.try_get("replaying").map_err(during())?,
    ))
}
