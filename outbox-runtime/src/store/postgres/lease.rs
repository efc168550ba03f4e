//! Leases, their heartbeats and markers, and the members of a stage.

use super::{
    PostgresStore,
    error::during,
    transaction::{commit_own, lost},
};
use crate::{
    envelope::EventId,
    held::Stage,
    lease::{Fence, LeaseName, Owner},
    marker::Marker,
    store::StoreError,
};
use std::time::Duration;
use uuid::Uuid;

/// A standby that looks at a taken lease locks nothing, else the leader's renewals would wait behind its looks. Taken in a
/// transaction with a limit on waiting: the row of a paused leader may be locked until the database ends it.
pub(super) async fn acquire(
    store: &PostgresStore,
    lease: &LeaseName,
    owner: Owner,
    ttl: Duration,
) -> Result<Option<i64>, StoreError> {
    let action = "take a lease";
    let is_taken: bool = sqlx::query_scalar(store.sql().is_lease_taken.clone())
        .bind(lease.as_str())
        .bind(owner.0)
        .fetch_one(store.lease_pool())
        .await
        .map_err(during(action))?;
    if is_taken {
        return Ok(None);
    }
    let begin = store.sql().begin_write.clone();
    let mut tx = store.lease_pool().begin_with(begin).await.map_err(during(action))?;
    let epoch = sqlx::query_scalar(store.sql().acquire_lease.clone())
        .bind(lease.as_str())
        .bind(owner.0)
        .bind(ttl.as_secs_f64())
        .fetch_optional(&mut *tx)
        .await
        .map_err(during(action))?;
    commit_own(tx).await?;
    Ok(epoch)
}

pub(super) async fn renew(
    store: &PostgresStore,
    leases: &[LeaseName],
    owner: Owner,
    ttl: Duration,
) -> Result<Vec<LeaseName>, StoreError> {
    let names: Vec<&str> = leases.iter().map(LeaseName::as_str).collect();
    let renewed: Vec<String> = sqlx::query_scalar(store.sql().renew_leases.clone())
        .bind(names)
        .bind(owner.0)
        .bind(ttl.as_secs_f64())
        .fetch_all(store.lease_pool())
        .await
        .map_err(during("renew leases"))?;
    Ok(leases.iter().filter(|lease| renewed.iter().any(|name| name == lease.as_str())).cloned().collect())
}

pub(super) async fn release(
    store: &PostgresStore,
    lease: &LeaseName,
    owner: Owner,
) -> Result<(), StoreError> {
    sqlx::query(store.sql().release_lease.clone())
        .bind(lease.as_str())
        .bind(owner.0)
        .bind(store.listener().channel())
        .execute(store.lease_pool())
        .await
        .map_err(during("give a lease back"))?;
    Ok(())
}

pub(super) async fn join(
    store: &PostgresStore,
    stage: &Stage,
    owner: Owner,
    ttl: Duration,
) -> Result<u32, StoreError> {
    let members: i64 = sqlx::query_scalar(store.sql().join_stage.clone())
        .bind(stage.as_str())
        .bind(owner.0)
        .bind(ttl.as_secs_f64())
        .fetch_one(store.lease_pool())
        .await
        .map_err(during("join a stage"))?;
    Ok(u32::try_from(members).unwrap_or(u32::MAX))
}

pub(super) async fn leave(store: &PostgresStore, stage: &Stage, owner: Owner) -> Result<(), StoreError> {
    sqlx::query(store.sql().leave_stage.clone())
        .bind(stage.as_str())
        .bind(owner.0)
        .execute(store.lease_pool())
        .await
        .map_err(during("leave a stage"))?;
    Ok(())
}

pub(super) async fn marker(
    store: &PostgresStore,
    fence: &Fence,
) -> Result<Option<(i64, Marker)>, StoreError> {
    let row: Option<(i64, i32, i32, Option<Uuid>)> = sqlx::query_as(store.sql().select_marker.clone())
        .bind(fence.lease().as_str())
        .fetch_optional(store.lease_pool())
        .await
        .map_err(during("read what the leader before had in work"))?;
    Ok(row.map(|(epoch, suspects, taken, alone)| {
        let (suspects, taken) = (suspects.cast_unsigned(), taken.cast_unsigned());
        (epoch, Marker { suspects, taken, alone: alone.map(EventId) })
    }))
}

pub(super) async fn mark(store: &PostgresStore, fence: &Fence, marker: &Marker) -> Result<(), StoreError> {
    let marked = sqlx::query(store.sql().upsert_marker.clone())
        .bind(fence.lease().as_str())
        .bind(fence.owner.0)
        .bind(fence.epoch)
        .bind(marker.suspects.cast_signed())
        .bind(marker.taken.cast_signed())
        .bind(marker.alone.map(|id| id.0))
        .fetch_optional(store.lease_pool())
        .await
        .map_err(during("mark what is in work"))?;
    marked.map(|_| ()).ok_or_else(|| lost(fence))
}
