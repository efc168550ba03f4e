//! A store on the simulated database: each method does what the statements of PostgreSQL do, in their order.

mod inbox;
mod lease;
mod log;
pub(super) mod progress;
mod record;
mod request;
mod session;
mod waiting;

use super::client::{Client, SimTx};
use super::world::World;
use outbox::cursor::{Filter, Start};
use outbox::dead_letter::{
    AuditEntry, AuditFilter, DeadLetter, DeadLetterCount, DeadLetterFilter, Request, Terms,
};
use outbox::envelope::{EventId, NewEvent};
use outbox::held::{Change, HeldEvent, Stage};
use outbox::lease::{Fence, LeaseName, Owner};
use outbox::range::{Range, RangePlan, RangeReplay};
use outbox::scheduled::{Cancellation, NewScheduled, Scheduled, ScheduledFilter};
use outbox::store::{
    Claim, Claimed, EventState, Forgetting, HandlerToken, HandlerTx, News, Retention, StageStatus, Statement,
    Waiting,
};
use outbox::{Store, StoreError};
use outbox_runtime::gaps::GapCursor;
use std::time::Duration;
use time::OffsetDateTime;

/// The store as one process has it.
#[derive(Debug, Clone)]
pub(super) struct SimStore {
    client: Client,
}

impl SimStore {
    pub(super) fn new(client: Client) -> Self {
        Self { client }
    }

    fn world(&self) -> &World {
        &self.client.world
    }
}

/// A time of the database's clock as rows carry it.
fn moment(since_beginning: Duration) -> OffsetDateTime {
    OffsetDateTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000) + since_beginning
}

impl HandlerTx for SimTx {}

impl Store for SimStore {
    type Tx = SimTx;
    type Connection = SimTx;
    type Log = GapCursor<Self>;

    const NAME: &'static str = "simulated";
    const HANDLERS_MAX: u32 = u32::MAX;
    const NOTIFIES: bool = false;
    const SETTLES_IN_HANDLER: bool = false;

