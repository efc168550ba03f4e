//! The claim of an event by a handler's transaction.

use super::{PostgresStore, error::during, transaction::Tx};
use crate::{
    held::Lane,
    lease::Fence,
    store::{Claim, Claimed, HandlerToken, StoreError},
};

/// See [`Store::claim`](crate::store::Store::claim).
pub(super) async fn claim(
    store: &PostgresStore,
    tx: &mut Tx,
    fence: &Fence,
    claim: &Claim<'_>,
) -> Result<Claimed, StoreError> {
    let envelope = claim.envelope;
    if !claim.from_held && claim.twin().is_none() {
        let xid: Option<String> = sqlx::query_scalar(store.sql().claim_fresh.clone())
            .bind(fence.stage.as_str())
            .bind(Lane::of(envelope).as_str())
            .bind(envelope.id.0)
            .bind(&envelope.source)
            .bind(envelope.occurred_at)
            .bind(claim.window.as_secs_f64())
            .fetch_optional(&mut **tx)
            .await
            .map_err(during("claim an event"))?;
        if let Some(xid) = xid {
            return Ok(Claimed::Fresh(HandlerToken(xid)));
        }
    }
    let (is_duplicate, lane_waits, is_old, is_fresh, xid): (bool, bool, bool, bool, String) =
        sqlx::query_as(store.sql().claim_event.clone())
            .bind(fence.stage.as_str())
            .bind(Lane::of(envelope).as_str())
            .bind(envelope.id.0)
            .bind(&envelope.source)
            .bind(envelope.occurred_at)
            .bind(claim.window.as_secs_f64())
            .bind(claim.from_held)
            .bind(claim.twin().map(|id| id.0))
            .fetch_one(&mut **tx)
            .await
            .map_err(during("claim an event"))?;
    Ok(match (is_duplicate, lane_waits, is_old, is_fresh) {
        (true, ..) => Claimed::Duplicate,
        (_, true, ..) => Claimed::LaneWaits,
        (_, _, true, _) => Claimed::OlderThanWindow,
        (.., true) => Claimed::Fresh(HandlerToken(xid)),
        // Its other delivery, or its twin's, committed while this one waited for it.
        (.., false) => Claimed::Duplicate,
    })
}
