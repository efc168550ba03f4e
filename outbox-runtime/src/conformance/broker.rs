//! The rules of a broker: what a confirmation means, what a refusal is, and in which order deliveries come.
//!
//! ```text
//! Rig (yours) ──▶ connecting: credentials and TLS
//!             ├─▶ publishing: rules of `Broker`       (these two not where the rig has no `Broker`, as `local`)
//!             ├─▶ delivering: rules of `Subscription`
//!             ├─▶ sharing:    consumers, their members, and what one leaves to the next
//!             └─▶ outages:    a server that is killed or hangs
//! ```
//! What a broker cannot do is not run, and said so in the [`Report`].

mod connecting;
mod delivering;
#[cfg(feature = "local")]
mod local;
mod outages;
mod publishing;
mod reader;
mod report;
mod sharing;

#[cfg(feature = "local")]
pub use local::LocalRig;
pub use report::{Report, capability_table};

use crate::{
    broker::{
        AckToken, Broker, Capabilities, Outgoing, Published, Subscription, SubscriptionConfig, partition,
    },
    envelope::{Envelope, EventId, Headers, NewEvent, Seq},
};
use futures_util::future::BoxFuture;
use outbox_schema::OnPoison;
use reader::Reader;
use report::Outcome;
use std::{sync::Mutex, time::Duration};
use time::OffsetDateTime;
use tokio::time::Instant;

/// How long the suite waits for what must happen, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(60);
const HAS_BROKER: &str = "a rig without a publishing half brings and delivers events itself";
/// Between two tries. A relay backs off here; without any pause a client would get no turn to connect.
const TRY_PAUSE: Duration = Duration::from_millis(20);

/// A broker set up to be tested, with what only its author knows how to do.
pub trait Rig: Send + Sync {
    /// The name to print.
    fn name(&self) -> &str;

    /// The publishing half; `None` where events reach the consumer without one.
    fn broker(&self) -> Option<&dyn Broker>;

    /// What the broker can do.
    fn capabilities(&self) -> Capabilities {
        self.broker().map_or(Capabilities::least("without a publishing half"), Broker::capabilities)
    }

    /// A topic that was never used.
    fn fresh_topic(&self) -> String;

    /// Brings events to the broker in this order, as producer and relay do together, and waits until they are stored. By
    /// default [`Rig::broker`] publishes one after the other, as events of one key are never in flight together.
    fn put<'a>(&'a self, events: &'a [NewEvent]) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let broker = self.broker().expect(HAS_BROKER);
            for event in events {
                let published = publish(broker, std::slice::from_ref(event)).await;
                assert!(
                    matches!(published[..], [Published::Confirmed { duplicate: false }]),
                    "{published:?}"
                );
            }
        })
    }

    /// Opens a subscription as a new process would: with a connection of its own, where there are connections. The suite
    /// has no two of one partition and consumer at a time. By default that of [`Rig::broker`].
    fn subscribe<'a>(&'a self, config: &'a SubscriptionConfig) -> BoxFuture<'a, Box<dyn Subscription>> {
        let broker = self.broker().expect(HAS_BROKER);
        Box::pin(async move { broker.subscribe(config).await.expect("the broker can be reached") })
    }

    /// Whether an open subscription gets a delivery again, after a nack or the ack wait; if not, the next one does.
    fn redelivers_while_open(&self) -> bool {
        true
    }

    /// Acks deliveries as the runtime does after their handlers; in a transaction of the store where it acks in one.
    fn ack<'a>(
        &'a self,
        subscription: &'a mut dyn Subscription,
        tokens: &'a [AckToken],
    ) -> BoxFuture<'a, ()> {
        Box::pin(async move { subscription.ack(tokens).await.expect("the broker takes an ack") })
    }

    /// The server behind the broker; `None`, the default, where there is none to kill.
    fn server(&self) -> Option<&dyn Server> {
        None
    }

    /// A broker of the same server with a wrong password; `None` where there are no passwords.
    fn intruder(&self) -> Option<Box<dyn Broker>> {
        None
    }

    /// Two brokers of a server that speaks TLS: one that trusts its certificate, and one that does not. `None` where there
    /// is no TLS.
    fn over_tls(&self) -> BoxFuture<'_, Option<[Box<dyn Broker>; 2]>> {
        Box::pin(std::future::ready(None))
    }

    /// Removes a topic behind the broker's back, as a person may; `false` where nobody can.
    fn remove_topic<'a>(&'a self, topic: &'a str) -> BoxFuture<'a, bool> {
        let _ = topic;
        Box::pin(std::future::ready(false))
    }
}

