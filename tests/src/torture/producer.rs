//! Enqueues, in transactions that lock their key first and end in every way there is.

use super::Plant;
use super::actor::Scene;
use super::event::{Hinted, Plan, Said, Told};
use super::record::Step;
use super::store::TortureStore;
use crate::history::{Happening, TxId};
use outbox::envelope::EventId;
use outbox::store::OpenTx;
use outbox::{Cancellation, Draft, Outbox, Tx, draft};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};
use tokio::task::JoinSet;
use tokio::time::sleep;

/// Transactions under way at once in a process.
const HANDS: u64 = 3;

/// Keys that never have a bad event, and those that may.
const GOOD_KEYS: u32 = 8;
const BAD_KEYS: u32 = 6;

/// The most events of a transaction; the numbers of two transactions are that far apart.
const EVENTS_MAX: u64 = 4;

/// How long a hand rests between two transactions, at most.
const REST_MAX: Duration = Duration::from_millis(120);

/// How far ahead an event is scheduled, at most.
const DUE_MAX: Duration = Duration::from_millis(2_500);

/// Writes events. Cheap to clone.
pub(super) struct Producer<S: TortureStore> {
    outbox: Outbox<S>,
    scene: Arc<Scene>,
    process: u64,
    seed: u64,
    transactions: Arc<AtomicU64>,
}

impl<S: TortureStore> Clone for Producer<S> {
    fn clone(&self) -> Self {
        Self {
            outbox: self.outbox.clone(),
            scene: Arc::clone(&self.scene),
            transactions: Arc::clone(&self.transactions),
            ..*self
        }
    }
}

type Failed = Box<dyn Error + Send + Sync>;

impl<S: TortureStore> Producer<S> {
    /// A producer whose transactions carry the number of its process.
    pub(super) fn new(outbox: Outbox<S>, scene: Arc<Scene>, process: u64, seed: u64) -> Self {
        Self { outbox, scene, process, seed, transactions: Arc::default() }
    }

    /// Produces until told to stop, then ends what is under way.
    pub(super) async fn work_until(self, stop: impl Future<Output = ()>) {
        let stopped = Arc::new(AtomicBool::new(false));
        let mut hands = JoinSet::new();
        for hand in 0..HANDS {
            let (producer, stopped) = (self.clone(), Arc::clone(&stopped));
            hands.spawn(async move {
                let mut chance = StdRng::seed_from_u64(producer.seed ^ (producer.process << 8) ^ hand);
                while !stopped.load(Ordering::SeqCst) {
                    let events = Self::events(&mut chance);
                    if let Err(error) = producer.transact(&mut chance, events).await {
                        tracing::debug!(error = &*error as &dyn Error, "a transaction failed");
                        // Whatever is down, asking it without a pause helps nobody.
                        sleep(REST_MAX).await;
                    }
                    sleep(chance.random_range(Duration::ZERO..REST_MAX)).await;
                }
            });
        }
        stop.await;
        stopped.store(true, Ordering::SeqCst);
        while hands.join_next().await.is_some() {}
    }

    /// Some events of one key, and some of none. Their numbers are missing yet.
    fn events(chance: &mut StdRng) -> Vec<Said> {
        let count = chance.random_range(1..EVENTS_MAX);
        let may_be_bad = chance.random_ratio(BAD_KEYS, BAD_KEYS + GOOD_KEYS);
        let key = match may_be_bad {
            true => format!("bad-{}", chance.random_range(0..BAD_KEYS)),
            false => format!("good-{}", chance.random_range(0..GOOD_KEYS)),
        };
        let mut one = || {
            let mut plan = Plan::Succeed;
            if may_be_bad && chance.random_ratio(1, 60) {
                let bad = Plan::BAD.into_iter().filter(|plan| !plan.is_deadly());
                plan = bad.clone().nth(chance.random_range(0..bad.count())).expect("there is such a plan");
            }
            let is_hint = plan != Plan::TooLarge && chance.random_ratio(1, 8);
            match is_hint {
                true => Said::Hinted(Hinted { n: 0, plan }),
                false => Said::Told(Told::new(&key, 0, plan, chance.random_range(0..400))),
            }
        };
        (0..count).map(|_| one()).collect()
    }

