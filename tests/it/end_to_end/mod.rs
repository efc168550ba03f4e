//! The whole chain on a real broker: enqueue, relay, broker, consumer; nothing lost, nothing doubled, in order.

mod copies;
mod foreign;
mod kafka;
mod late_ack;
mod meddling;
mod once;
mod outage;
mod rabbitmq;
mod redis;
mod restart;
mod sharing;

use outbox::Runner;
use outbox::broker::{Broker, SubscriptionConfig};
use outbox_tests::actor::actor;
use outbox_tests::on_each_store;
use outbox_tests::servers::{BrokerServer, Nats, Process};
use outbox_tests::world::{Heard, TestStore, World, broker_at, eventually, introduce, noted, numbers_of};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

const ACTOR: &str = env!("CARGO_BIN_EXE_actor");

on_each_store! {
    what_is_enqueued_reaches_its_handler_once_and_in_order,
    a_set_of_events_reaches_one_handler_and_its_follow_ups_come_back,
}

/// A world and a broker's server of its own: the topic of its events is always the same.
struct Scene<S: TestStore> {
    world: World<S>,
    server: BrokerServer,
}

impl<S: TestStore> Scene<S> {
    /// On NATS. `None` is a skip that has been printed.
    async fn start() -> Option<Self> {
        Self::start_on(BrokerServer::Nats(Nats::private().await?)).await
    }

    /// `None` is a skip that has been printed.
    async fn start_on(server: BrokerServer) -> Option<Self> {
        let world = World::start().await?;
        introduce(&*broker_at(&server.url()), "world", &[S::CONSUMER, BrokerServer::WITNESS]).await;
        Some(Self { world, server })
    }

    /// The server of a test that is about NATS.
    fn nats(&self) -> &Nats {
        match &self.server {
            BrokerServer::Nats(nats) => nats,
            other => panic!("this scene has {}", other.name()),
        }
    }

    /// A connection of its own, as another process has.
    fn broker(&self) -> Arc<dyn Broker> {
        broker_at(&self.server.url())
    }

    async fn relay(&self) -> Runner {
        self.world.relay(self.broker()).await
    }

    async fn consume(&self) -> Runner {
        self.world.runner().consume_from(self.broker()).start().await.unwrap()
    }

    /// Starts a process: a relay, a consumer or both.
    fn act(&self, role: &str, more: &[&str]) -> Process {
        let (db, broker) = (&self.world.url, &self.server.url());
        let mut arguments = vec![role, "--db", db, "--broker", broker];
        arguments.extend(more);
        actor(ACTOR, &arguments)
    }

    /// How many messages the topic holds, copies included.
    async fn messages(&self) -> usize {
        let broker = self.broker();
        let mut count = 0;
        for partition in broker.partitions("world").await.unwrap() {
            let witness = SubscriptionConfig {
                consumer: BrokerServer::WITNESS.to_owned(),
                topic: "world".to_owned(),
                partition,
                ack_wait: Duration::from_secs(30),
                in_flight_max: 1_000,
            };
            let mut subscription = broker.subscribe(&witness).await.unwrap();
            loop {
                let deliveries = subscription.next(1_000, Duration::from_millis(500)).await.unwrap();
                if deliveries.is_empty() {
                    break;
                }
                count += deliveries.len();
            }
        }
        count
    }
}

async fn wait_for_end(process: &mut Process) {
    eventually("the process has ended", async || !process.is_running()).await;
}

/// Fails unless each of `0..count` had exactly one effect, and those of one key came in order.
pub(crate) fn assert_once_and_in_order(effects: &[(String, i64)], count: usize) {
    let mut numbers: Vec<i64> = effects.iter().map(|(_, n)| *n).collect();
    numbers.sort_unstable();
    let expected: Vec<i64> = (0..i64::try_from(count).unwrap()).collect();
    assert!(numbers == expected, "lost or doubled; there are {} effects of {count}", numbers.len());
    assert_each_key_in_order(effects);
}

fn assert_each_key_in_order(effects: &[(String, i64)]) {
    let keys: HashSet<&String> = effects.iter().map(|(key, _)| key).collect();
    for key in keys {
        let numbers = numbers_of(effects, key);
        assert!(numbers.is_sorted(), "`{key}` is out of order: {numbers:?}");
    }
}

async fn what_is_enqueued_reaches_its_handler_once_and_in_order<S: TestStore>() {
    let Some(scene) = Scene::<S>::start().await else { return };
    carry_a_hundred(scene).await;
}

async fn carry_a_hundred<S: TestStore>(scene: Scene<S>) {
    let (relay, consumer) = (scene.relay().await, scene.consume().await);

    scene.world.enqueue_each((0..100).map(|n| noted(&format!("key-{}", n % 9), n))).await;

    let effects = scene.world.effects_of(100).await;
    assert_once_and_in_order(&effects, 100);
    consumer.stop().await.unwrap();
    relay.stop().await.unwrap();
    assert_eq!(scene.messages().await, 100);
}

async fn a_set_of_events_reaches_one_handler_and_its_follow_ups_come_back<S: TestStore>() {
    let Some(scene) = Scene::<S>::start().await else { return };
    let world = &scene.world;
    let relay = scene.relay().await;
    let consumer = world.spreader().consume_from(scene.broker()).start().await.unwrap();

    let mut tx = world.outbox.begin().await.unwrap();
    for n in 0..30 {
        let note = noted(&format!("key-{}", n % 3), n);
        world.outbox.enqueue(&mut tx, outbox::draft(&note).header("tenant", "acme")).await.unwrap();
    }
    world.outbox.enqueue(&mut tx, &Heard { n: 30 }).await.unwrap();
    tx.commit().await.unwrap();

    // Each note and what follows of it, and what was enqueued as heard.
    let effects = world.effects_of(61).await;
    consumer.stop().await.unwrap();
    relay.stop().await.unwrap();
    for key in 0..3 {
        let expected: Vec<i64> = (0..30).filter(|n| n % 3 == key).collect();
        assert_eq!(numbers_of(&effects, &format!("acme/key-{key}")), expected);
    }
    let mut heard = numbers_of(&effects, "heard");
    heard.sort_unstable();
    assert_eq!(heard, (0..=30).collect::<Vec<_>>());
    assert_eq!((world.outbox.store().effect_count().await, world.calls.count()), (61, 61));
}
