//! The rules of a broker: what a confirmation means, what a refusal is, and in which order deliveries come.
//!
//! ```text
//! Rig (yours) ──▶ publishing: rules of `Broker`      (left out where the rig has none, as `local`)
//!             └─▶ delivering: rules of `Subscription`
//! ```

mod delivering;
#[cfg(feature = "local")]
mod local;
mod publishing;
mod reader;

#[cfg(feature = "local")]
pub use local::LocalRig;

use crate::{
    broker::{AckToken, Broker, Subscription, SubscriptionConfig, partition},
    envelope::{EventId, Headers, NewEvent},
};
use futures_util::future::BoxFuture;
use outbox_schema::OnPoison;

/// A broker set up to be tested, with what only its author knows how to do.
pub trait Rig: Send + Sync {
    /// The name to print.
    fn name(&self) -> &str;

    /// The publishing half; `None` where events reach the consumer without one.
    fn broker(&self) -> Option<&dyn Broker>;

    /// A topic that was never used.
    fn fresh_topic(&self) -> String;

    /// Brings events to the broker in this order, as producer and relay do together, and waits until they are stored.
    fn put<'a>(&'a self, events: &'a [NewEvent]) -> BoxFuture<'a, ()>;

    /// Opens a subscription as a new process would. The suite has no two of one consumer at a time.
    fn subscribe<'a>(&'a self, config: &'a SubscriptionConfig) -> BoxFuture<'a, Box<dyn Subscription>>;

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

    /// The server behind the broker; `None` where there is none to kill.
    fn server(&self) -> Option<&dyn Server>;
}

/// The server behind a broker.
pub trait Server: Send + Sync {
    /// Ends it by SIGKILL.
    fn kill(&self);

    /// Starts it on the data it had, and waits until it answers.
    fn restart(&self) -> BoxFuture<'_, ()>;
}

/// Checks every rule that the broker's capabilities admit.
///
/// # Panics
/// When a rule is broken.
pub async fn check(rig: &dyn Rig) {
    match rig.broker() {
        Some(broker) => publishing::run(rig, broker).await,
        None => left_out(rig, "publishing", "it has no publishing half"),
    }
    delivering::run(rig).await;
}

fn checking(rig: &dyn Rig, rule: &str) {
    eprintln!("conformance {}: {rule}", rig.name());
}

fn left_out(rig: &dyn Rig, rule: &str, reason: &str) {
    eprintln!("conformance {}: LEFT OUT {rule}: {reason}", rig.name());
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

/// That many keys of one partition, so that one subscription sees all of them.
fn keys(count: usize) -> Vec<String> {
    let of = |key: &String| partition::of_key(key, partition::PARTITIONS_DEFAULT);
    let all = (0..).map(|number: u32| format!("key-{number}"));
    all.filter(|key| of(key) == of(&"key-0".to_owned())).take(count).collect()
}

/// The partition of every key of [`keys`].
fn partition_of_keys() -> String {
    partition::of_key("key-0", partition::PARTITIONS_DEFAULT).to_string()
}