/// The server behind a broker.
pub trait Server: Send + Sync {
    /// Ends it by SIGKILL.
    fn kill(&self);

    /// Starts it on the data it had, and waits until it answers.
    fn restart(&self) -> BoxFuture<'_, ()>;

    /// Freezes it (SIGSTOP): connections stay open and nothing answers.
    fn pause(&self);

    /// Lets a frozen server go on.
    fn resume(&self);
}

/// Checks every rule that the broker's capabilities admit, prints the report and returns it.
///
/// # Panics
/// When a rule is broken.
pub async fn check(rig: &dyn Rig) -> Report {
    let suite = Suite { rig, rules: Mutex::default() };
    match rig.broker() {
        Some(broker) => {
            connecting::run(&suite, broker).await;
            publishing::run(&suite, broker).await;
        }
        None => suite.cannot("publishing", "it has no publishing half"),
    }
    delivering::run(&suite).await;
    sharing::run(&suite).await;
    match rig.server() {
        Some(server) => outages::run(&suite, server).await,
        None => suite.cannot("a server that is killed or hangs", "there is no server"),
    }
    let rules = suite.rules.into_inner().expect("no panic holds this lock");
    let report = Report { capabilities: rig.capabilities(), rules };
    eprintln!("conformance of {}\n{report}", rig.name());
    report
}

/// One run: the rig, and what has become of each rule so far.
struct Suite<'a> {
    rig: &'a dyn Rig,
    rules: Mutex<Vec<(String, Outcome)>>,
}

impl Suite<'_> {
    /// A fresh topic that this consumer gets from its first event on: not every broker gives what was before a consumer.
    async fn topic_of(&self, consumer: &str) -> String {
        let topic = self.rig.fresh_topic();
        self.introduce(consumer, &topic).await;
        topic
    }

    /// Has the consumer subscribe once where it gets only what comes after that.
    async fn introduce(&self, consumer: &str, topic: &str) {
        if !self.rig.capabilities().replayable {
            Reader::open(self, consumer, topic).await.close().await;
        }
    }

    /// Begins a rule: it is kept unless the suite panics.
    fn rule(&self, rule: &str) {
        eprintln!("conformance of {}: {rule}", self.rig.name());
        self.note(rule, Outcome::Kept);
    }

    /// Leaves a rule out.
    fn cannot(&self, rule: &str, reason: &'static str) {
        self.note(rule, Outcome::Cannot(reason));
    }

    /// Asserts that these came, in this order where the broker declares order.
    fn assert_came(&self, mut came: Vec<EventId>, mut sent: Vec<EventId>) {
        if !self.rig.capabilities().ordered {
            came.sort_unstable();
            sent.sort_unstable();
        }
        assert_eq!(came, sent);
    }

    fn note(&self, rule: &str, outcome: Outcome) {
        self.rules.lock().expect("no panic holds this lock").push((rule.to_owned(), outcome));
    }
}

