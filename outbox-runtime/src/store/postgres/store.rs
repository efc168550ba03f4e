//! The trait [`Store`] for PostgreSQL: each method is a function of the module that has the idea.

use super::{
    PostgresLog, PostgresStore, dead_letter,
    error::within,
    examine, forget, inbox, insert, lease, migrate, notify, range, record, scheduled, status, sweep,
    transaction::{self, Tx},
};
use crate::{
    cursor::{Filter, Start},
    dead_letter::{AuditEntry, AuditFilter, DeadLetter, DeadLetterCount, DeadLetterFilter, Request, Terms},
    envelope::{EventId, NewEvent},
    finding::{Finding, Tolerance},
    gaps::GapCursor,
    held::{Change, HeldEvent, Lane, Stage},
    lease::{Fence, LeaseName, Owner},
    marker::Marker,
    range::{Range, RangePlan, RangeReplay},
    scheduled::{Cancellation, NewScheduled, Scheduled, ScheduledFilter},
    store::{
        Claim, Claimed, EventState, Forgetting, HandlerToken, News, OpenTx, Retention, StageStatus,
        Statement, Store, StoreError, Waiting, sealed::Sealed,
    },
};
use sqlx::{PgConnection, Postgres, Transaction};
use std::{collections::BTreeSet, time::Duration};

impl Store for PostgresStore {
    type Tx = Tx;
    type Connection = PgConnection;
    type Log = PostgresLog;

    const NAME: &'static str = "postgres";
    const HANDLERS_MAX: u32 = u32::MAX;
    const NOTIFIES: bool = true;
    const SETTLES_IN_HANDLER: bool = false;

    async fn migrate(&self) -> Result<(), StoreError> {
        migrate::migrate(self).await
    }

    async fn check(&self) -> Result<(), StoreError> {
        migrate::check(self).await
    }

    async fn begin(&self) -> Result<Tx, StoreError> {
        transaction::begin(self).await
    }

    async fn commit(&self, tx: Tx) -> Result<(), StoreError> {
        transaction::commit(self, tx).await
    }

    async fn rollback(&self, tx: Tx) {
        transaction::rollback(tx).await;
    }

    fn connection(tx: &mut Tx) -> &mut PgConnection {
        tx
    }

    async fn lock_lanes(
        &self,
        connection: &mut PgConnection,
        lanes: &BTreeSet<Lane>,
    ) -> Result<(), StoreError> {
        insert::lock_lanes(self, connection, lanes).await
    }

    async fn insert(&self, connection: &mut PgConnection, events: &[NewEvent]) -> Result<(), StoreError> {
        insert::insert(self, connection, events).await
    }

    fn statement(&self, event: &NewEvent, twin: Option<&NewEvent>) -> Statement {
        insert::statement(self, event, twin)
    }

    async fn schedule(
        &self,
        connection: &mut PgConnection,
        events: &[NewScheduled],
    ) -> Result<(), StoreError> {
        scheduled::schedule(self, connection, events).await
    }

    async fn cancel(&self, connection: &mut PgConnection, id: EventId) -> Result<Cancellation, StoreError> {
        scheduled::cancel(self, connection, id).await
    }

    async fn scheduled(&self, filter: &ScheduledFilter, max: u32) -> Result<Vec<Scheduled>, StoreError> {
        scheduled::list(self, filter, max).await
    }

    async fn due_in(&self) -> Result<Option<Duration>, StoreError> {
        within(self, "look when an event is due", scheduled::due_in(self)).await
    }

    async fn move_due(&self, fence: &Fence, max: u32) -> Result<u32, StoreError> {
        within(self, "move events that are due into the log", scheduled::move_due(self, fence, max)).await
    }

    async fn may_keep(&self) -> Result<bool, StoreError> {
        scheduled::may_keep(self).await
    }

    async fn state(&self, id: EventId) -> Result<EventState, StoreError> {
        status::state(self, id).await
    }

    async fn notify(&self, news: News) -> Result<(), StoreError> {
        within(self, "notify other processes", notify::notify(self, news)).await
    }

    async fn notified(&self, news: News, heard: &mut u64) {
        notify::notified(self, news, heard).await;
    }

    async fn acquire(
        &self,
        lease: &LeaseName,
        owner: Owner,
        ttl: Duration,
    ) -> Result<Option<i64>, StoreError> {
        within(self, "take a lease", lease::acquire(self, lease, owner, ttl)).await
    }

    async fn renew(
        &self,
        leases: &[LeaseName],
        owner: Owner,
        ttl: Duration,
    ) -> Result<Vec<LeaseName>, StoreError> {
        within(self, "renew leases", lease::renew(self, leases, owner, ttl)).await
    }

    async fn release(&self, lease: &LeaseName, owner: Owner) -> Result<(), StoreError> {
        within(self, "give a lease back", lease::release(self, lease, owner)).await
    }

    async fn freed(&self, _leases: &[LeaseName], freed: &mut u64) {
        notify::freed(self, freed).await;
    }

    async fn join(&self, stage: &Stage, owner: Owner, ttl: Duration) -> Result<u32, StoreError> {
        within(self, "join a stage", lease::join(self, stage, owner, ttl)).await
    }

    async fn leave(&self, stage: &Stage, owner: Owner) -> Result<(), StoreError> {
        within(self, "leave a stage", lease::leave(self, stage, owner)).await
    }

    async fn await_writes(&self, fence: &Fence) -> Result<(), StoreError> {
        within(self, "wait for writes under way", transaction::await_writes(self, fence)).await
    }

    async fn open_log(&self, fence: &Fence, filter: Filter, start: Start) -> Result<PostgresLog, StoreError> {
        GapCursor::open(self.clone(), fence, filter, start).await
    }

