//! Leases: a heartbeat that decides who, and an epoch that fences.

use crate::sim::Mutation;
use crate::sim::database::{Leader, Mode, TxId};
use crate::sim::server::Statement;
use crate::sim::world::World;
use outbox::StoreError;
use outbox::lease::{Fence, LeaseName, Owner};
use std::sync::Arc;
use std::time::Duration;

pub(super) async fn acquire(
    world: Arc<World>,
    tx: TxId,
    lease: String,
    owner: Owner,
    ttl: Duration,
) -> Result<Option<i64>, StoreError> {
    let statement = Statement::begin(&world, tx)?;
    let is_taken = statement
        .write(|tables, view| {
            let (now, until) = (world.now(), world.now() + ttl);
            if tables.heartbeat.insert(view, lease.clone(), (owner, until))? {
                return Ok(true);
            }
            let held = tables.heartbeat.lock_newest(view, &lease, Mode::Exclusive)?;
            let is_free = held.is_some_and(|(other, until)| other == owner || until <= now);
            if is_free {
                tables.heartbeat.replace(view, &lease, (owner, until));
            }
            Ok(is_free)
        })
        .await?;
    if !is_taken {
        return Ok(None);
    }
    let taken = statement
        .write(|tables, view| {
            if tables.leader.insert(view, lease.clone(), (owner, 1))? {
                return Ok(Some(1));
            }
            let Some((leader, epoch)) = tables.leader.lock_newest(view, &lease, Mode::Exclusive)? else {
                return Ok(None);
            };
            if leader == owner {
                return Ok(None);
            }
            tables.leader.replace(view, &lease, (owner, epoch + 1));
            Ok(Some(epoch + 1))
        })
        .await?;
    let before = statement.read(|tables, view| tables.leader.get(view, &lease).copied()).await?;
    let epoch = taken.or(before.filter(|(leader, _)| *leader == owner).map(|(_, epoch)| epoch));
    world.tell(|| format!("{owner:?} leads {lease} in {epoch:?}"));
    Ok(epoch)
}

pub(super) async fn renew(
    world: Arc<World>,
    tx: TxId,
    leases: Vec<LeaseName>,
    owner: Owner,
    ttl: Duration,
) -> Result<Vec<LeaseName>, StoreError> {
    let statement = Statement::begin(&world, tx)?;
    let mut renewed = Vec::new();
    for lease in leases {
        let key = lease.as_str().to_owned();
        let is_held = statement
            .write(|tables, view| {
                let held =
                    tables.heartbeat.lock(view, &key, Mode::Exclusive, |(other, _)| *other == owner)?;
                if held.is_some() {
                    tables.heartbeat.replace(view, &key, (owner, world.now() + ttl));
                }
                Ok(held.is_some())
            })
            .await?;
        if is_held {
            renewed.push(lease);
        }
    }
    Ok(renewed)
}

pub(super) async fn release(
    world: Arc<World>,
    tx: TxId,
    lease: String,
    owner: Owner,
) -> Result<(), StoreError> {
    let statement = Statement::begin(&world, tx)?;
    statement
        .write(|tables, view| {
            let held = tables.heartbeat.lock(view, &lease, Mode::Exclusive, |(other, _)| *other == owner)?;
            if held.is_some() {
                tables.heartbeat.replace(view, &lease, (owner, Duration::ZERO));
            }
            Ok(())
        })
        .await
}

/// Locks the epoch as a take-over does, and changes nothing.
pub(super) async fn await_writes(world: Arc<World>, tx: TxId, fence: Fence) -> Result<(), StoreError> {
    let statement = Statement::begin(&world, tx)?;
    if world.mutation == Mutation::WritesNotAwaited {
        return Ok(());
    }
    let lease = fence.lease().as_str().to_owned();
    let is_ours = |leader: &Leader| *leader == (fence.owner, fence.epoch);
    let locked =
        statement.write(|tables, view| tables.leader.lock(view, &lease, Mode::Exclusive, is_ours)).await?;
    locked.map(|_| ()).ok_or(StoreError::LeaseLost { lease })
}
