//! One process of the torture: a producer, a relay or a consumer, until it is told to stop or dies.

use super::event::Told;
use super::mirror::Mirror;
use super::mortal_broker::MortalBroker;
use super::producer::Producer;
use super::record::{Record, Step};
use super::store::{RETENTION, TortureStore};
use super::{ATTEMPTS, Plant, RELAY, StoreKind, TAKEOVER};
use crate::history::EventName;
use crate::world::broker_at;
use outbox::broker::Broker;
use outbox::cursor::Filter;
use outbox::nats::{NatsBroker, NatsConfig};
use outbox::postgres::PostgresStore;
use outbox::sqlite::SqliteStore;
use outbox::{Catalog, Event, Outbox, RelayConfig, RetryPolicy, RunnerBuilder, Settings, Start};
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Role {
    /// It enqueues.
    Producer,
    /// It publishes to the broker, and to the mirror.
    Relay,
    /// It handles, from the broker or from the log.
    Consumer,
}

/// What a process is told when it starts.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Orders {
    pub(super) role: Role,
    /// No two processes have the same.
    pub(super) number: u64,
    pub(super) store: StoreKind,
    pub(super) database: String,
    /// The address of the broker; without one, the consumers read the log.
    pub(super) broker: Option<String>,
    pub(super) folder: PathBuf,
    pub(super) seed: u64,
    pub(super) plant: Option<Plant>,
}

impl Orders {
    /// The name of this process's files.
    pub(super) fn name(&self) -> String {
        format!("{:?}-{}", self.role, self.number).to_lowercase()
    }
}

/// What the parts of one process share.
#[derive(Debug)]
pub(super) struct Scene {
    pub(super) record: Record,
    mended: PathBuf,
    plant: Option<Plant>,
}

impl Scene {
    pub(super) fn new(folder: &Path, name: &str, plant: Option<Plant>) -> std::io::Result<Self> {
        let record = Record::create(&folder.join(format!("{name}.record")))?;
        Ok(Self { record, mended: mended(folder), plant })
    }

    /// Whether this goes wrong on purpose.
    pub(super) fn plants(&self, plant: Plant) -> bool {
        self.plant == Some(plant)
    }

    /// Ends this process, as the event that it works on plans.
    pub(super) fn die(&self, stage: &str, event: EventName) -> ! {
        self.record.write(Step::Dies { stage: stage.to_owned(), event });
        crate::kill_this_process()
    }

    /// Whether everything goes well from now on, as with a new build of every handler.
    pub(super) fn is_mended(&self) -> bool {
        self.mended.exists()
    }
}

/// The file that says so.
pub(super) fn mended(folder: &Path) -> PathBuf {
    folder.join("mended")
}

type Ended = Result<(), Box<dyn Error + Send + Sync>>;

/// Does what the orders say.
pub(super) async fn act(orders: &Orders) -> Ended {
    // Listened for from the beginning, so that a signal during the start is not lost.
    let stop = signal(SignalKind::terminate())?;
    match orders.store {
        StoreKind::Postgres => act_on::<PostgresStore>(orders, stop).await,
        StoreKind::Sqlite => act_on::<SqliteStore>(orders, stop).await,
    }
}

async fn act_on<S: TortureStore>(orders: &Orders, mut stop: Signal) -> Ended {
    let scene = Arc::new(Scene::new(&orders.folder, &orders.name(), orders.plant)?);
    let outbox = outbox(S::open(&orders.database).await?);
    let runner = match orders.role {
        Role::Producer => {
            let producer = Producer::new(outbox, scene, orders.number, orders.seed);
            producer.work_until(async move { stop.recv().await.unwrap_or_default() }).await;
            return Ok(());
        }
        Role::Relay => {
            let mirror = RelayConfig { filter: of_keys(), ..relay_config(Mirror::RELAY) };
            let runner = outbox.runner().relay(mirror, Arc::new(Mirror::new(Arc::clone(&scene))));
            match orders.broker.as_deref().map(broker) {
                Some(inner) => runner.relay(relay_config(RELAY), Arc::new(MortalBroker { inner, scene })),
                None => runner,
            }
        }
        Role::Consumer => {
            let runner = only_ours(outbox.runner(), S::CONSUMER).state(scene);
            match &orders.broker {
                Some(url) => runner.consume_from(broker(url)),
                None => runner.consume_locally().start_at(Start::Earliest),
            }
        }
    };
    let runner = runner.settings(quick).start().await?;
    runner.run_until(async move { stop.recv().await.unwrap_or_default() }).await?;
    Ok(())
}

pub(super) fn outbox<S: TortureStore>(store: S) -> Outbox<S> {
    // The producers may write what the broker refuses.
    let mut limits = outbox::Limits::default();
    limits.payload_bytes_max = 4_000_000;
    Outbox::builder(store).source("/torture").limits(limits).build()
}

fn only_ours<S: TortureStore>(runner: RunnerBuilder<S>, consumer: &'static str) -> RunnerBuilder<S> {
    let catalog = Catalog::collect().expect("the catalog of this program is sound");
    let names = catalog.consumers().iter().map(|entry| entry.name);
    runner.only([consumer]).elsewhere(names.filter(|name| *name != consumer))
}

pub(super) fn broker(url: &str) -> Arc<dyn Broker> {
    if !url.starts_with("nats") {
        return broker_at(url);
    }
    Arc::new(NatsBroker::new(NatsConfig {
        servers: url.to_owned(),
        partitions: 4,
        request_timeout: Duration::from_secs(2),
        // So short that copies get through.
        dedup_window: Duration::from_millis(200),
        ..NatsConfig::default()
    }))
}

/// What the mirror wants: the events that have an order.
fn of_keys() -> Filter {
    Filter { event_types: vec![Told::TYPE.to_owned()], ..Filter::default() }
}

fn relay_config(name: &str) -> RelayConfig {
    let retry =
        RetryPolicy { attempts: ATTEMPTS, base: Duration::from_millis(20), max: Duration::from_millis(200) };
    RelayConfig { page_max: 200, publish_timeout: Duration::from_secs(3), retry, ..RelayConfig::named(name) }
}

fn quick(settings: &mut Settings) {
    settings.takeover = TAKEOVER;
    settings.poll = Duration::from_millis(100);
    settings.stall = Duration::from_secs(5);
    settings.drain = Duration::from_secs(5);
    settings.retention.log = RETENTION;
}
