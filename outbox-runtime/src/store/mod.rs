//! What a database must do to be a store of events: the trait that relays, consumers and producers are written against.

mod error;
pub(crate) mod headers;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod health;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod sql;
#[cfg(feature = "sqlite")]
pub mod sqlite;

pub use error::StoreError;

use crate::{
    cursor::{Filter, LogCursor, Start},
    dead_letter::{AuditEntry, AuditFilter, DeadLetter, DeadLetterCount, DeadLetterFilter, Request, Terms},
    envelope::{Envelope, EventId, NewEvent},
    finding::{Finding, Tolerance},
    held::{Change, HeldEvent, Lane, Stage},
    lease::{Fence, LeaseName, Owner},
    marker::Marker,
    range::{Range, RangePlan, RangeReplay},
    scheduled::{Cancellation, NewScheduled, Scheduled, ScheduledFilter},
};
use std::{collections::BTreeSet, time::Duration};

/// A database that keeps the log and the records of every stage.
///
/// Every future is `Send`. A method that is given a [`Fence`] writes all or nothing, and only while the fence holds.
pub trait Store: Clone + Send + Sync + 'static {
    /// The owned transaction that handlers receive.
    type Tx: HandlerTx;
    /// The connection inside a transaction.
    type Connection: Send + 'static;
    /// The reading side of the log.
    type Log: LogCursor<Self>;

    /// The database's name, in lower case.
    const NAME: &'static str;
    /// The most handlers that may run at once; 1 where the database has one writer.
    const HANDLERS_MAX: u32;
    /// Whether [`Store::notify`] reaches other processes.
    const NOTIFIES: bool;
    /// Whether the handler's transaction also settles the log (see [`LogCursor::settle_in`]).
    const SETTLES_IN_HANDLER: bool;

    /// Runs the migrations that are missing, under the owner's role. Safe to run several times at once.
    fn migrate(&self) -> impl Future<Output = Result<(), StoreError>> + Send;
    /// Checks schema version and preconditions; changes nothing (SQLite migrates itself).
    fn check(&self) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Begins a transaction that can write.
    fn begin(&self) -> impl Future<Output = Result<Self::Tx, StoreError>> + Send;
    /// Commits and proves it: an aborted transaction is an error, never a silent rollback.
    fn commit(&self, tx: Self::Tx) -> impl Future<Output = Result<(), StoreError>> + Send;
    /// Rolls back; an error is not interesting, the database forgets the transaction with its connection.
    fn rollback(&self, tx: Self::Tx) -> impl Future<Output = ()> + Send;
    /// The connection inside `tx`.
    fn connection(tx: &mut Self::Tx) -> &mut Self::Connection;

    /// Locks these lanes, in their order, to the end of the caller's transaction. Nothing to do where a transaction that
    /// writes is alone anyway.
    fn lock_lanes(
        &self,
        connection: &mut Self::Connection,
        lanes: &BTreeSet<Lane>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send {
        let _ = (connection, lanes);
        std::future::ready(Ok(()))
    }
    /// Writes events in the caller's transaction, in the order given.
    fn insert(
        &self,
        connection: &mut Self::Connection,
        events: &[NewEvent],
    ) -> impl Future<Output = Result<(), StoreError>> + Send;
    /// The SQL text and the values with which any driver writes this event, and directly after it its twin.
    fn statement(&self, event: &NewEvent, twin: Option<&NewEvent>) -> Statement;
    /// Writes events in the caller's transaction that enter the log when they are due, in the order given.
    fn schedule(
        &self,
        connection: &mut Self::Connection,
        events: &[NewScheduled],
    ) -> impl Future<Output = Result<(), StoreError>> + Send;
    /// Takes a scheduled event that is not due yet back in the caller's transaction, with its twin.
    fn cancel(
        &self,
        connection: &mut Self::Connection,
        id: EventId,
    ) -> impl Future<Output = Result<Cancellation, StoreError>> + Send;
    /// Scheduled events, the soonest first, at most `max`.
    fn scheduled(
        &self,
        filter: &ScheduledFilter,
        max: u32,
    ) -> impl Future<Output = Result<Vec<Scheduled>, StoreError>> + Send;
    /// How long until the first scheduled event is due: zero when one is, `None` when none waits.
    fn due_in(&self) -> impl Future<Output = Result<Option<Duration>, StoreError>> + Send;
    /// Moves due events into the log, in the order in which they are due, at most `max`; gives how many. Moves none if the
    /// fence does not hold. One that an open transaction is taking back is left for later.
    fn move_due(&self, fence: &Fence, max: u32) -> impl Future<Output = Result<u32, StoreError>> + Send;
    /// Where an event stands.
    fn state(&self, id: EventId) -> impl Future<Output = Result<EventState, StoreError>> + Send;

    /// Whether this process may do what upkeep does: move due events, and sweep. A role without the right leaves it to
    /// others.
    fn may_keep(&self) -> impl Future<Output = Result<bool, StoreError>> + Send {
        std::future::ready(Ok(true))
    }

    /// Tells other processes that there may be something to read. Never inside a business transaction.
    fn notify(&self, news: News) -> impl Future<Output = Result<(), StoreError>> + Send;
    /// Completes when more notifications of this news were heard than `heard` counts, and sets it; never completes where
    /// the database cannot tell. A hint only: polling decides.
    ///
    /// # Cancel safety
    /// If dropped, no notification is missed: the next call with the same count completes at once.
    fn notified(&self, news: News, heard: &mut u64) -> impl Future<Output = ()> + Send;

    /// Takes the lease if it is free, expired or already this owner's. Gives the epoch, or `None` if another holds it.
    fn acquire(
        &self,
        lease: &LeaseName,
        owner: Owner,
        ttl: Duration,
    ) -> impl Future<Output = Result<Option<i64>, StoreError>> + Send;
    /// Renews leases of this owner; gives those that it still holds.
    fn renew(
        &self,
        leases: &[LeaseName],
        owner: Owner,
        ttl: Duration,
    ) -> impl Future<Output = Result<Vec<LeaseName>, StoreError>> + Send;
    /// Gives a lease back, so that another takes it at once.
    fn release(&self, lease: &LeaseName, owner: Owner)
    -> impl Future<Output = Result<(), StoreError>> + Send;
    /// Completes when one of these leases may be free: when more leases were given back than `freed` counts, which it sets.
    /// A hint only: who waits asks by itself now and then. Never completes where the database cannot tell.
    ///
    /// # Cancel safety
    /// As [`Store::notified`].
    fn freed(&self, leases: &[LeaseName], freed: &mut u64) -> impl Future<Output = ()> + Send {
        let _ = (leases, freed);
        std::future::pending()
    }
    /// Says that `owner` works on `stage` for `ttl`, and gives the number of owners that do.
    fn join(
        &self,
        stage: &Stage,
        owner: Owner,
        ttl: Duration,
    ) -> impl Future<Output = Result<u32, StoreError>> + Send;
    /// Takes back what [`Store::join`] said.
    fn leave(&self, stage: &Stage, owner: Owner) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Waits until no write of this leader is under way. One whose answer was lost may still come to its end, and what is
    /// read before that is not what stands after. Nothing to do where a write cannot outlive the call.
    fn await_writes(&self, fence: &Fence) -> impl Future<Output = Result<(), StoreError>> + Send {
        let _ = fence;
        std::future::ready(Ok(()))
    }

    /// Opens the log for a stage, under the fence; registers the stage at `start` if it has no progress yet.
    fn open_log(
        &self,
        fence: &Fence,
        filter: Filter,
        start: Start,
    ) -> impl Future<Output = Result<Self::Log, StoreError>> + Send;

    /// Applies changes of a stage that move no progress.
    fn apply(&self, fence: &Fence, changes: &[Change])
    -> impl Future<Output = Result<(), StoreError>> + Send;
    /// As [`Store::apply`], in an open transaction.
    fn apply_in(
        &self,
        tx: &mut Self::Tx,
        fence: &Fence,
        changes: &[Change],
    ) -> impl Future<Output = Result<(), StoreError>> + Send;
    /// The heads of lanes that are due, the longest due first, at most `max`.
    fn due_heads(
        &self,
        fence: &Fence,
        max: u32,
    ) -> impl Future<Output = Result<Vec<HeldEvent>, StoreError>> + Send;
    /// How many lanes of this stage and share wait, and how long until the first of them is due.
    fn waiting(&self, fence: &Fence) -> impl Future<Output = Result<Waiting, StoreError>> + Send;
    /// Of these lanes, those that wait.
    fn waiting_lanes(
        &self,
        fence: &Fence,
        lanes: &[String],
    ) -> impl Future<Output = Result<Vec<String>, StoreError>> + Send;

    /// What the leader that worked last under this lease has marked, and its epoch.
    fn marker(
        &self,
        fence: &Fence,
    ) -> impl Future<Output = Result<Option<(i64, Marker)>, StoreError>> + Send {
        let _ = fence;
        std::future::ready(Ok(None))
    }
    /// Marks what this leader has in work. A store that keeps no markers never finds out which event ends its process.
    fn mark(&self, fence: &Fence, marker: &Marker) -> impl Future<Output = Result<(), StoreError>> + Send {
        let _ = (fence, marker);
        std::future::ready(Ok(()))
    }

    /// Begins a handler's transaction: as [`Store::begin`], with `timeout` also known to the database where it can be,
    /// so that a process which stops inside it blocks others no longer than that.
    fn begin_handler(&self, timeout: Duration) -> impl Future<Output = Result<Self::Tx, StoreError>> + Send;
    /// The first statement of a handler's transaction: looks whether the lane waits and enters the event in the inbox,
    /// with its twin if it has one: whichever half of a pair comes first is handled, and the other is its duplicate. A
    /// concurrent duplicate waits here for the other transaction's end.
    fn claim(
        &self,
        tx: &mut Self::Tx,
        fence: &Fence,
        claim: &Claim<'_>,
    ) -> impl Future<Output = Result<Claimed, StoreError>> + Send;
    /// Proves that a handler's transaction still stands: the handler swallowed no error that ended it, did not end it by
    /// itself, and the fence holds, to the end of the transaction. Comes before the framework's own writes: in a
    /// transaction that is gone they would be kept at once.
    fn prove_handler(
        &self,
        tx: &mut Self::Tx,
        fence: &Fence,
        token: &HandlerToken,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;
    /// Whether the connection of a handler's transaction still stands, also where the transaction has failed. Without an
    /// answer in a few seconds it does not.
    fn is_connected(&self, tx: &mut Self::Tx) -> impl Future<Output = bool> + Send {
        let _ = tx;
        std::future::ready(true)
    }
    /// Commits a transaction that was proven, and in which no statement failed since.
    fn commit_proven(&self, tx: Self::Tx) -> impl Future<Output = Result<(), StoreError>> + Send;
    /// As [`Store::commit_proven`], and begins the next handler's transaction on the same connection, in one round trip
    /// where the store can; `None` where it can't. It is used at once or rolled back.
    fn commit_and_begin(
        &self,
        tx: Self::Tx,
        timeout: Duration,
    ) -> impl Future<Output = Result<Option<Self::Tx>, StoreError>> + Send {
        let _ = timeout;
        async move { self.commit_proven(tx).await.map(|()| None) }
    }

    /// Dead letters by number, at most `max`.
    fn dead_letters(
        &self,
        filter: &DeadLetterFilter,
        max: u32,
    ) -> impl Future<Output = Result<Vec<DeadLetter>, StoreError>> + Send;
    /// Matching dead letters, counted by stage, type, version and reason, in that order.
    fn count_dead_letters(
        &self,
        filter: &DeadLetterFilter,
    ) -> impl Future<Output = Result<Vec<DeadLetterCount>, StoreError>> + Send;
    /// Records a request for each matching dead letter; gives how many were recorded (one already asked for is not).
    fn request(
        &self,
        filter: &DeadLetterFilter,
        request: Request,
        terms: &Terms,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send;
    /// Takes back the requests for matching dead letters on which nobody has acted yet; gives how many.
    fn cancel_requests(
        &self,
        filter: &DeadLetterFilter,
        terms: &Terms,
    ) -> impl Future<Output = Result<u64, StoreError>> + Send;
    /// The entries of the audit log, by number, at most `max`.
    fn audit(
        &self,
        filter: &AuditFilter,
        max: u32,
    ) -> impl Future<Output = Result<Vec<AuditEntry>, StoreError>> + Send;
    /// What a replay of this range would reach.
    fn plan_range(&self, range: &Range) -> impl Future<Output = Result<RangePlan, StoreError>> + Send;
    /// Records a replay of this range, unless it would reach nothing; gives its number and what it is to reach.
    fn replay_range(
        &self,
        range: &Range,
        terms: &Terms,
    ) -> impl Future<Output = Result<(Option<i64>, RangePlan), StoreError>> + Send;
    /// The replays of ranges, the newest first, at most `max`.
    fn range_replays(&self, max: u32) -> impl Future<Output = Result<Vec<RangeReplay>, StoreError>> + Send;
    /// Takes back the rest of a replay of a range; whether it was running.
    fn cancel_range(&self, id: i64) -> impl Future<Output = Result<bool, StoreError>> + Send;
    /// Holds the next events of the oldest running replay to this stage, at most `max` and no more than its rate allows: those
    /// that it wants and that are not handled (unless again), held or set aside already. Gives how many rows it looked at. The
    /// stage is led as a whole.
    fn take_up_range(
        &self,
        fence: &Fence,
        wanted: &Filter,
        max: u32,
    ) -> impl Future<Output = Result<u32, StoreError>> + Send {
        let _ = (fence, wanted, max);
        std::future::ready(Ok(0))
    }
    /// Acts on the requests of this stage and share that are due, at most `max`, and enters each in the audit log; gives how
    /// many. Those that were asked for at a limited rate and come late (nobody led) are not made up for. After a replay the event is the
    /// held head of its lane, due at once. A consumer's discard of one half of a pair is one of the other too, unless that
    /// is a dead letter of its own.
    fn act_on_requests(
        &self,
        fence: &Fence,
        max: u32,
    ) -> impl Future<Output = Result<u32, StoreError>> + Send;

    /// Removes a stage that nobody leads, in one transaction: progress, held events, dead letters and requests. Each event
    /// that it held or had set aside is entered in the audit log on the terms of `discard`; without those nothing is done
    /// while there are any. Its inbox stays.
    fn forget(
        &self,
        stage: &Stage,
        discard: Option<&Terms>,
    ) -> impl Future<Output = Result<Forgetting, StoreError>> + Send;
    /// Counts for people: log rows, per stage the lag, held, waiting keys and dead letters, who leads.
    fn status(&self) -> impl Future<Output = Result<Vec<StageStatus>, StoreError>> + Send;
    /// Looks for what is wrong in the database, or will be. A store that does not look finds nothing.
    fn examine(
        &self,
        tolerance: &Tolerance,
    ) -> impl Future<Output = Result<Vec<Finding>, StoreError>> + Send {
        let _ = tolerance;
        std::future::ready(Ok(Vec::new()))
    }
    /// Topics of the newest events of the log and of the consumers that work on a broker; found without reading the whole log, so
    /// some may be missing.
    fn topics(&self) -> impl Future<Output = Result<Vec<String>, StoreError>> + Send {
        std::future::ready(Ok(Vec::new()))
    }
    /// One small step of retention and sweeps; gives how long nothing is to be done: zero when there is more.
    fn sweep(
        &self,
        owner: Owner,
        retention: &Retention,
    ) -> impl Future<Output = Result<Duration, StoreError>> + Send;
}

/// What one process tells the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News {
    /// There may be something to read in the log.
    Logged,
    /// There may be another scheduled event that is due first.
    Scheduled,
}

/// What a handler's transaction claims: an event, and with it the other half of its cutover pair.
#[derive(Debug)]
pub struct Claim<'a> {
    /// The event.
    pub envelope: &'a Envelope,
    /// Whether it comes from its own held row: then neither the lane's mark nor the age stops it.
    pub from_held: bool,
    /// The inbox's window.
    pub window: Duration,
}

