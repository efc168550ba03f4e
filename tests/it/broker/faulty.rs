//! A broker in memory that does everything right but one thing, to see that the suite finds each.

use futures_util::future::{self, BoxFuture};
use outbox::broker::{
    AckToken, Broker, BrokerError, Capabilities, Delivery, Malformed, Outgoing, Published, Subscription,
    SubscriptionConfig, partition,
};
use outbox::conformance::broker::{Rig, check};
use outbox::envelope::{Envelope, NewEvent};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep};

const NAME: &str = "ram";
const BYTES_MAX: usize = 64 * 1024;

/// What it does wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    ConfirmsWhatItDrops,
    TouchesPayloads,
    LosesHeaders,
    FailsTheWholeBatch,
    WouldTryALargeEventForEver,
    CountsThePayloadAlone,
    SwallowsWhatIsNoEvent,
    InvertsWhatItHas,
    ForgetsNacks,
    IgnoresTheDelay,
    ForgetsTheAckWait,
    ForgetsAcks,
    TakesDeliveredForDone,
    GivesEachEventToOneConsumer,
    StartsLateConsumersAtTheEnd,
    CountsOneDelivery,
    MixesPartitions,
    TakesWhatAnotherHadForNew,
}

const FAULTS: [Fault; 18] = [
    Fault::ConfirmsWhatItDrops,
    Fault::TouchesPayloads,
    Fault::LosesHeaders,
    Fault::FailsTheWholeBatch,
    Fault::WouldTryALargeEventForEver,
    Fault::CountsThePayloadAlone,
    Fault::SwallowsWhatIsNoEvent,
    Fault::InvertsWhatItHas,
    Fault::ForgetsNacks,
    Fault::IgnoresTheDelay,
    Fault::ForgetsTheAckWait,
    Fault::ForgetsAcks,
    Fault::TakesDeliveredForDone,
    Fault::GivesEachEventToOneConsumer,
    Fault::StartsLateConsumersAtTheEnd,
    Fault::CountsOneDelivery,
    Fault::MixesPartitions,
    Fault::TakesWhatAnotherHadForNew,
];

#[tokio::test(start_paused = true)]
async fn a_broker_without_fault_keeps_every_rule() {
    let report = check(&Ram::new(None)).await;
    assert!(report.kept().count() > 15, "{report}");
    assert!(report.cannot().any(|(rule, _)| rule.contains("killed")), "{report}");
}

#[tokio::test(start_paused = true)]
async fn every_fault_of_a_broker_is_found() {
    for fault in FAULTS {
        let found = tokio::spawn(async move { check(&Ram::new(Some(fault))).await }).await;
        assert!(found.is_err_and(|error| error.is_panic()), "{fault:?} was not found");
    }
}

/// All that the broker has, and what its consumers did.
#[derive(Default)]
struct Shelf {
    /// By topic and partition.
    events: HashMap<(String, String), Vec<Envelope>>,
    /// What is done, by consumer, topic and partition.
    done: HashMap<(String, String, String), HashSet<usize>>,
    deliveries: HashMap<(String, String, String, usize), u32>,
    confirmed: u32,
}

#[derive(Clone)]
struct Ram {
    fault: Option<Fault>,
    shelf: Arc<Mutex<Shelf>>,
    topics: Arc<AtomicU32>,
}

impl Ram {
    fn new(fault: Option<Fault>) -> Self {
        Self { fault, shelf: Arc::default(), topics: Arc::default() }
    }

    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    fn take_in(&self, envelope: &Envelope) -> Published {
        let headers: usize = envelope.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
        let counted =
            if self.has(Fault::CountsThePayloadAlone) { 0 } else { headers + envelope.source.len() };
        let (size, max) = (envelope.payload.len() + counted, BYTES_MAX);
        if size > max {
            let error = BrokerError::TooLarge { broker: NAME, size, max };
            let for_ever = self.has(Fault::WouldTryALargeEventForEver);
            return if for_ever { Published::TryAgain(error) } else { Published::Refused(error) };
        }
        let mut shelf = self.shelf.lock().unwrap();
        shelf.confirmed += 1;
        if self.has(Fault::ConfirmsWhatItDrops) && shelf.confirmed.is_multiple_of(7) {
            return Published::Confirmed { duplicate: false };
        }
        let mut envelope = envelope.clone();
        if self.has(Fault::TouchesPayloads) {
            envelope.event.payload = envelope.payload.replace(": ", ":");
        }
        if self.has(Fault::LosesHeaders) {
            envelope.event.headers.retain(|_, value| !value.is_empty());
        }
        let partition = partition::of(envelope.key.as_deref(), partition::PARTITIONS_DEFAULT);
        let place = (envelope.topic.clone(), partition);
        shelf.events.entry(place).or_default().push(envelope);
        Published::Confirmed { duplicate: false }
    }
}

