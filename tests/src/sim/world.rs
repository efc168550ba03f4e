//! What everybody in a simulation shares: chance, the clock, the database, and the record of what happened.

use super::Mutation;
use super::chance::Chance;
use super::database::{Database, State, Xid};
use super::executor::{Process, Schedule};
use crate::history::{Happening, History};
use outbox::envelope::EventId;
use outbox_runtime::simulation::set_boot_time;
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::task::Poll;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

/// The time since boot at which a simulation begins.
const BOOTED: Duration = Duration::from_secs(1_000);

/// One simulation.
#[derive(Debug)]
pub(super) struct World {
    pub(super) mutation: Mutation,
    pub(super) schedule: Schedule,
    /// Somebody's transaction has ended.
    pub(super) ended: Notify,
    began: Instant,
    /// How many keys there are.
    keys: u64,
    /// Of a thousand calls to the database, how many are lost, how many unanswered, and how many late.
    cuts: u64,
    /// Of a thousand commits, how many arrive when their client has given up.
    late_commits: u64,
    chance: Chance,
    tells: bool,
    /// Whether a rule was broken.
    is_breached: AtomicBool,
    database: Mutex<Database>,
    state: Mutex<Shared>,
    /// What mistakes remember: numbers that a session took at once, and how far a process had read for a stage.
    cached_numbers: Mutex<BTreeMap<Process, Vec<i64>>>,
    read_before: Mutex<BTreeMap<(Process, String), i64>>,
}

#[derive(Debug, Default)]
struct Shared {
    happened: Vec<Happened>,
    breach: Option<String>,
    /// Whether things still break.
    is_calm: bool,
    /// Whether what was refused before is taken now.
    is_mended: bool,
    /// How many transactions and events there were, and how many producers are done.
    transactions: u64,
    events: i64,
    done_producers: u64,
    processes: u32,
    database_is_down: bool,
    /// How long each process was paused.
    paused: BTreeMap<Process, Duration>,
    /// How often the database has started.
    boot: u32,
    /// How often a stage tried an event.
    tries: BTreeMap<(String, EventId), u32>,
}

#[derive(Debug)]
struct Happened {
    at: Duration,
    what: Happening,
    /// It happened if this transaction is committed in the end: a crash may take it back.
    unless_lost: Option<Xid>,
}

