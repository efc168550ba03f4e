//! A world: a fresh database with an outbox, a table of effects, and consumers that do what their events plan.

mod consumer;
mod event;
mod recorded;
mod store;
mod versions;

pub use consumer::Calls;
pub use event::{Heard, Noted, Plan, Told, name_in, noted, planned};
pub use store::TestStore;
pub use versions::{Moved, MovedV1, MovedV2};

use crate::history::{Happening, Recorder};
use outbox::broker::{Broker, SubscriptionConfig};
use outbox::kafka::{KafkaBroker, KafkaConfig};
use outbox::nats::{NatsBroker, NatsConfig};
use outbox::rabbitmq::{RabbitMqBroker, RabbitMqConfig};
use outbox::redis::{RedisBroker, RedisConfig};
use outbox::{Catalog, Outbox, RelayConfig, RetryPolicy, Runner, RunnerBuilder, Settings, Start};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a condition may take to come true on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs each promise, a generic function of the calling module, as a test on each store.
#[macro_export]
macro_rules! on_each_store {
    ($($promise:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $promise() {
                super::$promise::<outbox::sqlite::SqliteStore>().await;
            })*
        }

        mod postgres {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $promise() {
                super::$promise::<outbox::postgres::PostgresStore>().await;
            })*
        }
    };
}

/// A fresh database with an outbox.
#[derive(Debug)]
pub struct World<S: TestStore> {
    /// The outbox.
    pub outbox: Outbox<S>,
    /// The address of the database.
    pub url: String,
    /// How often the consumer that spreads was called here.
    pub calls: Arc<Calls>,
    /// What this world enqueues, to be held against what became of it.
    pub recorder: Recorder,
    mended: Arc<AtomicBool>,
    _dir: Option<TempDir>,
}

impl<S: TestStore> World<S> {
    /// Makes a world; `None` is a skip that has been printed.
    pub async fn start() -> Option<Self> {
        let (url, dir) = S::fresh_url().await?;
        Some(Self { _dir: dir, ..Self::at(&url).await })
    }

    /// A world on a database that stands already.
    pub async fn at(url: &str) -> Self {
        let store = S::open(url).await;
        store.create_effects().await;
        let outbox = Outbox::builder(store).source("/world").build();
        Self {
            outbox,
            url: url.to_owned(),
            calls: Arc::default(),
            recorder: Recorder::default(),
            mended: Arc::default(),
            _dir: None,
        }
    }

    /// Enqueues each event in a transaction of its own.
    pub async fn enqueue_each(&self, events: impl IntoIterator<Item = Noted>) {
        for event in events {
            self.enqueue_together(std::slice::from_ref(&event)).await;
        }
    }

    /// Enqueues many events, a thousand in each transaction.
    pub async fn enqueue_all(&self, events: &[Noted]) {
        for batch in events.chunks(1_000) {
            self.enqueue_together(batch).await;
        }
    }

    async fn enqueue_together(&self, events: &[Noted]) {
        let mut tx = self.outbox.begin().await.unwrap();
        let recorded = self.recorder.enqueue(events.iter().map(|event| (event.name(), event.plan.is_bad())));
        self.outbox.enqueue_batch(&mut tx, events).await.unwrap();
        self.recorder.record(Happening::Commit(recorded));
        tx.commit().await.unwrap();
        self.recorder.record(Happening::Committed(recorded));
    }

    /// A runner of the consumer that notes, quick to take over.
    pub fn runner(&self) -> RunnerBuilder<S> {
        self.runner_of([S::CONSUMER]).state(Arc::clone(&self.mended))
    }

    /// A runner of the consumer that spreads, quick to take over.
    pub fn spreader(&self) -> RunnerBuilder<S> {
        self.runner_of([S::SPREADER]).state(Arc::clone(&self.calls))
    }

    /// A runner of the consumer that follows moves, quick to take over.
    pub fn follower(&self) -> RunnerBuilder<S> {
        self.runner_of([S::FOLLOWER]).state(Arc::clone(&self.mended))
    }

