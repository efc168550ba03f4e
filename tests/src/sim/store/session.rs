//! The connection of a cursor.

use super::{SimStore, log, progress, record};
use crate::sim::Mutation;
use crate::sim::client::SimTx;
use crate::sim::database::Snapshot;
use outbox::StoreError;
use outbox::cursor::{Filter, Start};
use outbox::envelope::{Envelope, Seq};
use outbox::held::Change;
use outbox::lease::Fence;
use outbox_runtime::gaps::{GapSession, GapStore, InHoles, Progress, Record, Written};
use std::sync::Arc;
use std::time::Duration;

/// One connection of a cursor.
#[derive(Debug)]
pub(in crate::sim) struct SimSession {
    store: SimStore,
    stage: String,
    /// What could be seen before the last read.
    earlier: Option<Snapshot>,
}

impl GapStore for SimStore {
    type Session = SimSession;

    fn call_max(&self) -> Duration {
        Duration::from_secs(5)
    }

    async fn connect(&self, fence: &Fence, start: Start) -> Result<(SimSession, Progress), StoreError> {
        assert_eq!(start, Start::Earliest, "the simulation starts every stage at the earliest event");
        let stage = fence.stage.as_str().to_owned();
        let load = async || {
            let fence = fence.clone();
            let load = move |world, tx| progress::load(world, tx, fence);
            self.client.statement("load the progress of a stage", load).await
        };
        let mut progress = match load().await? {
            Some(progress) => progress,
            None => {
                let mut tx = self.client.begin().await?;
                let fence = fence.clone();
                tx.run("register a stage", |world, tx| progress::register(world, tx, fence)).await?;
                tx.commit().await?;
                load().await?.expect("a stage that was registered has progress")
            }
        };
        if self.world().mutation == Mutation::MemoryOutlivesConnection {
            let read = self.world().read_before().get(&(self.client.process, stage.clone())).copied();
            progress.settled = progress.settled.max(read.unwrap_or_default());
        }
        self.world().tell(|| format!("{:?} loads {stage} at {progress:?}", self.client.process));
        Ok((SimSession { store: self.clone(), stage, earlier: None }, progress))
    }

    async fn write_in(
        &self,
        tx: &mut SimTx,
        fence: &Fence,
        before: i64,
        record: &Record,
    ) -> Result<Written, StoreError> {
        let (fence, record) = (fence.clone(), record.clone());
        let settle = |world, tx| progress::settle(world, tx, fence, before, record);
        tx.run("settle the log", settle).await
    }
}

impl GapSession for SimSession {
    async fn check(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn check_numbered(&mut self, _seq: Seq) -> Result<(), StoreError> {
        Ok(())
    }

    async fn read_on(
        &mut self,
        filter: &Filter,
        after: i64,
        max: i64,
        mut row: impl FnMut(Seq, Option<Envelope>) + Send,
    ) -> Result<(), StoreError> {
        let (filter, client) = (filter.clone(), &self.store.client);
        self.earlier = Some(client.world.database().txs.snapshot());
        let read = move |world, tx| log::read_on(world, tx, filter, after, max as usize);
        let rows = client.statement("read the log", read).await?;
        if let Some((last, _)) = rows.last() {
            client.world.read_before().insert((client.process, self.stage.clone()), last.0);
        }
        rows.into_iter().for_each(|(seq, envelope)| row(seq, envelope));
        Ok(())
    }

    async fn read_holes(
        &mut self,
        filter: &Filter,
        ranges: &[(i64, i64)],
        max: i64,
    ) -> Result<InHoles, StoreError> {
        let (filter, ranges, earlier) = (filter.clone(), ranges.to_vec(), self.earlier.take());
        let read = move |world, tx| log::read_holes(world, tx, filter, ranges, max as usize, earlier);
        self.store.client.statement("look into the holes of the log", read).await
    }

    async fn number_holders(&mut self) -> Result<Vec<(String, bool)>, StoreError> {
        let ask = |world: Arc<super::World>, _tx| async move {
            world.pause().await;
            if world.mutation == Mutation::HoldersForgotten {
                return Ok(Vec::new());
            }
            let holders = world.database().txs.number_holders();
            Ok(holders)
        };
        self.store.client.statement("ask who has taken numbers", ask).await
    }

    async fn write(
        &mut self,
        fence: &Fence,
        before: i64,
        record: Option<&Record>,
        changes: &[Change],
    ) -> Result<Option<Written>, StoreError> {
        let client = &self.store.client;
        let (record, to_settle) = (record.cloned(), fence.clone());
        if let Some(record) = record.clone()
            && changes.is_empty()
            && !record.holes.has_rows()
        {
            let settle = move |world, tx| progress::settle(world, tx, to_settle, before, record);
            return client.statement("settle the log", settle).await.map(Some);
        }
        let mut tx = client.begin().await?;
        record::apply_fenced(&mut tx, fence, changes).await?;
        let mut written = None;
        if let Some(record) = record {
            let settle = |world, tx| progress::settle(world, tx, to_settle, before, record);
            written = Some(tx.run("settle the log", settle).await?);
        }
        tx.commit().await?;
        Ok(written)
    }
}
