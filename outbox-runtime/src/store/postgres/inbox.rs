//! The claim of an event by a handler's transaction.

use super::{PostgresStore, error::during, row::PgQuery, transaction::Tx};
use crate::{
    held::Lane,
    lease::Fence,
    store::{Claim, Claimed, HandlerToken, StoreError},
};
use sqlx::{FromRow, Row, SqlStr};

/// See [`Store::claim`](crate::store::Store::claim).
pub(super) async fn claim(
    store: &PostgresStore,
    tx: &mut Tx,
    fence: &Fence,
    claim: &Claim<'_>,
) -> Result<Claimed, StoreError> {
    let failed = during("claim an event");
    let lane = Lane::of(claim.envelope);
    if !claim.from_held && claim.twin().is_none() {
        let fresh = values(store.sql().claim_fresh.clone(), fence, &lane, claim);
        if let Some(row) = fresh.fetch_optional(&mut **tx).await.map_err(&failed)? {
            return Ok(Claimed::Fresh(HandlerToken(row.try_get(0).map_err(&failed)?)));
        }
    }
    let any = values(store.sql().claim_event.clone(), fence, &lane, claim);
    let any = any.bind(claim.from_held).bind(claim.twin().map(|id| id.0));
    let row = any.fetch_one(&mut **tx).await.map_err(&failed)?;
    let (is_duplicate, lane_waits, is_old, is_fresh, xid) = FromRow::from_row(&row).map_err(&failed)?;
    Ok(match (is_duplicate, lane_waits, is_old, is_fresh) {
        (true, ..) => Claimed::Duplicate,
        (_, true, ..) => Claimed::LaneWaits,
        (_, _, true, _) => Claimed::OlderThanWindow,
        (.., true) => Claimed::Fresh(HandlerToken(xid)),
        // Its other delivery, or its twin's, committed while this one waited for it.
        (.., false) => Claimed::Duplicate,
    })
}

/// A statement with the values that every claim has.
fn values<'q>(sql: SqlStr, fence: &'q Fence, lane: &'q Lane, claim: &'q Claim<'_>) -> PgQuery<'q> {
    sqlx::query(sql)
        .bind(fence.stage.as_str())
        .bind(lane.as_str())
        .bind(claim.envelope.id.0)
        .bind(&claim.envelope.source)
        .bind(claim.envelope.occurred_at)
        .bind(claim.window.as_secs_f64())
}