impl Broker for Ram {
    fn capabilities(&self) -> Capabilities {
        let mut can = Capabilities::least(NAME);
        (can.ordered, can.replayable, can.delivery_count) = (true, true, true);
        can.bytes_max = Some(BYTES_MAX);
        can
    }

    fn publish<'a>(
        &'a self,
        batch: &'a [Outgoing<'a>],
    ) -> BoxFuture<'a, Result<Vec<Published>, BrokerError>> {
        let mut published: Vec<Published> =
            batch.iter().map(|outgoing| self.take_in(outgoing.envelope)).collect();
        let is_refused = |outcome: &Published| matches!(outcome, Published::Refused(_));
        if self.has(Fault::FailsTheWholeBatch) && published.iter().any(is_refused) {
            let refused = || BrokerError::TooLarge { broker: NAME, size: BYTES_MAX + 1, max: BYTES_MAX };
            published.iter_mut().for_each(|outcome| *outcome = Published::Refused(refused()));
        }
        Box::pin(future::ready(Ok(published)))
    }
}

impl Rig for Ram {
    fn name(&self) -> &str {
        NAME
    }

    fn broker(&self) -> Option<&dyn Broker> {
        Some(self)
    }

    fn fresh_topic(&self) -> String {
        format!("topic-{}", self.topics.fetch_add(1, Ordering::Relaxed))
    }

    fn put<'a>(&'a self, events: &'a [NewEvent]) -> BoxFuture<'a, ()> {
        for event in events {
            let seq = outbox::envelope::Seq(outbox::envelope::Seq::ORIGIN.0 + 1);
            let envelope =
                Envelope { seq, occurred_at: time::OffsetDateTime::UNIX_EPOCH, event: event.clone() };
            self.take_in(&envelope);
        }
        Box::pin(future::ready(()))
    }

    fn subscribe<'a>(&'a self, config: &'a SubscriptionConfig) -> BoxFuture<'a, Box<dyn Subscription>> {
        let mut config = config.clone();
        if self.has(Fault::GivesEachEventToOneConsumer) {
            config.consumer = "everybody".to_owned();
        }
        if self.has(Fault::MixesPartitions) {
            config.partition = "0".to_owned();
        }
        let reading = Reading { ram: self.clone(), config, states: BTreeMap::new() };
        if self.has(Fault::StartsLateConsumersAtTheEnd) {
            let count = reading.events().len();
            let mut shelf = self.shelf.lock().unwrap();
            shelf.done.entry(reading.place()).or_insert_with(|| (0..count).collect());
        }
        Box::pin(future::ready(Box::new(reading) as Box<dyn Subscription>))
    }
}

/// One subscription: what it gave out, by place.
struct Reading {
    ram: Ram,
    config: SubscriptionConfig,
    states: BTreeMap<usize, State>,
}

#[derive(Clone, Copy)]
enum State {
    Yielded(Instant),
    Nacked(Instant),
}

impl Reading {
    fn place(&self) -> (String, String, String) {
        let config = &self.config;
        (config.consumer.clone(), config.topic.clone(), config.partition.clone())
    }

    fn events(&self) -> Vec<Envelope> {
        let shelf = self.ram.shelf.lock().unwrap();
        if self.ram.has(Fault::MixesPartitions) {
            let of_topic = shelf.events.iter().filter(|((topic, _), _)| *topic == self.config.topic);
            return of_topic.flat_map(|(_, events)| events.clone()).collect();
        }
        let place = (self.config.topic.clone(), self.config.partition.clone());
        shelf.events.get(&place).cloned().unwrap_or_default()
    }