impl World {
    pub(super) fn new(seed: u64, mutation: Mutation, tells: bool) -> Self {
        let chance = Chance::new(seed);
        let cuts = [0, 4, 12, 40][chance.below(4) as usize];
        let keys = 1 + chance.below(4);
        let late_commits = [0, 0, 20, 80][chance.below(4) as usize];
        Self {
            mutation,
            schedule: Schedule::default(),
            ended: Notify::new(),
            began: Instant::now(),
            keys,
            cuts,
            late_commits,
            chance,
            tells,
            is_breached: AtomicBool::new(false),
            database: Mutex::default(),
            state: Mutex::default(),
            cached_numbers: Mutex::default(),
            read_before: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, Shared> {
        self.state.lock().unwrap()
    }

    pub(super) fn database(&self) -> MutexGuard<'_, Database> {
        self.database.lock().unwrap()
    }

    /// The time since the beginning: the database's clock.
    pub(super) fn now(&self) -> Duration {
        self.began.elapsed()
    }

    pub(super) fn keys(&self) -> u64 {
        self.keys
    }

    pub(super) fn late_commits(&self) -> u64 {
        self.late_commits
    }

    pub(super) fn cuts(&self) -> u64 {
        self.cuts
    }

    /// A number below `end`.
    pub(super) fn below(&self, end: u64) -> u64 {
        self.chance.below(end)
    }

    /// True in so many of a thousand cases.
    pub(super) fn in_1000(&self, cases: u64) -> bool {
        self.below(1_000) < cases
    }

    pub(super) fn millis(&self, range: Range<u64>) -> Duration {
        Duration::from_millis(range.start + self.below(range.end - range.start))
    }

    /// Lets others go on, now and then for a while, and rarely for long.
    pub(super) async fn pause(&self) {
        match self.below(1_000) {
            0 if !self.is_calm() => sleep(self.millis(500..4_000)).await,
            0..10 => sleep(self.millis(5..100)).await,
            10..100 => sleep(self.millis(1..4)).await,
            _ => give_way().await,
        }
    }

    /// The process whose future is polled next sees its own time since boot.
    pub(super) fn enter(&self, process: Process) {
        let lag = match self.mutation {
            Mutation::LeaseOutlived => self.state().paused.get(&process).copied().unwrap_or_default(),
            _ => Duration::ZERO,
        };
        set_boot_time(Some(BOOTED + self.now() - lag));
    }

    pub(super) fn was_paused(&self, process: Process, span: Duration) {
        *self.state().paused.entry(process).or_default() += span;
    }

    pub(super) fn is_calm(&self) -> bool {
        self.state().is_calm
    }

    pub(super) fn calm_down(&self) {
        self.state().is_calm = true;
        self.tell(|| "nothing breaks any more".to_owned());
    }

    pub(super) fn is_mended(&self) -> bool {
        self.state().is_mended
    }

    pub(super) fn mend(&self) {
        self.state().is_mended = true;
    }

    pub(super) fn next_transaction(&self) -> crate::history::TxId {
        let mut state = self.state();
        state.transactions += 1;
        crate::history::TxId(state.transactions)
    }

    pub(super) fn next_event(&self) -> i64 {
        let mut state = self.state();
        state.events += 1;
        state.events
    }

    pub(super) fn next_process(&self) -> Process {
        let mut state = self.state();
        state.processes += 1;
        Process(state.processes)
    }

    pub(super) fn producer_is_done(&self) {
        self.state().done_producers += 1;
    }

    pub(super) fn done_producers(&self) -> u64 {
        self.state().done_producers
    }

    pub(super) fn database_is_down(&self) -> bool {
        self.state().database_is_down
    }

    /// The database dies: what was not durable is gone, and with it every connection.
    pub(super) fn crash_database(&self) {
        self.database().crash();
        let mut state = self.state();
        state.database_is_down = true;
        state.boot += 1;
        drop(state);
        self.ended.notify_waiters();
        self.tell(|| "the database crashes".to_owned());
    }

    pub(super) fn start_database(&self) {
        self.state().database_is_down = false;
        self.tell(|| "the database is back".to_owned());
    }

    pub(super) fn boot(&self) -> u32 {
        self.state().boot
    }

    pub(super) fn cached_numbers(&self) -> MutexGuard<'_, BTreeMap<Process, Vec<i64>>> {
        self.cached_numbers.lock().unwrap()
    }

    pub(super) fn read_before(&self) -> MutexGuard<'_, BTreeMap<(Process, String), i64>> {
        self.read_before.lock().unwrap()
    }

    /// A stage tries an event: publishes it, or calls its handler.
    pub(super) fn tried(&self, stage: &str, event: EventId) {
        *self.state().tries.entry((stage.to_owned(), event)).or_default() += 1;
    }

    pub(super) fn tries(&self, stage: &str, event: EventId) -> u32 {
        self.state().tries.get(&(stage.to_owned(), event)).copied().unwrap_or_default()
    }

    pub(super) fn record(&self, what: Happening) {
        self.record_unless_lost(what, None);
    }

    pub(super) fn record_unless_lost(&self, what: Happening, unless_lost: Option<Xid>) {
        self.tell(|| what.to_string());
        let at = self.now();
        self.state().happened.push(Happened { at, what, unless_lost });
    }

    /// A rule is broken that no history shows. The first one counts.
    pub(super) fn breach(&self, what: impl Into<String>) {
        let what = what.into();
        self.tell(|| format!("BREACH: {what}"));
        self.state().breach.get_or_insert(what);
        self.is_breached.store(true, Ordering::Relaxed);
    }

    pub(super) fn breached(&self) -> Option<String> {
        if !self.is_breached.load(Ordering::Relaxed) {
            return None;
        }
        self.state().breach.clone()
    }

    /// Prints what goes on, for who looks into one seed.
    pub(super) fn tell(&self, what: impl FnOnce() -> String) {
        if self.tells {
            println!("{:>9.3}s  {}", self.now().as_secs_f64(), what());
        }
    }

    /// Adds everything that happened to a history.
    pub(super) fn fill(&self, history: &mut History) {
        let database = self.database();
        for Happened { at, what, unless_lost } in &self.state().happened {
            if unless_lost.is_none_or(|xid| database.txs.state(xid) == State::Committed) {
                history.record(*at, what.clone());
            }
        }
    }
}

/// Lets other tasks go first.
async fn give_way() {
    let mut gave = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut gave, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
