//! Relay and consumers with each broker, against clients by hand on the same server: what they publish with the same
//! confirms, and what they handle with the same writes in the same transactions.
//!
//! Each round enqueues the events once. By hand: the events are read from the log, then messages of the same size are
//! published to a topic apart, then those that the relay published are consumed by a group of its own.

mod hand;
mod kafka;
mod nats;
mod rabbitmq;
mod redis;

use super::{Options, Row, Wanted, drain, enqueue::outbox_on, median};
use crate::pass_on::pass_on;
use crate::servers::{Kafka, Nats, Postgres, RabbitMq, Redis};
use crate::world::{Noted, noted};
use futures_util::future::BoxFuture;
use hand::{Hand, Message};
use outbox::broker::{Broker, BrokerError, Outgoing, Published};
use outbox::kafka::{KafkaBroker, KafkaConfig};
use outbox::nats::{NatsBroker, NatsConfig};
use outbox::postgres::PostgresStore;
use outbox::rabbitmq::{RabbitMqBroker, RabbitMqConfig};
use outbox::redis::{RedisBroker, RedisConfig};
use outbox::{Outbox, RelayConfig, Runner, Start, draft};
use sqlx::PgPool;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// The consumer of the measured program that writes one row for each event.
const CONSUMER: &str = "bench.effects";

/// The topic of the events, and that of the messages by hand.
const TOPIC: &str = "world";
const TOPIC_BY_HAND: &str = "by-hand";
const PARTITIONS: u16 = 4;
const KEYS: i64 = 1_000;
/// The events of one round.
const EVENTS: i64 = 20_000;
/// The events of the row about memory.
const BACKLOG: i64 = 500_000;
/// The events whose way through an idle system is measured.
const SINGLE: usize = 200;
/// As many as a page of a relay.
const PAGE: usize = 1_000;

/// Counts what the consumer of this process has handled.
#[derive(Debug)]
pub struct Handled {
    count: watch::Sender<i64>,
}

impl Handled {
    /// One more event was handled, if its transaction commits.
    pub fn add_one(&self) {
        self.count.send_modify(|count| *count += 1);
    }
}

/// The figures of one broker.
#[derive(Default)]
struct Figures {
    read: Vec<f64>,
    published_by_hand: Vec<f64>,
    relayed: Vec<f64>,
    handled_by_hand: Vec<f64>,
    handled: Vec<f64>,
    latency: Vec<f64>,
}

/// The rows of each broker, or of the one that is asked for.
pub(super) async fn rows(postgres: &Postgres, options: &Options) -> Vec<Row> {
    let wants = |name: &str| options.broker.as_deref().is_none_or(|broker| broker == name);
    let mut rows = Vec::new();
    if wants("nats")
        && let Some(server) = Nats::private().await
    {
        let hand = nats::NatsByHand::connect(&server.url()).await;
        rows.extend(rows_of(postgres, &server.url(), hand, options).await);
    }
    if wants("redis")
        && let Some(server) = Redis::private().await
    {
        let hand = redis::RedisByHand::connect(&server).await;
        rows.extend(rows_of(postgres, &server.url(), hand, options).await);
    }
    if wants("rabbitmq")
        && let Some(server) = RabbitMq::private().await
    {
        let hand = rabbitmq::RabbitMqByHand::connect(&server).await;
        rows.extend(rows_of(postgres, &server.url(), hand, options).await);
    }
    if wants("kafka")
        && let Some(server) = Kafka::private().await
    {
        let hand = kafka::KafkaByHand::connect(&server);
        rows.extend(rows_of(postgres, &server.url(), hand, options).await);
    }
    rows
}

async fn rows_of(postgres: &Postgres, url: &str, hand: impl Hand, options: &Options) -> Vec<Row> {
    let bench = Bench::new(postgres, broker_at(url)).await;
    hand.declare(TOPIC_BY_HAND, PARTITIONS).await;
    bench.introduce().await;
    hand.introduce(TOPIC, PARTITIONS).await;
    let mut figures = Figures::default();
    for round in 0..=options.rounds.min(5) {
        let of_round = bench.round(&hand, round).await;
        // The first round only warms connections and plans.
        if round > 0 {
            figures.add(of_round);
        }
    }
    figures.latency = bench.latencies().await;
    let grown = if options.backlog { Some(bench.growth().await) } else { None };
    figures.rows(bench.broker.capabilities().name, grown)
}

/// Events a second of one round: read and published by hand, relayed, handled by hand, handled.
type Round = [f64; 5];

impl Figures {
    fn add(&mut self, [read, published, relayed, by_hand, handled]: Round) {
        self.read.push(read);
        self.published_by_hand.push(published);
        self.relayed.push(relayed);
        self.handled_by_hand.push(by_hand);
        self.handled.push(handled);
    }