    fn due(&self, max: usize) -> Vec<(usize, Envelope)> {
        let done = self.ram.shelf.lock().unwrap().done.get(&self.place()).cloned().unwrap_or_default();
        let now = Instant::now();
        let (mut waiting, mut due) = (HashSet::new(), Vec::new());
        for (place, envelope) in self.events().into_iter().enumerate() {
            let is_due = match self.states.get(&place) {
                _ if done.contains(&place) => continue,
                None => true,
                Some(State::Yielded(since)) => {
                    !self.ram.has(Fault::ForgetsTheAckWait) && *since + self.config.ack_wait <= now
                }
                Some(State::Nacked(_)) if self.ram.has(Fault::ForgetsNacks) => continue,
                Some(State::Nacked(until)) => *until <= now,
            };
            if is_due && !waiting.contains(&envelope.key) && due.len() < max {
                due.push((place, envelope));
            } else if matches!(self.states.get(&place), Some(State::Nacked(_))) {
                waiting.insert(envelope.key.clone());
            }
        }
        due
    }
}

impl Subscription for Reading {
    fn ready(&mut self, at_most: Duration) -> BoxFuture<'_, Result<(), BrokerError>> {
        Box::pin(async move {
            let deadline = Instant::now() + at_most;
            while self.due(1).is_empty() && Instant::now() < deadline {
                sleep(Duration::from_millis(10)).await;
            }
            Ok(())
        })
    }

    fn take(&mut self, max: u32) -> BoxFuture<'_, Result<Vec<Delivery>, BrokerError>> {
        let mut due = self.due(max as usize);
        if self.ram.has(Fault::InvertsWhatItHas) {
            due.sort_by_key(|(place, _)| place ^ 1);
        }
        let mut deliveries = Vec::new();
        for (place, envelope) in due {
            self.states.insert(place, State::Yielded(Instant::now()));
            let (consumer, topic, partition) = self.place();
            let mut shelf = self.ram.shelf.lock().unwrap();
            *shelf.deliveries.entry((consumer, topic, partition, place)).or_default() += 1;
            if self.ram.has(Fault::TakesDeliveredForDone) {
                shelf.done.entry(self.place()).or_default().insert(place);
            }
            let is_event = envelope.payload.starts_with(r#"{"eventType""#);
            if !is_event && self.ram.has(Fault::SwallowsWhatIsNoEvent) {
                continue;
            }
            let problem = "it is no event".to_owned();
            let event = if is_event { Ok(envelope) } else { Err(Malformed { envelope, problem }) };
            deliveries.push(Delivery { token: AckToken(place as u64), event });
        }
        Box::pin(future::ready(Ok(deliveries)))
    }

    fn ack<'a>(&'a mut self, tokens: &'a [AckToken]) -> BoxFuture<'a, Result<(), BrokerError>> {
        if !self.ram.has(Fault::ForgetsAcks) {
            let mut shelf = self.ram.shelf.lock().unwrap();
            let done = shelf.done.entry(self.place()).or_default();
            done.extend(tokens.iter().map(|token| usize::try_from(token.0).unwrap()));
        }
        Box::pin(future::ready(Ok(())))
    }

    fn has_come_to_new(&self) -> bool {
        self.ram.has(Fault::TakesWhatAnotherHadForNew)
    }

    fn delivery_count(&self, token: &AckToken) -> Option<u32> {
        let (consumer, topic, partition) = self.place();
        let place = (consumer, topic, partition, usize::try_from(token.0).unwrap());
        let count = self.ram.shelf.lock().unwrap().deliveries.get(&place).copied();
        if self.ram.has(Fault::CountsOneDelivery) { Some(1) } else { count }
    }

    fn nack<'a>(
        &'a mut self,
        token: &'a AckToken,
        delay: Duration,
    ) -> BoxFuture<'a, Result<(), BrokerError>> {
        let delay = if self.ram.has(Fault::IgnoresTheDelay) { Duration::ZERO } else { delay };
        self.states.insert(usize::try_from(token.0).unwrap(), State::Nacked(Instant::now() + delay));
        Box::pin(future::ready(Ok(())))
    }
}
