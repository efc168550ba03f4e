//! A broker in memory that loses answers, refuses, stores twice, stores late, and is down.

mod subscription;

use super::Mutation;
use super::event::{Plan, name_of};
use super::executor::Process;
use super::world::World;
use crate::history::Fate;
use futures_util::future::BoxFuture;
use outbox::broker::{
    Broker, BrokerError, Capabilities, Outgoing, Published, Subscription, SubscriptionConfig,
};
use outbox::envelope::{Envelope, EventId};
use outbox::lease::{LeaseName, Owner};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use subscription::SimSubscription;
use tokio::sync::Notify;
use tokio::time::sleep;

const NAME: &str = "simulated";

/// How often the broker is unsure of one event; below the attempts that it has.
const UNSURE_MAX: u32 = 2;

/// The one broker of a simulation.
#[derive(Debug)]
pub(super) struct Exchange {
    world: Arc<World>,
    state: Mutex<State>,
    arrived: Notify,
}

#[derive(Debug, Default)]
struct State {
    topics: BTreeMap<String, Vec<Envelope>>,
    /// By consumer and topic: which messages are done.
    acked: BTreeMap<(String, String), BTreeSet<usize>>,
    unsure: BTreeMap<EventId, u32>,
    is_down: bool,
}

impl Exchange {
    pub(super) fn new(world: &Arc<World>) -> Arc<Self> {
        Arc::new(Self { world: Arc::clone(world), state: Mutex::default(), arrived: Notify::new() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub(super) fn set_down(&self, is_down: bool) {
        self.world.tell(|| format!("the broker is down: {is_down}"));
        self.state().is_down = is_down;
    }

    /// Whether this consumer is done with every message of the topic.
    pub(super) fn is_drained(&self, consumer: &str, topic: &str) -> bool {
        self.undone(consumer, topic).is_empty()
    }

    /// The messages of a topic that this consumer is not done with.
    pub(super) fn undone(&self, consumer: &str, topic: &str) -> Vec<String> {
        let state = self.state();
        let done = state.acked.get(&(consumer.to_owned(), topic.to_owned()));
        let stored = state.topics.get(topic).into_iter().flatten().enumerate();
        let undone = stored.filter(|(place, _)| !done.is_some_and(|done| done.contains(place)));
        undone.map(|(place, envelope)| format!("{place}: {}", name_of(envelope))).collect()
    }

    fn store(&self, stage: &str, envelope: &Envelope) {
        self.world.record(Fate::Published.of(stage, &name_of(envelope)));
        self.state().topics.entry(envelope.topic.clone()).or_default().push(envelope.clone());
        self.arrived.notify_waiters();
    }

    /// The broker as the relay of one process reaches it.
    pub(super) fn of(self: &Arc<Self>, process: Process, owner: Owner, stage: &str) -> Arc<dyn Broker> {
        Arc::new(SimBroker { exchange: Arc::clone(self), process, owner, stage: stage.to_owned() })
    }
}

fn unavailable(action: &'static str) -> BrokerError {
    BrokerError::Unavailable { broker: NAME, action, source: "as the seed wants it".into() }
}

#[derive(Debug)]
struct SimBroker {
    exchange: Arc<Exchange>,
    process: Process,
    owner: Owner,
    stage: String,
}

impl SimBroker {
    /// Nothing may be published once another leads.
    fn check_lease(&self) {
        let world = &self.exchange.world;
        let lease = LeaseName::of(&outbox::held::Stage::from_text(self.stage.clone()), &Default::default());
        let database = world.database();
        let mut leaders = database.tables.leader.committed(&database.txs);
        let is_passed = leaders.any(|(name, (owner, _))| name == lease.as_str() && *owner != self.owner);
        drop(leaders);
        drop(database);
        if is_passed {
            let problem = format!("{:?} publishes for {} though another leads it", self.process, self.stage);
            world.breach(problem);
        }
    }

    async fn publish_one(&self, envelope: &Envelope) -> Published {
        let (exchange, world) = (&self.exchange, &self.exchange.world);
        if Plan::of(envelope) == Plan::BrokerRefuses && !world.is_mended() {
            return Published::Refused(BrokerError::Refused {
                broker: NAME,
                action: "take an event",
                // Of its own, so that the topic is not taken for refused as a whole.
                problem: format!("event {}", envelope.id),
                source: None,
            });
        }
        if !world.is_calm() && world.in_1000(80) {
            let mut state = exchange.state();
            let unsure = state.unsure.entry(envelope.id).or_default();
            if *unsure < UNSURE_MAX {
                *unsure += 1;
                drop(state);
                match world.below(3) {
                    0 => {}
                    1 => exchange.store(&self.stage, envelope),
                    _ => self.store_late(envelope),
                }
                return Published::TryAgain(unavailable("confirm an event"));
            }
        }
        exchange.store(&self.stage, envelope);
        if !world.is_calm() && world.in_1000(20) {
            exchange.store(&self.stage, envelope);
        }
        Published::Confirmed { duplicate: false }
    }

    fn store_late(&self, envelope: &Envelope) {
        let (exchange, stage, envelope) = (Arc::clone(&self.exchange), self.stage.clone(), envelope.clone());
        let world = &self.exchange.world;
        let delay = world.millis(1..1_500);
        world.schedule.spawn(Process::OUTSIDE, async move {
            sleep(delay).await;
            exchange.store(&stage, &envelope);
        });
    }
}

impl Broker for SimBroker {
    fn capabilities(&self) -> Capabilities {
        let ordered_pipeline = self.exchange.world.mutation == Mutation::TwoOfAKeyInFlight;
        let mut capabilities = Capabilities::least(NAME);
        capabilities.ordered_pipeline = ordered_pipeline;
        capabilities
    }

    fn connect(&self) -> BoxFuture<'_, Result<(), BrokerError>> {
        Box::pin(async move {
            self.exchange.world.pause().await;
            if self.exchange.state().is_down { Err(unavailable("connect")) } else { Ok(()) }
        })
    }

    fn publish<'a>(
        &'a self,
        batch: &'a [Outgoing<'a>],
    ) -> BoxFuture<'a, Result<Vec<Published>, BrokerError>> {
        Box::pin(async move {
            self.check_lease();
            let world = &self.exchange.world;
            world.pause().await;
            if self.exchange.state().is_down {
                return Err(unavailable("be reached"));
            }
            let trouble = if world.is_calm() { 1_000 } else { world.below(1_000) };
            if trouble < 15 {
                return Err(unavailable("take a batch"));
            }
            // Each message goes its own way, so they arrive in any order.
            let mut order: Vec<usize> = (0..batch.len()).collect();
            for place in (1..order.len()).rev() {
                order.swap(place, world.below(place as u64 + 1) as usize);
            }
            let mut answers: Vec<Option<Published>> = batch.iter().map(|_| None).collect();
            for place in order {
                let envelope = batch[place].envelope;
                world.tried(&self.stage, envelope.id);
                world.pause().await;
                answers[place] = Some(self.publish_one(envelope).await);
            }
            match trouble {
                15..30 => return Err(unavailable("confirm a batch")),
                30..40 => sleep(Duration::from_secs(60)).await,
                _ => world.pause().await,
            }
            Ok(answers.into_iter().flatten().collect())
        })
    }

    fn subscribe<'a>(
        &'a self,
        subscription: &'a SubscriptionConfig,
    ) -> BoxFuture<'a, Result<Box<dyn Subscription>, BrokerError>> {
        Box::pin(async move {
            self.exchange.world.pause().await;
            if self.exchange.state().is_down {
                return Err(unavailable("subscribe"));
            }
            let subscription = SimSubscription::new(Arc::clone(&self.exchange), subscription);
            Ok(Box::new(subscription) as Box<dyn Subscription>)
        })
    }
}
