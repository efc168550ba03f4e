//! Producers, relays and consumers, each a process, and everything broken that can be while they work: what was promised
//! must hold all the same.
//!
//! One process controls: it starts the servers and the crew, lets the nemeses break things, and decides
//! at the end from what each process recorded whether the promises G1 to G5 were kept
//! ([`History`](crate::history::History)), and G7: that all settles once nothing breaks.
//!
//! A seed decides what is broken and when; it plays the same faults again, though not at the same instructions.

mod actor;
mod arena;
mod consumer;
mod crew;
mod deaths;
mod ending;
mod event;
mod figures;
mod ground;
mod mirror;
mod mortal_broker;
mod nemesis;
mod person;
mod poison;
mod producer;
mod ranges;
mod record;
mod stall;
mod store;
mod verdict;

use actor::{Orders, Role, Scene};
use arena::Arena;
use crew::Crew;
use figures::Figures;
use ground::Ground;
use outbox::postgres::PostgresStore;
use outbox::sqlite::SqliteStore;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::File;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::TortureStore;
use tokio::sync::{Mutex, watch};
use tokio::task::JoinSet;

/// The relay that publishes to the broker.
const RELAY: &str = "default";

/// From the death of a leader to the work of the next one.
const TAKEOVER: Duration = Duration::from_millis(1_500);

/// The attempts of its relays and consumers.
const ATTEMPTS: u32 = 6;

/// How often the crew is tended.
const TEND: Duration = Duration::from_millis(50);

/// Which database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum StoreKind {
    /// A private server, which is killed and restarted.
    Postgres,
    /// One file, which all processes share.
    Sqlite,
}

/// Which broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BrokerKind {
    /// None: the consumers read the log, and so does a relay that only mirrors it.
    Local,
    /// A private server, which is killed and restarted; relays publish to it beside the one that mirrors the log.
    Nats,
    /// The same.
    Redis,
    /// The same.
    RabbitMq,
    /// The same.
    Kafka,
}

/// A fault of ours, to see that it is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Plant {
    /// What was rolled back is written all the same.
    Phantom,
    /// A handler leaves out its effect.
    Loss,
    /// The events of a transaction are written in another order.
    Inversion,
    /// A handler has its effect twice.
    Double,
    /// A handler fails for good with an event that nothing is wrong with.
    Blame,
    /// The second relay's broker confirms what it has not taken.
    Gap,
    /// A replay of a range has events handled again.
    Again,
}

/// One torture.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// How long things break.
    pub span: Duration,
    /// Decides what breaks when.
    pub seed: u64,
    /// The database.
    pub store: StoreKind,
    /// The broker.
    pub broker: BrokerKind,
    /// How long nothing may move at the end while something is missing.
    pub patience: Duration,
    /// What goes wrong on purpose.
    pub plant: Option<Plant>,
    /// Whether the records and logs are kept also when all went well.
    pub keeps: bool,
}

impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let minutes = self.span.as_secs_f64() / 60.0;
        let pair = format!("--store {:?} --broker {:?}", self.store, self.broker).to_lowercase();
        write!(f, "--minutes {minutes:.3} --seed {} {pair}", self.seed)
    }
}

/// Tortures and prints what happened. A server that is not installed is a skip that has been printed.
pub async fn torture(options: &Options) -> ExitCode {
    match options.store {
        StoreKind::Postgres => torture_on::<PostgresStore>(options).await,
        StoreKind::Sqlite => torture_on::<SqliteStore>(options).await,
    }
}

/// Does what a process of the crew is told.
pub async fn act(orders: &str) -> ExitCode {
    let orders: Orders = serde_json::from_str(orders).expect("the orders are those of this program");
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false).init();
    match actor::act(&orders).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(error = &*error as &dyn std::error::Error, "the process gives up");
            ExitCode::FAILURE
        }
    }
}

async fn torture_on<S: TortureStore>(options: &Options) -> ExitCode {
    let prefix = format!("outbox-torture-{:?}-{:?}-{}-", options.store, options.broker, options.seed);
    let made = tempfile::Builder::new().prefix(&prefix.to_lowercase()).tempdir();
    let folder = made.expect("a folder can be made");
    let log = File::create(folder.path().join("control.log")).expect("the folder can be written");
    tracing_subscriber::fmt().with_writer(std::sync::Mutex::new(log)).with_ansi(false).init();
    let Some(ground) = Ground::start(options, folder.path()).await else {
        return ExitCode::SUCCESS;
    };
    ground.introduce(S::CONSUMER).await;
    let arena = Arc::new(arena::<S>(*options, folder.path(), ground).await);
    let result = play(&arena).await;
    print!("{options}:\n{}", arena.figures);
    if let Err(problem) = &result {
        println!("{problem}\nto torture in the same way again: cargo xtask torture {options}");
    }
    if options.keeps || result.is_err() {
        println!("the records and logs are in {}", folder.keep().display());
    }
    if result.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn arena<S: TortureStore>(options: Options, folder: &Path, ground: Ground) -> Arena<S> {
    let store = S::open(&ground.database).await.expect("the database was just made");
    store.migrate().await.expect("an empty database can be migrated");
    store.create_tables().await.expect("an empty database takes tables");
    let scene = Scene::new(folder, "control", None).expect("the folder can be written");
    Arena {
        options,
        folder: folder.to_owned(),
        outbox: actor::outbox(store),
        ground,
        crew: Mutex::new(Crew::new(options, folder.to_owned())),
        scene: Arc::new(scene),
        person: Mutex::default(),
        figures: Figures::default(),
        calm: watch::Sender::new(false),
        problems: std::sync::Mutex::default(),
    }
}

async fn play<S: TortureStore>(arena: &Arc<Arena<S>>) -> Result<(), String> {
    let options = &arena.options;
    for role in [Role::Producer, Role::Relay, Role::Consumer] {
        arena.crew.lock().await.want(role, 2);
    }
    let mut tasks = JoinSet::new();
    let tending = tokio::spawn(tend(Arc::clone(arena)));
    nemesis::start(arena, &mut tasks);
    let began = Instant::now();
    arena.rest(options.span).await;
    arena.calm.send_replace(true);
    while let Some(ended) = tasks.join_next().await {
        ended.expect("no nemesis panics");
    }
    let result = arena.end().await;
    tending.abort();
    arena.figures.add("seconds until all had settled", (began.elapsed() - options.span).as_secs());
    let mut problems = std::mem::take(&mut *arena.problems.lock().expect("nobody panics here"));
    problems.append(&mut arena.crew.lock().await.problems);
    problems.extend(result.err());
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

async fn tend<S: TortureStore>(arena: Arc<Arena<S>>) {
    loop {
        arena.crew.lock().await.tend(&arena.ground, &arena.figures).await;
        tokio::time::sleep(TEND).await;
    }
}