    async fn migrate(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn check(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn begin(&self) -> Result<SimTx, StoreError> {
        self.client.begin().await
    }

    async fn commit(&self, mut tx: SimTx) -> Result<(), StoreError> {
        tx.prove().await?;
        tx.commit().await
    }

    async fn rollback(&self, tx: SimTx) {
        tx.roll_back().await;
    }

    fn connection(tx: &mut SimTx) -> &mut SimTx {
        tx
    }

    async fn insert(&self, tx: &mut SimTx, events: &[NewEvent]) -> Result<(), StoreError> {
        let events = events.to_vec();
        tx.run("write an event", |world, tx| log::insert(world, tx, events)).await
    }

    fn statement(&self, _event: &NewEvent, _twin: Option<&NewEvent>) -> Statement {
        Statement { sql: String::new(), values: Vec::new() }
    }

    async fn schedule(&self, _tx: &mut SimTx, _events: &[NewScheduled]) -> Result<(), StoreError> {
        unreachable!("the simulation schedules nothing")
    }

    async fn cancel(&self, _tx: &mut SimTx, _id: EventId) -> Result<Cancellation, StoreError> {
        Ok(Cancellation::Unknown)
    }

    async fn scheduled(&self, _filter: &ScheduledFilter, _max: u32) -> Result<Vec<Scheduled>, StoreError> {
        Ok(Vec::new())
    }

    async fn due_in(&self) -> Result<Option<Duration>, StoreError> {
        Ok(None)
    }

    async fn move_due(&self, _fence: &Fence, _max: u32) -> Result<u32, StoreError> {
        Ok(0)
    }

    async fn state(&self, _id: EventId) -> Result<EventState, StoreError> {
        Ok(EventState::Unknown)
    }

    async fn notify(&self, _news: News) -> Result<(), StoreError> {
        Ok(())
    }

    async fn notified(&self, _news: News, _heard: &mut u64) {
        std::future::pending().await
    }

    async fn acquire(
        &self,
        lease: &LeaseName,
        owner: Owner,
        ttl: Duration,
    ) -> Result<Option<i64>, StoreError> {
        let lease = lease.as_str().to_owned();
        self.client
            .statement("take a lease", move |world, tx| lease::acquire(world, tx, lease, owner, ttl))
            .await
    }

    async fn renew(
        &self,
        leases: &[LeaseName],
        owner: Owner,
        ttl: Duration,
    ) -> Result<Vec<LeaseName>, StoreError> {
        let leases = leases.to_vec();
        self.client
            .statement("renew leases", move |world, tx| lease::renew(world, tx, leases, owner, ttl))
            .await
    }

    async fn release(&self, lease: &LeaseName, owner: Owner) -> Result<(), StoreError> {
        let lease = lease.as_str().to_owned();
        self.client
            .statement("give a lease back", move |world, tx| lease::release(world, tx, lease, owner))
            .await
    }

    async fn join(&self, _stage: &Stage, _owner: Owner, _ttl: Duration) -> Result<u32, StoreError> {
        Ok(1)
    }

    async fn leave(&self, _stage: &Stage, _owner: Owner) -> Result<(), StoreError> {
        Ok(())
    }

    async fn await_writes(&self, fence: &Fence) -> Result<(), StoreError> {
        let fence = fence.clone();
        let wait = move |world, tx| lease::await_writes(world, tx, fence);
        self.client.statement("wait for writes under way", wait).await
    }

    async fn open_log(&self, fence: &Fence, filter: Filter, start: Start) -> Result<Self::Log, StoreError> {
        GapCursor::open(self.clone(), fence, filter, start).await
    }

    async fn apply(&self, fence: &Fence, changes: &[Change]) -> Result<(), StoreError> {
        let mut tx = self.client.begin().await?;
        record::apply_fenced(&mut tx, fence, changes).await?;
        tx.commit().await
    }

    async fn apply_in(&self, tx: &mut SimTx, fence: &Fence, changes: &[Change]) -> Result<(), StoreError> {
        record::apply_fenced(tx, fence, changes).await
    }

    async fn due_heads(&self, fence: &Fence, max: u32) -> Result<Vec<HeldEvent>, StoreError> {
        let fence = fence.clone();
        self.client
            .statement("read the held events that are due", move |world, tx| {
                waiting::due_heads(world, tx, fence, max)
            })
            .await
    }

    async fn waiting(&self, fence: &Fence) -> Result<Waiting, StoreError> {
        let fence = fence.clone();
        self.client
            .statement("count the keys that wait", move |world, tx| waiting::waiting(world, tx, fence))
            .await
    }

    async fn waiting_lanes(&self, fence: &Fence, lanes: &[String]) -> Result<Vec<String>, StoreError> {
        let (fence, lanes) = (fence.clone(), lanes.to_vec());
        self.client
            .statement("look which keys wait", move |world, tx| {
                waiting::waiting_lanes(world, tx, fence, lanes)
            })
            .await
    }

    async fn begin_handler(&self, _timeout: Duration) -> Result<SimTx, StoreError> {
        self.client.begin().await
    }

    async fn claim(&self, tx: &mut SimTx, fence: &Fence, claim: &Claim<'_>) -> Result<Claimed, StoreError> {
        let (stage, envelope) = (fence.stage.as_str().to_owned(), claim.envelope.clone());
        let (from_held, window) = (claim.from_held, claim.window);
        tx.run("claim an event", |world, tx| inbox::claim(world, tx, stage, envelope, from_held, window))
            .await
    }

    async fn prove_handler(
        &self,
        tx: &mut SimTx,
        fence: &Fence,
        token: &HandlerToken,
    ) -> Result<(), StoreError> {
        let (fence, token) = (fence.clone(), token.clone());
        tx.run("prove a handler's transaction", |world, tx| inbox::prove(world, tx, fence, token)).await
    }

    async fn commit_proven(&self, tx: SimTx) -> Result<(), StoreError> {
        tx.commit().await
    }

    async fn dead_letters(&self, filter: &DeadLetterFilter, max: u32) -> Result<Vec<DeadLetter>, StoreError> {
        let (filter, max) = (filter.clone(), max as usize);
        self.client
            .statement("read dead letters", move |world, tx| request::dead_letters(world, tx, filter, max))
            .await
    }

    async fn count_dead_letters(&self, _: &DeadLetterFilter) -> Result<Vec<DeadLetterCount>, StoreError> {
        Ok(Vec::new())
    }

    async fn cancel_requests(&self, _: &DeadLetterFilter, _: &Terms) -> Result<u64, StoreError> {
        Ok(0)
    }

    async fn audit(&self, _: &AuditFilter, _: u32) -> Result<Vec<AuditEntry>, StoreError> {
        Ok(Vec::new())
    }

    async fn request(
        &self,
        filter: &DeadLetterFilter,
        request: Request,
        _: &Terms,
    ) -> Result<u64, StoreError> {
        let filter = filter.clone();
        self.client
            .statement("record a request", move |world, tx| request::request(world, tx, filter, request))
            .await
    }

    async fn plan_range(&self, range: &Range) -> Result<RangePlan, StoreError> {
        Err(StoreError::ReadsNoLog { stage: range.stage.to_string() })
    }

    async fn replay_range(&self, range: &Range, _: &Terms) -> Result<(Option<i64>, RangePlan), StoreError> {
        Err(StoreError::ReadsNoLog { stage: range.stage.to_string() })
    }

    async fn range_replays(&self, _: u32) -> Result<Vec<RangeReplay>, StoreError> {
        Ok(Vec::new())
    }

    async fn cancel_range(&self, _: i64) -> Result<bool, StoreError> {
        Ok(false)
    }

    async fn act_on_requests(&self, fence: &Fence, max: u32) -> Result<u32, StoreError> {
        let mut tx = self.client.begin().await?;
        let (fence, max) = (fence.clone(), max as usize);
        let act = |world, tx| request::act_on_requests(world, tx, fence, max);
        let done = tx.run("act on requests", act).await?;
        tx.commit().await?;
        Ok(done)
    }

    async fn forget(&self, _stage: &Stage, _discard: Option<&Terms>) -> Result<Forgetting, StoreError> {
        Ok(Forgetting::Unknown)
    }

    async fn status(&self) -> Result<Vec<StageStatus>, StoreError> {
        Ok(Vec::new())
    }

    async fn sweep(&self, _owner: Owner, _retention: &Retention) -> Result<Duration, StoreError> {
        Ok(Duration::from_secs(30))
    }
}
