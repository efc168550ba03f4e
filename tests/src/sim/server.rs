//! The server's side of a session: statements that take their time, wait for locks, and end with their connection.

use super::Mutation;
use super::database::{Busy, Snapshot, Tables, TxId, View, Xid};
use super::executor::Process;
use super::world::World;
use crate::history::Fate;
use outbox::StoreError;
use outbox::lease::Fence;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// The longest wait for a lock.
const LOCK_WAIT_MAX: Duration = Duration::from_secs(2);

/// A failure that passes.
pub(super) fn passing(action: &'static str, problem: &str) -> StoreError {
    StoreError::Database { action, transient: true, source: problem.into() }
}

fn lost_connection() -> StoreError {
    passing("run a statement", "the connection is lost")
}

/// A transaction that the server ends when it is dropped.
pub(super) struct ServerTx {
    world: Arc<World>,
    pub(super) id: TxId,
}

impl ServerTx {
    pub(super) fn begin(world: &Arc<World>, process: Process) -> Self {
        let id = world.database().txs.begin(process, true);
        Self { world: Arc::clone(world), id }
    }

    pub(super) async fn commit(self) -> Result<(), StoreError> {
        commit(&self.world, self.id).await
    }
}

impl Drop for ServerTx {
    fn drop(&mut self) {
        roll_back(&self.world, self.id);
    }
}

pub(super) fn roll_back(world: &World, tx: TxId) {
    world.database().roll_back(tx);
    world.ended.notify_waiters();
}

/// Commits; an aborted transaction rolls back, and the answer does not tell.
pub(super) async fn commit(world: &World, tx: TxId) -> Result<(), StoreError> {
    world.pause().await;
    let (fence, effects, xid) = {
        let mut database = world.database();
        let open = database.txs.open.get(&tx).ok_or_else(lost_connection)?;
        let is_kept = !open.is_aborted;
        let (fence, xid) = (open.fence.clone().filter(|_| is_kept && open.xid.is_some()), open.xid);
        let effects = if is_kept { open.effects.clone() } else { Vec::new() };
        let is_passed = fence.as_ref().is_some_and(|fence| {
            let mut leaders = database.tables.leader.committed(&database.txs);
            leaders.all(|(lease, leader)| {
                *lease != fence.lease().as_str() || *leader != (fence.owner, fence.epoch)
            })
        });
        database.commit(tx);
        (fence.filter(|_| is_passed), effects, xid)
    };
    world.ended.notify_waiters();
    for (stage, event) in effects {
        world.record_unless_lost(Fate::Handled.of(&stage, &event), xid);
    }
    if let Some(fence) = fence {
        world.breach(format!(
            "a write of epoch {} of `{}` was kept after a take-over",
            fence.epoch,
            fence.lease()
        ));
    }
    Ok(())
}

/// One statement: everything it sees is of its beginning, and what it locks is the newest.
pub(super) struct Statement<'a> {
    world: &'a Arc<World>,
    tx: TxId,
    pub(super) snapshot: Snapshot,
}

impl<'a> Statement<'a> {
    pub(super) fn begin(world: &'a Arc<World>, tx: TxId) -> Result<Self, StoreError> {
        let database = world.database();
        let open = database.txs.open.get(&tx).ok_or_else(lost_connection)?;
        if open.is_aborted {
            return Err(StoreError::Aborted { source: None });
        }
        let snapshot = database.txs.snapshot();
        drop(database);
        Ok(Self { world, tx, snapshot })
    }

    /// Gives the transaction its id.
    pub(super) fn xid(&self) -> Result<Xid, StoreError> {
        self.world.database().txs.xid_of(self.tx).ok_or_else(lost_connection)
    }

    pub(super) async fn read<T>(&self, read: impl FnOnce(&Tables, &View<'_>) -> T) -> Result<T, StoreError> {
        self.world.pause().await;
        let database = self.world.database();
        let own = database.txs.open.get(&self.tx).ok_or_else(lost_connection)?.xid;
        let view = View { txs: &database.txs, snapshot: &self.snapshot, own };
        Ok(read(&database.tables, &view))
    }

    /// Writes, or waits for who is in the way and tries again. What `write` does before it finds somebody in its way, it does
    /// again.
    pub(super) async fn write<T>(
        &self,
        mut write: impl FnMut(&mut Tables, &View<'_>) -> Result<T, Busy>,
    ) -> Result<T, StoreError> {
        self.world.pause().await;
        let deadline = Instant::now() + LOCK_WAIT_MAX;
        loop {
            let ended = {
                let mut database = self.world.database();
                let own = Some(database.txs.xid_of(self.tx).ok_or_else(lost_connection)?);
                let super::database::Database { tables, txs, .. } = &mut *database;
                let view = View { txs, snapshot: &self.snapshot, own };
                match write(tables, &view) {
                    Ok(written) => return Ok(written),
                    Err(Busy(_)) => self.world.ended.notified(),
                }
            };
            if timeout_at(deadline, ended).await.is_err() {
                self.abort();
                return Err(passing("wait for a lock", "the lock was not had in time"));
            }
        }
    }

    /// An error ends the transaction.
    fn abort(&self) {
        if let Some(open) = self.world.database().txs.open.get_mut(&self.tx) {
            open.is_aborted = true;
        }
    }

    /// Whether the fence holds, and keeps it so to the end of the transaction.
    pub(super) async fn holds(&self, fence: &Fence) -> Result<bool, StoreError> {
        let lease = fence.lease().as_str().to_owned();
        let is_ours = |leader: &(outbox::lease::Owner, i64)| *leader == (fence.owner, fence.epoch);
        let holds = if self.world.mutation == Mutation::FenceNotLocked {
            self.read(|tables, view| tables.leader.get(view, &lease).is_some_and(is_ours)).await?
        } else {
            let mode = super::database::Mode::Share;
            self.write(|tables, view| Ok(tables.leader.lock(view, &lease, mode, is_ours)?.is_some())).await?
        };
        if holds {
            self.write_as(fence);
        }
        Ok(holds)
    }

    /// What the transaction writes is in the name of this leader.
    pub(super) fn write_as(&self, fence: &Fence) {
        if let Some(open) = self.world.database().txs.open.get_mut(&self.tx) {
            open.fence = Some(fence.clone());
            open.is_synchronous = true;
        }
    }

    /// As [`Statement::holds`], where it must.
    pub(super) async fn lock_fence(&self, fence: &Fence) -> Result<(), StoreError> {
        if self.holds(fence).await? {
            return Ok(());
        }
        Err(StoreError::LeaseLost { lease: fence.lease().to_string() })
    }
}
