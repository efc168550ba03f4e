//! Producers: transactions that lock what they tell of, or not, and end in every way there is.

use super::client::{Client, SimTx};
use super::database::Mode;
use super::event::{Plan, RELAYED, SHARED, event, name_of};
use super::executor::Process;
use super::server::{self, Statement};
use super::store::SimStore;
use super::world::World;
use crate::history::{Happening, TxId};
use outbox::envelope::NewEvent;
use outbox::{OnPoison, Store, StoreError};
use std::sync::Arc;
use tokio::time::sleep;

/// One producer, which works off some transactions.
pub(super) struct Producer {
    pub(super) client: Client,
    pub(super) transactions: u64,
}

impl Producer {
    pub(super) async fn work(self) {
        let world = Arc::clone(&self.client.world);
        for _ in 0..self.transactions {
            sleep(world.millis(0..600)).await;
            let recorded = world.next_transaction();
            let is_over = self.transact(recorded).await;
            if is_over.is_err() {
                // No commit was sent.
                world.record(Happening::RolledBack(recorded));
            }
        }
        world.producer_is_done();
    }

    /// Enqueues one event and commits.
    pub(super) async fn say_something(&self) -> Result<(), StoreError> {
        let world = &self.client.world;
        let mut tx = self.client.begin().await?;
        let event = event(SHARED, None, world.next_event(), Plan::Succeed, OnPoison::Skip);
        let recorded = world.next_transaction();
        world.record(Happening::Enqueue { tx: recorded, event: name_of(&event), bad: false });
        SimStore::new(self.client.clone()).insert(&mut tx, &[event]).await?;
        world.record(Happening::Commit(recorded));
        tx.commit().await?;
        world.record(Happening::Committed(recorded));
        Ok(())
    }

    /// Runs one transaction. An error means that nothing of it can have committed.
    async fn transact(&self, recorded: TxId) -> Result<(), StoreError> {
        let world = &self.client.world;
        // A third leaves the raise of `synchronous_commit` to the enqueue.
        let mut tx = self.client.begin_with(!world.in_1000(333)).await?;
        if world.in_1000(300) {
            // Its id is older than the lock that orders it.
            tx.run("write", |world, tx| async move { Statement::begin(&world, tx)?.xid().map(|_| ()) })
                .await?;
            sleep(world.millis(0..200)).await;
        }
        let key = format!("key-{}", world.below(world.keys()));
        if world.in_1000(800) {
            lock(&mut tx, key.clone()).await?;
        }
        let events = self.events(&key);
        for event in &events {
            let (event, bad) = (name_of(event), Plan::of(event) != Plan::Succeed);
            world.record(Happening::Enqueue { tx: recorded, event, bad });
        }
        SimStore::new(self.client.clone()).insert(&mut tx, &events).await?;
        if world.in_1000(100) {
            // A savepoint that was rolled back: the number is gone, the transaction goes on.
            world.database().sequence.next();
        }
        match world.below(100) {
            0..4 => sleep(world.millis(1_000..5_000)).await,
            4..40 => sleep(world.millis(0..300)).await,
            _ => {}
        }
        self.end(tx, recorded).await
    }

    /// Up to three events of one key, and of none.
    fn events(&self, key: &str) -> Vec<NewEvent> {
        let world = &self.client.world;
        let count = 1 + world.below(3);
        (0..count)
            .map(|_| {
                let topic = if world.in_1000(250) { RELAYED } else { SHARED };
                let key = (!world.in_1000(150)).then_some(key);
                let on_poison = if world.in_1000(700) { OnPoison::Park } else { OnPoison::Skip };
                let (plan, on_poison) = match world.below(100) {
                    0..4 => (Plan::BrokerRefuses, on_poison),
                    4..10 => (Plan::HandlerFailsForGood, on_poison),
                    10..16 => (Plan::HandlerFails(1 + world.below(2) as u32), on_poison),
                    16..18 => (Plan::HandlerFails(6), OnPoison::Block),
                    18..22 => (Plan::HandlerSwallows, on_poison),
                    _ => (Plan::Succeed, on_poison),
                };
                event(topic, key, world.next_event(), plan, on_poison)
            })
            .collect()
    }

    async fn end(&self, mut tx: SimTx, recorded: TxId) -> Result<(), StoreError> {
        let world = &self.client.world;
        match world.below(100) {
            0..12 => {
                tx.roll_back().await;
                world.record(Happening::RolledBack(recorded));
            }
            // The producer dies, and nobody ends the transaction.
            12..15 => drop(tx),
            15..18 => {
                tx.prove().await?;
                prepare(tx, recorded);
            }
            _ => {
                tx.prove().await?;
                world.record(Happening::Commit(recorded));
                if tx.commit().await.is_ok() {
                    world.record(Happening::Committed(recorded));
                }
            }
        }
        Ok(())
    }
}

/// Locks the state that the events of a key tell of.
async fn lock(tx: &mut SimTx, key: String) -> Result<(), StoreError> {
    let update = |world: Arc<World>, tx| async move {
        let statement = Statement::begin(&world, tx)?;
        statement
            .write(|tables, view| {
                if !tables.state.insert(view, key.clone(), ())? {
                    tables.state.lock_newest(view, &key, Mode::Exclusive)?;
                    tables.state.replace(view, &key, ());
                }
                Ok(())
            })
            .await
    };
    tx.run("update the state", update).await
}

/// Two-phase commit: the transaction outlives its session and every crash, and is committed by somebody later.
fn prepare(tx: SimTx, recorded: TxId) {
    let world = Arc::clone(tx.world());
    let id = tx.prepare();
    if !world.database().txs.open.contains_key(&id) {
        world.record(Happening::RolledBack(recorded));
        return;
    }
    let delay = world.millis(500..6_000);
    let later = Arc::clone(&world);
    world.schedule.spawn(Process::OUTSIDE, async move {
        sleep(delay).await;
        while later.database_is_down() {
            sleep(delay).await;
        }
        later.record(Happening::Commit(recorded));
        if server::commit(&later, id).await.is_ok() {
            later.record(Happening::Committed(recorded));
        }
    });
}