    async fn apply(&self, fence: &Fence, changes: &[Change]) -> Result<(), StoreError> {
        within(self, "record a stage's changes", record::apply_fenced(self, fence, changes)).await
    }

    async fn apply_in(&self, tx: &mut Tx, fence: &Fence, changes: &[Change]) -> Result<(), StoreError> {
        transaction::lock_fence(self, tx, fence).await?;
        record::apply(self, tx, fence, changes).await
    }

    async fn due_heads(&self, fence: &Fence, max: u32) -> Result<Vec<HeldEvent>, StoreError> {
        within(self, "read the held events that are due", record::due_heads(self, fence, max)).await
    }

    async fn waiting(&self, fence: &Fence) -> Result<Waiting, StoreError> {
        within(self, "count the keys that wait", record::waiting(self, fence)).await
    }

    async fn waiting_lanes(&self, fence: &Fence, lanes: &[String]) -> Result<Vec<String>, StoreError> {
        within(self, "look which keys wait", record::waiting_lanes(self, fence, lanes)).await
    }

    async fn marker(&self, fence: &Fence) -> Result<Option<(i64, Marker)>, StoreError> {
        within(self, "read what the leader before had in work", lease::marker(self, fence)).await
    }

    async fn mark(&self, fence: &Fence, marker: &Marker) -> Result<(), StoreError> {
        within(self, "mark what is in work", lease::mark(self, fence, marker)).await
    }

    async fn begin_handler(&self, timeout: Duration) -> Result<Tx, StoreError> {
        transaction::begin_handler(self, timeout).await
    }

    async fn claim(&self, tx: &mut Tx, fence: &Fence, claim: &Claim<'_>) -> Result<Claimed, StoreError> {
        inbox::claim(self, tx, fence, claim).await
    }

    async fn prove_handler(
        &self,
        tx: &mut Tx,
        fence: &Fence,
        token: &HandlerToken,
    ) -> Result<(), StoreError> {
        within(self, "prove a handler's transaction", transaction::prove_handler(self, tx, fence, token))
            .await
    }

    async fn is_connected(&self, tx: &mut Tx) -> bool {
        transaction::is_connected(tx).await
    }

    async fn commit_proven(&self, tx: Tx) -> Result<(), StoreError> {
        within(self, "commit a handler's transaction", transaction::commit_own(tx)).await
    }

    async fn commit_and_begin(&self, tx: Tx, timeout: Duration) -> Result<Option<Tx>, StoreError> {
        let action = "commit a handler's transaction";
        within(self, action, transaction::commit_and_begin(self, tx, timeout)).await.map(Some)
    }

    async fn dead_letters(&self, filter: &DeadLetterFilter, max: u32) -> Result<Vec<DeadLetter>, StoreError> {
        dead_letter::list(self, filter, max).await
    }

    async fn count_dead_letters(
        &self,
        filter: &DeadLetterFilter,
    ) -> Result<Vec<DeadLetterCount>, StoreError> {
        dead_letter::count(self, filter).await
    }

    async fn request(
        &self,
        filter: &DeadLetterFilter,
        request: Request,
        terms: &Terms,
    ) -> Result<u64, StoreError> {
        dead_letter::request(self, filter, request, terms).await
    }

    async fn cancel_requests(&self, filter: &DeadLetterFilter, terms: &Terms) -> Result<u64, StoreError> {
        dead_letter::cancel(self, filter, terms).await
    }

    async fn audit(&self, filter: &AuditFilter, max: u32) -> Result<Vec<AuditEntry>, StoreError> {
        dead_letter::audit(self, filter, max).await
    }

    async fn plan_range(&self, range: &Range) -> Result<RangePlan, StoreError> {
        range::plan(self, range).await
    }

    async fn replay_range(
        &self,
        range: &Range,
        terms: &Terms,
    ) -> Result<(Option<i64>, RangePlan), StoreError> {
        range::replay(self, range, terms).await
    }

    async fn range_replays(&self, max: u32) -> Result<Vec<RangeReplay>, StoreError> {
        range::list(self, max).await
    }

    async fn cancel_range(&self, id: i64) -> Result<bool, StoreError> {
        range::cancel(self, id).await
    }

    async fn take_up_range(&self, fence: &Fence, wanted: &Filter, max: u32) -> Result<u32, StoreError> {
        within(self, "take up the events of a replay", range::take_up(self, fence, wanted, max)).await
    }

    async fn act_on_requests(&self, fence: &Fence, max: u32) -> Result<u32, StoreError> {
        within(self, "act on requests", record::act_on_requests(self, fence, max)).await
    }

    async fn forget(&self, stage: &Stage, discard: Option<&Terms>) -> Result<Forgetting, StoreError> {
        within(self, "forget a stage", forget::forget(self, stage, discard)).await
    }

    async fn status(&self) -> Result<Vec<StageStatus>, StoreError> {
        status::status(self).await
    }

    async fn examine(&self, tolerance: &Tolerance) -> Result<Vec<Finding>, StoreError> {
        examine::examine(self, tolerance).await
    }

    async fn topics(&self) -> Result<Vec<String>, StoreError> {
        examine::topics(self).await
    }

    async fn sweep(&self, _owner: Owner, retention: &Retention) -> Result<Duration, StoreError> {
        // Each step holds its own locks, so a sweeper that lost its lease does no harm.
        within(self, "sweep the tables", sweep::sweep(self, retention)).await
    }
}

impl Sealed for Transaction<'_, Postgres> {}

impl OpenTx<PostgresStore> for Transaction<'_, Postgres> {
    fn connection(&mut self) -> &mut PgConnection {
        self
    }
}