impl Claim<'_> {
    /// The other half of the pair. A foreign event may name itself, which makes no pair.
    #[must_use]
    pub fn twin(&self) -> Option<EventId> {
        self.envelope.twin.map(|twin| twin.id).filter(|id| *id != self.envelope.id)
    }
}

/// The answer to a [`Claim`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claimed {
    /// Handle it; show the token at the commit.
    Fresh(HandlerToken),
    /// It was handled before, or the other half of its pair was.
    Duplicate,
    /// Its lane waits.
    LaneWaits,
    /// It is older than the window, so whether it was handled is not known any more.
    OlderThanWindow,
}

/// The marks of one stage and share in short.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Waiting {
    /// Lanes that wait, parked ones included.
    pub lanes: u64,
    /// The time until the first lane is due: zero when one is, `None` when none will be.
    pub due_in: Option<Duration>,
}

/// Identifies a handler's transaction, so that one which the handler ended by itself is noticed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandlerToken(pub String);

/// Where an event stands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventState {
    /// No event of this id is known: never enqueued, rolled back, or past retention.
    Unknown,
    /// Waiting for the time it is due.
    Scheduled,
    /// In the log, and some stage has not settled it.
    Pending,
    /// Settled by every stage.
    Settled,
    /// Waiting with its key in these stages.
    Held(Vec<Stage>),
    /// Dead letter of these stages.
    Dead(Vec<Stage>),
}