    /// Runs one transaction. After an error nobody knows whether it committed.
    pub(super) async fn transact(&self, chance: &mut StdRng, events: Vec<Said>) -> Result<(), Failed> {
        let tx = self.next_transaction();
        let events: Vec<Said> = (0..).zip(events).map(|(place, said)| said.numbered(tx, place)).collect();
        // With its events in another order, the wrong one would be taken back.
        let may_wait = !self.scene.plants(Plant::Inversion);
        let scheduled =
            events.iter().position(|said| may_wait && said.key().is_none() && chance.random_ratio(1, 3));
        let mut open = self.outbox.begin().await?;
        let ids = self.write(chance, &mut open, tx, &events, scheduled).await?;
        let has_committed = self.end(chance, open, tx).await?;
        if !has_committed && self.scene.plants(Plant::Phantom) {
            let mut open = self.outbox.begin().await?;
            self.outbox.enqueue_batch(&mut open, events.iter().map(Said::draft)).await?;
            open.commit().await?;
        }
        match scheduled {
            Some(place) if has_committed && chance.random_ratio(1, 2) => {
                self.cancel(ids[place], &events[place]).await
            }
            _ => Ok(()),
        }
    }

    /// Locks the key, enqueues, and enters the transaction into the ledger.
    async fn write(
        &self,
        chance: &mut StdRng,
        open: &mut Tx<S>,
        tx: TxId,
        events: &[Said],
        scheduled: Option<usize>,
    ) -> Result<Vec<EventId>, Failed> {
        let record = &self.scene.record;
        if let Some(key) = events.iter().find_map(Said::key) {
            let version = S::lock_key(open.connection(), key).await?;
            record.write(Step::Locked { tx, key: key.to_owned(), version });
        }
        // The last statement of a commit without a proof of its own is ours.
        let enters_first = chance.random_ratio(1, 2);
        if enters_first {
            S::enter(open.connection(), tx).await?;
        }
        for said in events {
            let (event, bad) = (said.name(), said.plan() != Plan::Succeed);
            record.happened(Happening::Enqueue { tx, event, bad });
        }
        let mut drafts: Vec<Draft> = events.iter().map(Said::draft).collect();
        if let Some(place) = scheduled {
            let due = SystemTime::now() + chance.random_range(Duration::ZERO..DUE_MAX);
            drafts[place] = events[place].draft().at(due);
        }
        if self.scene.plants(Plant::Inversion) {
            drafts.reverse();
        }
        let ids = self.outbox.enqueue_batch(open, drafts).await?;
        if !enters_first {
            S::enter(open.connection(), tx).await?;
        }
        Ok(ids)
    }

    /// Ends a transaction, some after a while; gives whether it committed.
    async fn end(&self, chance: &mut StdRng, open: Tx<S>, tx: TxId) -> Result<bool, Failed> {
        let record = &self.scene.record;
        match chance.random_range(0..1_000) {
            // SQLite has one writer, for whom everybody would wait.
            0..4 if S::HANDLERS_MAX > 1 => {
                sleep(chance.random_range(Duration::from_secs(1)..Duration::from_secs(4))).await;
            }
            4..100 => sleep(chance.random_range(Duration::ZERO..Duration::from_millis(100))).await,
            _ => {}
        }
        match chance.random_range(0..100) {
            0..10 => {
                open.rollback().await;
                record.happened(Happening::RolledBack(tx));
                Ok(false)
            }
            10..13 => Ok(false),
            _ => {
                record.happened(Happening::Commit(tx));
                open.commit().await?;
                record.happened(Happening::Committed(tx));
                Ok(true)
            }
        }
    }

    /// Takes a scheduled event back, unless it is too late.
    async fn cancel(&self, id: EventId, said: &Said) -> Result<(), Failed> {
        let tx = self.next_transaction();
        let mut open = self.outbox.begin().await?;
        if self.outbox.cancel(&mut open, id).await? == Cancellation::Cancelled {
            let event = said.name();
            self.scene.record.write(Step::Cancelled { tx, event });
        }
        S::enter(open.connection(), tx).await?;
        Ok(open.commit().await?)
    }

    fn next_transaction(&self) -> TxId {
        TxId((self.process << 32) + self.transactions.fetch_add(1, Ordering::Relaxed))
    }
}

impl Said {
    fn key(&self) -> Option<&str> {
        match self {
            Self::Told(told) => Some(&told.key),
            Self::Hinted(_) => None,
        }
    }

    fn draft(&self) -> Draft {
        match self {
            Self::Told(told) => draft(told),
            Self::Hinted(hinted) => draft(hinted),
        }
    }

    /// The event with the number that it gets in its transaction.
    fn numbered(mut self, tx: TxId, place: u64) -> Self {
        let number = (tx.0 * EVENTS_MAX + place).cast_signed();
        match &mut self {
            Self::Told(told) => told.n = number,
            Self::Hinted(hinted) => hinted.n = number,
        }
        self
    }
}