    /// Events a second of who reads a page and publishes it in turn, as a relay does.
    fn in_turn(&self) -> Vec<f64> {
        let rounds = self.read.iter().zip(&self.published_by_hand);
        rounds.map(|(read, published)| 1.0 / (1.0 / read + 1.0 / published)).collect()
    }

    fn rows(self, broker: &str, grown: Option<f64>) -> Vec<Row> {
        let in_turn = self.in_turn();
        let smaller = match median(&self.read) < median(&self.published_by_hand) {
            true => self.read,
            false => self.published_by_hand,
        };
        let throughput = |name: String, raw, ours, least| Row {
            name,
            unit: "events/s",
            raw,
            ours,
            wanted: Wanted::RatioAtLeast(least),
        };
        let told = |name: String, unit, ours, wanted| Row { name, unit, raw: Vec::new(), ours, wanted };
        let mut sorted = self.latency.clone();
        sorted.sort_by(f64::total_cmp);
        let late = sorted.get(sorted.len() * 95 / 100).copied().unwrap_or(f64::NAN);
        let mut rows = vec![
            throughput(format!("{broker}: relay"), smaller, self.relayed.clone(), 0.8),
            Row {
                name: format!("  {broker}: relay, to both loops in turn"),
                unit: "events/s",
                raw: in_turn,
                ours: self.relayed,
                wanted: Wanted::Nothing,
            },
            throughput(format!("{broker}: consume"), self.handled_by_hand, self.handled, 0.7),
            told(format!("  {broker}: commit to handler, p50"), "ms", self.latency, Wanted::Nothing),
            told(format!("  {broker}: commit to handler, p95"), "ms", vec![late], Wanted::Nothing),
        ];
        if let Some(grown) = grown {
            let name = format!("  {broker}: memory gained in a drain of 500,000");
            rows.push(told(name, "MiB", vec![grown], Wanted::AtMost(32.0)));
        }
        rows
    }
}

/// An outbox on a fresh database, and a broker.
struct Bench {
    outbox: Outbox<PostgresStore>,
    pool: PgPool,
    broker: Arc<dyn Broker>,
    handled: Arc<Handled>,
    /// Events that were enqueued so far.
    enqueued: AtomicI64,
}

impl Bench {
    async fn new(postgres: &Postgres, broker: Arc<dyn Broker>) -> Self {
        let outbox = outbox_on(postgres).await;
        let pool = outbox.store().pool().clone();
        hand::create_tables(&pool).await;
        let handled = Arc::new(Handled { count: watch::Sender::new(0) });
        Self { outbox, pool, broker, handled, enqueued: AtomicI64::new(0) }
    }

    async fn enqueue(&self, count: i64) {
        let first = self.enqueued.fetch_add(count, Ordering::SeqCst);
        for page in (first..first + count).step_by(PAGE) {
            let notes: Vec<Noted> =
                (page..(page + PAGE as i64).min(first + count)).map(|n| noted(&key(n), n)).collect();
            let mut tx = self.outbox.begin().await.unwrap();
            self.outbox.enqueue_batch(&mut tx, notes.iter().map(draft)).await.unwrap();
            tx.commit().await.unwrap();
        }
    }

    /// Lets the broker know the consumer, so that nothing passes it by.
    async fn introduce(&self) {
        let consumer = self.consume().await;
        self.enqueue(1).await;
        self.relay(1).await;
        self.await_handled(1).await;
        consumer.stop().await.unwrap();
    }

    async fn consume(&self) -> Runner {
        let catalog = outbox::Catalog::collect().unwrap();
        let others =
            catalog.consumers().iter().map(|consumer| consumer.name).filter(|name| *name != CONSUMER);
        let runner = self.outbox.runner().only([CONSUMER]).elsewhere(others).start_at(Start::Earliest);
        runner.state(Arc::clone(&self.handled)).consume_from(Arc::clone(&self.broker)).start().await.unwrap()
    }

    async fn round(&self, hand: &impl Hand, round: usize) -> Round {
        self.enqueue(EVENTS).await;
        let per_second = |begun: Instant| EVENTS as f64 / begun.elapsed().as_secs_f64();
        let begun = Instant::now();
        drain::by_hand(&self.pool, EVENTS).await;
        let read = per_second(begun);
        let messages: Vec<Message> = (0..EVENTS).map(|n| Message::new(&noted(&key(n), n))).collect();
        let begun = Instant::now();
        for page in messages.chunks(PAGE) {
            hand.publish(TOPIC_BY_HAND, page).await;
        }
        let published = per_second(begun);
        let relayed = self.relay(EVENTS).await;
        // In turn, since who comes first finds colder caches.
        let (by_hand, handled) = match round % 2 {
            0 => (hand::handle_all(hand, &self.pool).await, self.handle_all().await),
            _ => {
                let handled = self.handle_all().await;
                (hand::handle_all(hand, &self.pool).await, handled)
            }
        };
        [read, published, relayed, by_hand, handled]
    }