/// What became of a stage that was to be forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Forgetting {
    /// It is forgotten, and with it these events.
    Forgotten {
        /// Events that waited.
        held: u64,
        /// Events that were set aside.
        dead_letters: u64,
    },
    /// Nothing was done: a process leads it.
    Led,
    /// Nothing was done: it has events that were not delivered.
    Holds {
        /// Events that wait.
        held: u64,
        /// Events that are set aside.
        dead_letters: u64,
    },
    /// Nothing is known of it.
    Unknown,
}

/// A statement for drivers other than ours.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// The SQL text, with the placeholders of the database.
    pub sql: String,
    /// The values, in the order of the placeholders.
    pub values: Vec<StatementValue>,
}

/// One value of a [`Statement`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StatementValue {
    /// A UUID (text in SQLite), or null.
    Uuid(Option<uuid::Uuid>),
    /// Text, or null.
    Text(Option<String>),
    /// A 32-bit integer, or null.
    Integer(Option<i32>),
}

/// One stage in numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageStatus {
    /// The relay or consumer.
    pub stage: Stage,
    /// Log rows above its progress (an upper bound where a filter hides rows); `None` when it reads no log.
    pub lag: Option<u64>,
    /// Events held, heads and those behind.
    pub held: u64,
    /// Keys that wait, parked ones included.
    pub waiting_keys: u64,
    /// Keys that wait for a request.
    pub parked_keys: u64,
    /// Dead letters.
    pub dead_letters: u64,
    /// Whether a live leader works on it.
    pub led: bool,
}

