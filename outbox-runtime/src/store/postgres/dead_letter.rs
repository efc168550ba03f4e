//! Dead letters for people, and what they ask of them.

use super::{
    PostgresStore,
    error::during,
    notify,
    row::{PgQuery, envelope_at},
};
use crate::{
    dead_letter::{DeadLetter, DeadLetterFilter, Request},
    envelope::Seq,
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

pub(super) async fn request(
    store: &PostgresStore,
    filter: &DeadLetterFilter,
    request: Request,
) -> Result<u64, StoreError> {
    let recorded = bind_filter(sqlx::query(store.sql().insert_requests.clone()), filter)
        .bind(request.as_str())
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

/// Binds the eight values of a filter, in the order of select_dead_letters.sql.
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