    /// A runner of these consumers, quick to take over.
    pub fn runner_of<const N: usize>(&self, consumers: [&'static str; N]) -> RunnerBuilder<S> {
        let catalog = Catalog::collect().unwrap();
        let names = catalog.consumers().iter().map(|consumer| consumer.name);
        let others = names.filter(|name| !consumers.contains(name));
        let runner = self.outbox.runner().only(consumers).elsewhere(others);
        runner.start_at(Start::Earliest).settings(quick)
    }

    /// Lets the events that fail until mended go well from now on, as a new build of the handler would.
    pub fn mend(&self) {
        self.mended.store(true, Ordering::SeqCst);
    }

    /// Runs this store's consumer on the log.
    pub async fn consume(&self) -> Runner {
        self.runner().consume_locally().start().await.unwrap()
    }

    /// Relays to `broker`, with quick retries.
    pub async fn relay(&self, broker: Arc<dyn Broker>) -> Runner {
        self.outbox.runner().relay(quick_relay(), broker).settings(quick).start().await.unwrap()
    }

    /// The events that the relay has not settled yet.
    pub async fn relay_lag(&self) -> u64 {
        let status = self.outbox.store().status().await.unwrap();
        let relay = status.iter().find(|stage| stage.stage.as_str() == "relay/default");
        relay.expect("a relay has run").lag.expect("a relay reads the log")
    }

    /// Waits until the effects are these many, and gives them.
    pub async fn effects_of(&self, count: usize) -> Vec<(String, i64)> {
        eventually("the effects are there", async || self.outbox.store().effect_count().await >= count).await;
        self.outbox.store().effects().await
    }
}

/// A relay whose retries are quick.
#[must_use]
pub fn quick_relay() -> RelayConfig {
    let retry = RetryPolicy { attempts: 4, base: Duration::from_millis(10), max: Duration::from_millis(50) };
    RelayConfig { retry, ..RelayConfig::default() }
}

/// A broker on the server at that address, whichever it is, with few partitions, since a test starts them all.
#[must_use]
pub fn broker_at(url: &str) -> Arc<dyn Broker> {
    match url.split(':').next() {
        Some("amqp") => Arc::new(RabbitMqBroker::new(RabbitMqConfig {
            server: url.to_owned(),
            partitions: 4,
            request_timeout: Duration::from_secs(2),
            ..RabbitMqConfig::default()
        })),
        Some("redis") => Arc::new(RedisBroker::new(RedisConfig {
            server: url.to_owned(),
            partitions: 4,
            request_timeout: Duration::from_secs(2),
            ..RedisConfig::default()
        })),
        Some("kafka") => Arc::new(KafkaBroker::new(KafkaConfig {
            servers: url.to_owned(),
            partitions: 4,
            request_timeout: Duration::from_secs(2),
            ..KafkaConfig::default()
        })),
        _ => nats_broker(url, None),
    }
}

/// As [`broker_at`], of NATS.
#[must_use]
pub fn nats_broker(url: &str, dedup_window: Option<Duration>) -> Arc<dyn Broker> {
    let default = NatsConfig::default();
    Arc::new(NatsBroker::new(NatsConfig {
        servers: url.to_owned(),
        partitions: 4,
        request_timeout: Duration::from_secs(2),
        dedup_window: dedup_window.unwrap_or(default.dedup_window),
        ..default
    }))
}

/// Makes consumers known to a broker that gives them only what is published after that.
pub async fn introduce(broker: &dyn Broker, topic: &str, consumers: &[&str]) {
    if broker.capabilities().replayable {
        return;
    }
    for consumer in consumers {
        let config = SubscriptionConfig {
            consumer: (*consumer).to_owned(),
            topic: topic.to_owned(),
            partition: "any".to_owned(),
            ack_wait: Duration::from_secs(30),
            in_flight_max: 1,
        };
        broker.subscribe(&config).await.expect("the broker is running");
    }
}

/// Takes over and looks around quickly.
pub fn quick(settings: &mut Settings) {
    settings.takeover = Duration::from_secs(2);
    settings.poll = Duration::from_millis(50);
}

/// Waits until `is_true`; fails the test when that takes too long.
pub async fn eventually(what: &str, mut is_true: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_true().await {
        assert!(Instant::now() < deadline, "waited {PATIENCE:?} in vain until {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The numbers of one key, in order.
#[must_use]
pub fn numbers_of(effects: &[(String, i64)], key: &str) -> Vec<i64> {
    effects.iter().filter(|(of, _)| of == key).map(|(_, n)| *n).collect()
}
