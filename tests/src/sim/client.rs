//! The client's side: calls that may not arrive, may arrive late, and whose answers may be lost.

use super::database::TxId;
use super::executor::Process;
use super::server::{self, ServerTx, Statement, passing};
use super::world::World;
use outbox::StoreError;
use std::sync::Arc;
use tokio::sync::oneshot;
use tokio::time::sleep;

/// A process's way to the database.
#[derive(Debug, Clone)]
pub(super) struct Client {
    pub(super) world: Arc<World>,
    pub(super) process: Process,
}

/// The connection broke: what was asked may have been done, or may yet be.
#[derive(Debug)]
struct Cut;

impl Client {
    /// Runs `work` at the server.
    async fn call<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> Result<Result<T, StoreError>, Cut> {
        let world = &self.world;
        world.pause().await;
        if world.database_is_down() {
            return Err(Cut);
        }
        // Of a thousand calls so many meet each fate.
        let cuts = world.cuts();
        match if world.is_calm() { 1_000 } else { world.below(1_000) } {
            // It never arrives.
            fate if fate < cuts => Err(Cut),
            // It is done, and the answer is lost.
            fate if fate < 2 * cuts => {
                let _ = work.await;
                Err(Cut)
            }
            // The server does it when the client has given up.
            fate if fate < 3 * cuts => {
                let (delay, boot) = (world.millis(10..2_500), world.boot());
                let later = Arc::clone(world);
                world.schedule.spawn(Process::OUTSIDE, async move {
                    sleep(delay).await;
                    if later.boot() == boot {
                        let _ = work.await;
                    }
                });
                Err(Cut)
            }
            // The server goes on though the client is paused or killed.
            fate if fate < 100 => {
                let (done, answer) = oneshot::channel();
                world.schedule.spawn(Process::OUTSIDE, async move {
                    let _ = done.send(work.await);
                });
                answer.await.map_err(|_| Cut)
            }
            _ => Ok(work.await),
        }
    }

    /// Runs one statement that is a transaction of its own.
    pub(super) async fn statement<T, F>(
        &self,
        action: &'static str,
        work: impl FnOnce(Arc<World>, TxId) -> F + Send + 'static,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, StoreError>> + Send + 'static,
    {
        let (world, process) = (Arc::clone(&self.world), self.process);
        let whole = async move {
            let tx = ServerTx::begin(&world, process);
            let outcome = work(world, tx.id).await?;
            tx.commit().await?;
            Ok(outcome)
        };
        self.call(whole).await.unwrap_or_else(|Cut| Err(cut(action)))
    }

    pub(super) async fn begin(&self) -> Result<SimTx, StoreError> {
        self.begin_with(true).await
    }

    pub(super) async fn begin_with(&self, is_synchronous: bool) -> Result<SimTx, StoreError> {
        let (world, process) = (Arc::clone(&self.world), self.process);
        let id = self.call(async move { Ok(world.database().txs.begin(process, is_synchronous)) }).await;
        let id = id.unwrap_or_else(|Cut| Err(cut("begin a transaction")))?;
        Ok(SimTx { client: self.clone(), id, is_lost: false, is_over: false })
    }
}

fn cut(action: &'static str) -> StoreError {
    passing(action, "the connection was cut")
}

/// An open transaction. Dropped, it is rolled back when the server notices.
#[derive(Debug)]
pub(super) struct SimTx {
    client: Client,
    pub(super) id: TxId,
    /// Whether its connection broke, or a call on it was given up.
    is_lost: bool,
    is_over: bool,
}

impl SimTx {
    pub(super) fn world(&self) -> &Arc<World> {
        &self.client.world
    }

    /// Runs one statement, or a few that nothing comes between.
    pub(super) async fn run<T, F>(
        &mut self,
        action: &'static str,
        work: impl FnOnce(Arc<World>, TxId) -> F,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, StoreError>> + Send + 'static,
    {
        if std::mem::replace(&mut self.is_lost, true) {
            return Err(cut(action));
        }
        let outcome = self.client.call(work(Arc::clone(self.world()), self.id)).await;
        match outcome {
            Ok(outcome) => {
                self.is_lost = false;
                outcome
            }
            Err(Cut) => Err(cut(action)),
        }
    }

    /// Commits, whether the transaction still stands or not.
    pub(super) async fn commit(mut self) -> Result<(), StoreError> {
        let world = Arc::clone(self.world());
        if !world.is_calm() && world.in_1000(world.late_commits()) {
            self.commit_late();
            return Err(cut("commit a transaction"));
        }
        let committed = self
            .run("commit a transaction", |world, tx| async move { server::commit(&world, tx).await })
            .await;
        self.is_over = committed.is_ok();
        committed
    }

    /// The commit is on its way when the client gives up.
    fn commit_late(&mut self) {
        self.is_over = true;
        let (world, id) = (Arc::clone(self.world()), self.id);
        let delay = world.millis(10..4_000);
        self.world().schedule.spawn(Process::OUTSIDE, async move {
            sleep(delay).await;
            // Gone, if the server ended it meanwhile.
            let _ = server::commit(&world, id).await;
        });
    }

    /// Fails if a statement failed in it, or the server ended it.
    pub(super) async fn prove(&mut self) -> Result<(), StoreError> {
        let prove = |world: Arc<World>, tx| async move { Statement::begin(&world, tx).map(|_| ()) };
        self.run("prove a transaction", prove).await
    }

    /// Leaves the transaction to whoever ends it, beyond this session.
    pub(super) fn prepare(mut self) -> TxId {
        self.is_over = true;
        if let Some(open) = self.world().database().txs.open.get_mut(&self.id) {
            (open.is_prepared, open.process) = (true, Process::OUTSIDE);
        }
        self.id
    }

    pub(super) async fn roll_back(mut self) {
        self.world().pause().await;
        self.is_over = true;
        server::roll_back(self.world(), self.id);
    }
}

impl Drop for SimTx {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let (world, id) = (Arc::clone(self.world()), self.id);
        let noticed_after = if world.in_1000(150) { world.millis(500..4_000) } else { world.millis(1..20) };
        self.world().schedule.spawn(Process::OUTSIDE, async move {
            sleep(noticed_after).await;
            server::roll_back(&world, id);
        });
    }
}
