//! What happened in a world, and whether the promises G1 to G5 held: decided from the record alone.
//!
//! A world records what it does and sees, in the order in which it learns of it: each enqueue with the end of its
//! transaction, each publish, delivery and effect, and at the end where the events stand that did not go through.
//! [`History::check`] then looks for
//! - *phantom* (G1): an event that got out though its transaction did not commit, or before it was told to;
//! - *lost* (G2): a committed event that a reader neither got nor holds nor set aside;
//! - *inverted* (G3): two events of one key whose transactions were ordered reached a reader first in the other order.
//!   Ordered means: the enqueue of the second began after the commit of the first was acknowledged, or both were enqueued
//!   in one transaction. A skipped, discarded or replayed event is in no order;
//! - *doubled* (G4): an event that one consumer handled twice;
//! - *not isolated* (G5): a good event that was set aside, or that took too long though its key has no bad event.
//!
//! A transaction whose commit was sent and never answered may have committed or not, but not by half.

mod check;
mod order;
mod story;

pub use check::{Fault, Kind};

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Tells events apart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EventName {
    /// The topic.
    pub topic: String,
    /// The partition key; `None` is in no order.
    pub key: Option<String>,
    /// Its number, one of a kind in its topic and key.
    pub n: i64,
}

impl EventName {
    /// The event of that topic, key and number.
    #[must_use]
    pub fn new(topic: &str, key: Option<&str>, n: i64) -> Self {
        Self { topic: topic.to_owned(), key: key.map(str::to_owned), n }
    }
}

impl fmt::Display for EventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.key {
            Some(key) => write!(f, "{}/{key} #{}", self.topic, self.n),
            None => write!(f, "{} #{}", self.topic, self.n),
        }
    }
}

/// Tells transactions apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TxId(pub u64);

/// One thing that happened. A stage is a relay or a consumer, by the name that its records carry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Happening {
    /// An enqueue begins.
    Enqueue {
        /// In this transaction, which has locked what it locks.
        tx: TxId,
        /// Of this event.
        event: EventName,
        /// Whether somebody is going to refuse the event.
        bad: bool,
    },
    /// The commit was sent.
    Commit(TxId),
    /// The commit was acknowledged.
    Committed(TxId),
    /// The transaction was rolled back, or told that it is.
    RolledBack(TxId),
    /// Something became of an event at a stage.
    Became {
        /// What.
        fate: Fate,
        /// Where.
        stage: String,
        /// Of which event.
        event: EventName,
    },
    /// From here on the stage cannot work, through no fault of its own.
    Down(String),
    /// The stage can work again.
    Up(String),
}

/// What becomes of an event at a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Fate {
    /// The broker has it, from this relay.
    Published,
    /// A handler of this consumer was called with it.
    Delivered,
    /// An effect of it is committed.
    Handled,
    /// It waits with its key.
    Held,
    /// It is a dead letter, for which the rest of its key waits.
    Parked,
    /// It is a dead letter, and the rest of its key goes on.
    Skipped,
    /// A person asked for it to be tried again.
    Replayed,
    /// A person discarded it.
    Discarded,
}

impl Fate {
    /// This fate of one event at one stage.
    #[must_use]
    pub fn of(self, stage: &str, event: &EventName) -> Happening {
        Happening::Became { fate: self, stage: stage.to_owned(), event: event.clone() }
    }
}

/// A happening and its time since the beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    at: Duration,
    what: Happening,
}

/// Who must get every committed event of its topics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reader {
    /// A relay or a consumer.
    pub stage: String,
    /// The topics it reads; empty means all.
    pub topics: Vec<String>,
    /// What it must bring an event to: [`Fate::Published`] or [`Fate::Handled`].
    pub goal: Fate,
    /// The relay that it gets its events from; `None`: it reads them where they were enqueued.
    pub behind: Option<String>,
    /// Whether it reads only what has a key.
    pub keyed: bool,
}

impl Reader {
    /// A relay of all topics.
    #[must_use]
    pub fn relay(stage: &str) -> Self {
        Self {
            stage: stage.to_owned(),
            topics: Vec::new(),
            goal: Fate::Published,
            behind: None,
            keyed: false,
        }
    }

    /// A consumer of all topics.
    #[must_use]
    pub fn consumer(stage: &str) -> Self {
        Self { stage: stage.to_owned(), topics: Vec::new(), goal: Fate::Handled, behind: None, keyed: false }
    }

    /// Whether it must get that event, once it is committed.
    #[must_use]
    pub fn takes(&self, event: &EventName) -> bool {
        (self.topics.is_empty() || self.topics.contains(&event.topic)) && (event.key.is_some() || !self.keyed)
    }
}

/// What happened in a world.
#[derive(Debug, Clone, Default)]
pub struct History {
    entries: Vec<Entry>,
    readers: Vec<Reader>,
    /// The longest time from an acknowledged commit to a reader, while the reader can work.
    delay_max: Option<Duration>,
}

impl History {
    /// Nothing has happened yet.
    #[must_use]
    pub fn new(readers: impl IntoIterator<Item = Reader>) -> Self {
        Self { entries: Vec::new(), readers: readers.into_iter().collect(), delay_max: None }
    }

    /// Also holds the time that good events take against this limit.
    #[must_use]
    pub fn delayed_at_most(self, delay_max: Duration) -> Self {
        Self { delay_max: Some(delay_max), ..self }
    }

    /// One more reader must get every event.
    pub fn read_by(&mut self, reader: Reader) {
        self.readers.push(reader);
    }

    /// Records what happened at that time since the beginning.
    pub fn record(&mut self, at: Duration, what: Happening) {
        self.entries.push(Entry { at, what });
    }

    /// Decides whether the promises held.
    ///
    /// # Errors
    /// The fault that is told in the fewest words.
    pub fn check(&self) -> Result<(), Fault> {
        check::check(self)
    }
}

/// A history that many tasks write to, by the clock of this process. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Recorder {
    state: Arc<Mutex<State>>,
    began: Instant,
}

#[derive(Debug, Default)]
struct State {
    history: History,
    transactions: u64,
}

impl Default for Recorder {
    fn default() -> Self {
        Self { state: Arc::default(), began: Instant::now() }
    }
}

impl Recorder {
    /// The time since the beginning.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Records what happened just now.
    pub fn record(&self, what: Happening) {
        let mut state = self.state.lock().unwrap();
        state.history.record(self.elapsed(), what);
    }

    /// Records that a transaction begins to enqueue these events, in this order.
    #[must_use]
    pub fn enqueue(&self, events: impl IntoIterator<Item = (EventName, bool)>) -> TxId {
        let mut state = self.state.lock().unwrap();
        state.transactions += 1;
        let (at, tx) = (self.elapsed(), TxId(state.transactions));
        for (event, bad) in events {
            state.history.record(at, Happening::Enqueue { tx, event, bad });
        }
        tx
    }

    /// The history so far.
    #[must_use]
    pub fn so_far(&self) -> History {
        self.state.lock().unwrap().history.clone()
    }
}