    /// Runs a relay until it has published so many; events a second behind the first batch. The loops by hand have no leader to
    /// find either.
    async fn relay(&self, events: i64) -> f64 {
        let counting = Arc::new(Counting::of(&self.broker));
        let mut count = counting.count.subscribe();
        let runner =
            self.outbox.runner().relay(RelayConfig::default(), Arc::clone(&counting) as Arc<dyn Broker>);
        let relay = runner.start().await.unwrap();
        count.wait_for(|count| *count >= events).await.unwrap();
        let (first, begun) = counting.first.get().copied().expect("a batch was published");
        let rate = (events - first) as f64 / begun.elapsed().as_secs_f64();
        relay.stop().await.unwrap();
        rate
    }

    /// Handles what is there; from the first event to the last.
    async fn handle_all(&self) -> f64 {
        let before = *self.handled.count.borrow();
        let consumer = self.consume().await;
        self.await_handled(before + 1).await;
        let begun = Instant::now();
        self.await_handled(before + EVENTS).await;
        let rate = EVENTS as f64 / begun.elapsed().as_secs_f64();
        consumer.stop().await.unwrap();
        rate
    }

    async fn await_handled(&self, count: i64) {
        self.handled.count.subscribe().wait_for(|handled| *handled >= count).await.unwrap();
    }

    /// Milliseconds from a commit to its handler, one event after the other with nothing else to do.
    async fn latencies(&self) -> Vec<f64> {
        let consumer = self.consume().await;
        let relay = self.outbox.runner().relay(RelayConfig::default(), Arc::clone(&self.broker));
        let relay = relay.start().await.unwrap();
        let mut latencies = Vec::new();
        for round in 0..SINGLE + 20 {
            let before = *self.handled.count.borrow();
            self.enqueue(1).await;
            let begun = Instant::now();
            self.await_handled(before + 1).await;
            // Leases and topics are new at first.
            if round >= 20 {
                latencies.push(begun.elapsed().as_secs_f64() * 1_000.0);
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        relay.stop().await.unwrap();
        consumer.stop().await.unwrap();
        latencies
    }

    /// The memory that this process gains, in MiB, from the first tenth of a long drain to its end.
    async fn growth(&self) -> f64 {
        self.enqueue(BACKLOG).await;
        let counting = Arc::new(Counting::of(&self.broker));
        let mut count = counting.count.subscribe();
        let relay = self.outbox.runner().relay(RelayConfig::default(), counting).start().await.unwrap();
        count.wait_for(|count| *count >= BACKLOG / 10).await.unwrap();
        let (before, mut most) = (memory(), 0.0_f64);
        for tenth in 2..=10 {
            count.wait_for(|count| *count >= tenth * BACKLOG / 10).await.unwrap();
            most = most.max(memory());
        }
        relay.stop().await.unwrap();
        most - before
    }
}

/// The memory of this process in MiB.
fn memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1_024.0
}

fn key(n: i64) -> String {
    format!("key-{}", n % KEYS)
}

/// A broker that counts what it confirmed.
struct Counting {
    inner: Arc<dyn Broker>,
    count: watch::Sender<i64>,
    /// How many the first batch was, and when it was confirmed.
    first: OnceLock<(i64, Instant)>,
}

impl Counting {
    fn of(broker: &Arc<dyn Broker>) -> Self {
        Self { inner: Arc::clone(broker), count: watch::Sender::new(0), first: OnceLock::new() }
    }
}

impl Broker for Counting {
    pass_on! { subscribe }

    fn publish<'a>(
        &'a self,
        batch: &'a [Outgoing<'a>],
    ) -> BoxFuture<'a, Result<Vec<Published>, BrokerError>> {
        Box::pin(async move {
            let published = self.inner.publish(batch).await?;
            let confirmed =
                published.iter().filter(|one| matches!(one, Published::Confirmed { .. })).count() as i64;
            self.first.get_or_init(|| (confirmed, Instant::now()));
            self.count.send_modify(|count| *count += confirmed);
            Ok(published)
        })
    }
}

/// As configured by default, with as many partitions as the clients by hand know.
fn broker_at(url: &str) -> Arc<dyn Broker> {
    let url = url.to_owned();
    match url.split(':').next() {
        Some("amqp") => Arc::new(RabbitMqBroker::new(RabbitMqConfig {
            server: url,
            partitions: PARTITIONS,
            ..RabbitMqConfig::default()
        })),
        Some("redis") => Arc::new(RedisBroker::new(RedisConfig {
            server: url,
            partitions: PARTITIONS,
            ..RedisConfig::default()
        })),
        Some("kafka") => Arc::new(KafkaBroker::new(KafkaConfig {
            servers: url,
            partitions: PARTITIONS,
            ..KafkaConfig::default()
        })),
        _ => Arc::new(NatsBroker::new(NatsConfig {
            servers: url,
            partitions: PARTITIONS,
            ..NatsConfig::default()
        })),
    }
}