/// How long rows are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retention {
    /// Of the log, after every stage has settled it; default 7 days. On PostgreSQL no longer than `migrate` was told, since
    /// the log is a ring that was made for that, and rows go a sixth of that time after another.
    pub log: Duration,
    /// Of the inbox; default 7 days.
    pub inbox: Duration,
    /// How long a stage that lags is waited for; default 7 days.
    pub wait_max: Duration,
    /// Of dead letters, after their last failure; default 90 days. Then they are discarded, and a key that waits for one
    /// goes on.
    pub dead_letters: Duration,
    /// Of the audit log, and of replays of ranges that have ended; default 365 days.
    pub audit: Duration,
}

impl Default for Retention {
    fn default() -> Self {
        let days = |days: u64| Duration::from_secs(days * 24 * 3600);
        Self { log: days(7), inbox: days(7), wait_max: days(7), dead_letters: days(90), audit: days(365) }
    }
}

/// A transaction that a handler can take by `&mut`: the [`Store::Tx`] of some store.
#[diagnostic::on_unimplemented(
    message = "a handler cannot take `&mut {Self}`",
    label = "this is no transaction of a store",
    note = "take `&mut PgTransaction<'_>` or `&mut SqliteTransaction<'_>` of sqlx; what is shared comes as `State<T>`"
)]
pub trait HandlerTx: Send + 'static {}

/// What can be written to in a caller's open transaction: `sqlx::Transaction` of the store's database (savepoints
/// included) and the transaction of [`Outbox::begin`](crate::Outbox::begin).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an open transaction of this outbox's database",
    label = "enqueue needs `&mut` of an open transaction",
    note = "a pool or a plain connection would write the event apart from the state change; begin a transaction first, \
            for example `let mut tx = outbox.begin().await?`"
)]
pub trait OpenTx<S: Store>: sealed::Sealed + Send {
    /// The connection inside the transaction.
    fn connection(&mut self) -> &mut S::Connection;

    /// Whether its commit wakes readers by itself.
    #[doc(hidden)]
    fn nudges_at_commit(&self) -> bool {
        false
    }

    /// An event was scheduled.
    #[doc(hidden)]
    fn scheduled(&mut self) {}

    /// The last statement was enqueue's, and it succeeded.
    #[doc(hidden)]
    fn wrote_last(&mut self) {}
}

pub(crate) mod sealed {
    /// Keeps [`OpenTx`](super::OpenTx) ours.
    pub trait Sealed {}
}