/// An event of the suite with a payload of its own.
fn event(topic: &str, key: &str, number: u32) -> NewEvent {
    NewEvent {
        id: EventId::now(),
        source: "/conformance".to_owned(),
        topic: topic.to_owned(),
        key: Some(key.to_owned()),
        event_type: "conformance.happened".to_owned(),
        event_version: 1,
        payload: format!(r#"{{"eventType":"conformance.happened","eventVersion":1,"number":{number}}}"#),
        dataschema: "urn:outbox:conformance.happened:1".to_owned(),
        headers: Headers::new(),
        traceparent: None,
        tracestate: None,
        twin: None,
        on_poison: OnPoison::Park,
    }
}

/// Lengthens the payload to that many bytes.
fn pad(event: &mut NewEvent, bytes: usize) {
    event.payload.truncate(event.payload.len() - 1);
    let frame = r#","pad":""}"#.len();
    let fill = "x".repeat(bytes.saturating_sub(event.payload.len() + frame));
    event.payload.push_str(&format!(r#","pad":"{fill}"}}"#));
}

fn envelope(event: &NewEvent, number: i64) -> Envelope {
    // One time for all: its text, which a size test counts, would not always be as long.
    let occurred_at = OffsetDateTime::UNIX_EPOCH;
    Envelope { seq: Seq(Seq::ORIGIN.0 + 1 + number), occurred_at, event: event.clone() }
}

/// Publishes once; again where the server did not answer in time, as on a busy machine.
async fn publish(broker: &dyn Broker, events: &[NewEvent]) -> Vec<Published> {
    let started = Instant::now();
    let envelopes: Vec<_> = (0..).zip(events).map(|(number, event)| envelope(event, number)).collect();
    let outgoing: Vec<_> =
        envelopes.iter().map(|envelope| Outgoing { envelope, message_id: envelope.id.0 }).collect();
    loop {
        match broker.publish(&outgoing).await {
            Err(error) if error.is_transient() && started.elapsed() < PATIENCE => {
                tokio::time::sleep(TRY_PAUSE).await;
            }
            published => return published.expect("the broker can be reached"),
        }
    }
}

/// Publishes until each event is confirmed, those first that were not, as a relay does: the server may be away.
async fn publish_until_confirmed(broker: &dyn Broker, events: &[NewEvent]) {
    let started = Instant::now();
    let envelopes: Vec<_> = (0..).zip(events).map(|(number, event)| envelope(event, number)).collect();
    let mut open: Vec<&Envelope> = envelopes.iter().collect();
    loop {
        let outgoing: Vec<_> =
            open.iter().map(|&envelope| Outgoing { envelope, message_id: envelope.id.0 }).collect();
        match broker.publish(&outgoing).await {
            Ok(outcomes) => {
                let mut outcomes = outcomes.into_iter();
                open.retain(|envelope| match outcomes.next() {
                    Some(Published::Confirmed { .. }) => false,
                    Some(Published::TryAgain(_)) => true,
                    other => panic!("an outage became a refusal of {}: {other:?}", envelope.id),
                });
            }
            Err(error) => assert!(error.is_transient(), "an outage became a refusal: {error:?}"),
        }
        if open.is_empty() {
            return;
        }
        assert!(started.elapsed() < PATIENCE, "the broker did not come back");
        tokio::time::sleep(TRY_PAUSE).await;
    }
}

/// That many keys of one partition, so that one subscription sees all of them.
fn keys(count: usize) -> Vec<String> {
    keys_in(&partition_of_keys(), count)
}

/// The partition of every key of [`keys`].
fn partition_of_keys() -> String {
    partition_of("key-0")
}

/// That many keys of one partition.
fn keys_in(partition: &str, count: usize) -> Vec<String> {
    let all = (0..).map(|number: u32| format!("key-{number}"));
    all.filter(|key| partition_of(key) == partition).take(count).collect()
}

/// A partition that none of [`keys`] is in.
fn other_partition() -> String {
    let mut all = (1..).map(|number: u32| partition_of(&format!("key-{number}")));
    all.find(|partition| *partition != partition_of_keys()).expect("keys spread over the partitions")
}

fn partition_of(key: &str) -> String {
    partition::of(Some(key), partition::PARTITIONS_DEFAULT)
}
