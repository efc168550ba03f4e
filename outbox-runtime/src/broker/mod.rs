//! What a broker must do to carry events: publish batches and yield deliveries.
//!
//! Both traits are dyn-compatible, since a broker is chosen at run time: one boxed future a batch.

pub mod cloudevents;
#[cfg(any(feature = "kafka", feature = "nats", feature = "rabbitmq", feature = "redis"))]
mod content;
mod examination;
#[cfg(feature = "kafka")]
pub mod kafka;
#[cfg(feature = "local")]
pub(crate) mod local;
#[cfg(feature = "nats")]
pub mod nats;
pub mod partition;
#[cfg(feature = "rabbitmq")]
pub mod rabbitmq;
#[cfg(feature = "redis")]
pub mod redis;
mod structured;
#[cfg(any(feature = "rabbitmq", feature = "redis"))]
mod tls;
#[cfg(any(feature = "kafka", feature = "nats", feature = "rabbitmq", feature = "redis"))]
mod topic_finding;
pub mod window;

pub use examination::Examination;

use crate::{envelope::Envelope, finding::Finding, store::StoreError};
use futures_util::future::BoxFuture;
use std::{any::Any, error::Error, time::Duration};
use tokio::time::Instant;

/// What a broker can do. The conformance suite checks what is declared here and reports what is not.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// The broker's name, in lower case.
    pub name: &'static str,
    /// Whether the deliveries of one key come in the order of their publishing, also after a nack, a crash of the
    /// consumer and a restart of the server. If not, no promise of order holds beyond the broker.
    pub ordered: bool,
    /// Whether the broker keeps the order of one partition key through failures of a pipelined publish. If not, no two
    /// unconfirmed events of one key are ever in flight.
    pub ordered_pipeline: bool,
    /// Whether a new consumer gets what others have acked long ago, as long as the broker's retention has it.
    pub replayable: bool,
    /// Whether the broker itself keeps a nacked delivery back for its delay, also when the consumer crashes meanwhile. If
    /// not, the subscription does.
    pub delayed: bool,
    /// How long the broker drops a second publish of one id; zero when it does not.
    pub dedup_window: Duration,
    /// The largest message with its headers, in bytes; `None` when there is no limit, or none is known before the
    /// connection is made.
    pub bytes_max: Option<usize>,
    /// Whether [`Subscription::delivery_count`] tells how often a delivery was delivered.
    pub delivery_count: bool,
}

impl Capabilities {
    /// The least a broker can do.
    #[must_use]
    pub const fn least(name: &'static str) -> Self {
        Self {
            name,
            ordered: false,
            ordered_pipeline: false,
            replayable: false,
            delayed: false,
            dedup_window: Duration::ZERO,
            bytes_max: None,
            delivery_count: false,
        }
    }
}

/// The publishing half of a broker.
pub trait Broker: Send + Sync + 'static {
    /// What it can do.
    fn capabilities(&self) -> Capabilities;

    /// Connects and checks what can be checked; called once before work, retried by the caller when transient. By default
    /// there is nothing to do before the first call.
    ///
    /// # Errors
    /// [`BrokerError`]; work does not begin.
    fn connect(&self) -> BoxFuture<'_, Result<(), BrokerError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Publishes a batch and waits for the broker's word on each: one outcome an event, in the order given.
    ///
    /// The caller never has two events of one lane in one batch unless `ordered_pipeline` is declared. The id the
    /// broker dedups by is `message_id`.
    ///
    /// # Errors
    /// The broker as a whole could not be reached: nothing is known of any event of the batch.
    ///
    /// # Cancel safety
    /// If dropped, any part of the batch may have been published.
    fn publish<'a>(&'a self, batch: &'a [Outgoing<'a>])
    -> BoxFuture<'a, Result<Vec<Published>, BrokerError>>;

    /// Opens a consumer's subscription to one partition of one topic, declaring what it needs. By default refused: a
    /// broker may be able to publish only.
    ///
    /// Where the broker is not `replayable`, the first subscription of a consumer makes it known to the whole topic, if
    /// [`register`](Broker::register) did not: from then on nothing of any partition passes it by.
    ///
    /// # Errors
    /// [`BrokerError`]; nothing is subscribed.
    fn subscribe<'a>(
        &'a self,
        subscription: &'a SubscriptionConfig,
    ) -> BoxFuture<'a, Result<Box<dyn Subscription>, BrokerError>> {
        let _ = subscription;
        Box::pin(std::future::ready(Err(self.only_publishes())))
    }

    /// The partitions of a topic, each worked by one process at a time: `0` … `n-1` and `any` for unordered events.
    /// Declares the topic if it is missing. By default refused, as [`Broker::subscribe`].
    ///
    /// # Errors
    /// [`BrokerError`]; nothing is known of the topic.
    fn partitions<'a>(&'a self, topic: &'a str) -> BoxFuture<'a, Result<Vec<String>, BrokerError>> {
        let _ = topic;
        Box::pin(std::future::ready(Err(self.only_publishes())))
    }

    /// Makes a consumer known to a topic; called before a consumer counts as started. Where the broker is not `replayable`,
    /// nothing that is published from then on passes the consumer by. By default there is nothing to do.
    ///
    /// # Errors
    /// [`BrokerError`]; the consumer does not start.
    fn register<'a>(&'a self, topic: &'a str, consumer: &'a str) -> BoxFuture<'a, Result<(), BrokerError>> {
        let _ = (topic, consumer);
        Box::pin(std::future::ready(Ok(())))
    }

    /// Looks for what is wrong at the broker with these topics, or will be. Changes nothing, and makes no topic. A broker that
    /// does not look finds nothing.
    ///
    /// # Errors
    /// [`BrokerError`] when the broker cannot be asked; [`BrokerError::finding`] tells it as a finding.
    fn examine<'a>(&'a self, asked: &'a Examination) -> BoxFuture<'a, Result<Vec<Finding>, BrokerError>> {
        let _ = asked;
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    /// The refusal of a broker that has no consuming half.
    #[doc(hidden)]
    fn only_publishes(&self) -> BrokerError {
        BrokerError::Refused {
            broker: self.capabilities().name,
            action: "subscribe",
            problem: "it only publishes; consume from another broker".to_owned(),
            source: None,
        }
    }
}

/// One event to publish.
#[derive(Debug, Clone, Copy)]
pub struct Outgoing<'a> {
    /// The event.
    pub envelope: &'a Envelope,
    /// What the broker dedups by: the event's id, or a fresh one for a replay.
    pub message_id: uuid::Uuid,
}

/// The broker's word on one event.
#[derive(Debug)]
pub enum Published {
    /// Stored. `duplicate` when the broker had it already.
    Confirmed {
        /// Whether the broker dropped this copy.
        duplicate: bool,
    },
    /// Refused for good: the same event will be refused again.
    Refused(BrokerError),
    /// Not known to be stored; try again (after a time-out it may have been).
    TryAgain(BrokerError),
}

/// What a consumer subscribes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionConfig {
    /// The consumer's name.
    pub consumer: String,
    /// The topic.
    pub topic: String,
    /// One of [`Broker::partitions`].
    pub partition: String,
    /// After how long without an ack the broker delivers again; longer than the handler's limit.
    pub ack_wait: Duration,
    /// The most deliveries without an ack.
    pub in_flight_max: u32,
}

/// One partition's deliveries to one consumer, in the order the broker has them.
pub trait Subscription: Send {
    /// Waits until there may be something to take, at the longest `at_most`. It must wait while [`Subscription::take`]
    /// would give nothing, as for an event that waits behind a nacked one: its caller would go round without a pause.
    ///
    /// # Cancel safety
    /// If dropped, no delivery is lost.
    fn ready(&mut self, at_most: Duration) -> BoxFuture<'_, Result<(), BrokerError>>;

    /// Takes the deliveries that are there, at most `max`, without waiting for more.
    ///
    /// # Cancel safety
    /// If dropped, drop the subscription too: what it had taken comes again to the next one.
    fn take(&mut self, max: u32) -> BoxFuture<'_, Result<Vec<Delivery>, BrokerError>>;

    /// Waits and takes, for callers that do nothing else: an empty list after `at_most` without any delivery.
    ///
    /// # Cancel safety
    /// As [`Subscription::take`].
    fn next(&mut self, max: u32, at_most: Duration) -> BoxFuture<'_, Result<Vec<Delivery>, BrokerError>> {
        Box::pin(async move {
            let deadline = Instant::now() + at_most;
            loop {
                self.ready(deadline.saturating_duration_since(Instant::now())).await?;
                let deliveries = self.take(max).await?;
                if !deliveries.is_empty() || Instant::now() >= deadline {
                    return Ok(deliveries);
                }
            }
        })
    }

    /// Tells the broker that these deliveries are done. A late or repeated ack does no harm.
    fn ack<'a>(&'a mut self, tokens: &'a [AckToken]) -> BoxFuture<'a, Result<(), BrokerError>>;

    /// Whether [`Subscription::ack_in`] acks inside the handler's transaction; if not, acks follow the commit.
    fn acks_in_transaction(&self) -> bool {
        false
    }

    /// Acks one delivery inside the handler's open transaction (`tx` is the store's `Tx`); called only where
    /// [`Subscription::acks_in_transaction`] says so, and followed by [`Subscription::ack`] once it committed.
    fn ack_in<'a>(
        &'a mut self,
        tx: &'a mut (dyn Any + Send),
        token: &'a AckToken,
    ) -> BoxFuture<'a, Result<(), BrokerError>> {
        let _ = (tx, token);
        Box::pin(std::future::ready(Ok(())))
    }

    /// Makes what was acked last for good; called when nothing is in flight and before the partition is handed on.
    fn flush(&mut self) -> BoxFuture<'_, Result<(), BrokerError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Whether everything was taken that may have been delivered to somebody else before this subscription began: what comes
    /// from now on nobody had before. `false` where the broker does not tell.
    fn has_come_to_new(&self) -> bool {
        false
    }

    /// How often a delivery was delivered so far, the first time included; `None` where the broker does not tell.
    fn delivery_count(&self, token: &AckToken) -> Option<u32> {
        let _ = token;
        None
    }

    /// Gives a delivery back, to come again after `delay`.
    fn nack<'a>(&'a mut self, token: &'a AckToken, delay: Duration)
    -> BoxFuture<'a, Result<(), BrokerError>>;
}

/// Names a delivery to its subscription: opaque to everybody else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AckToken(pub u64);

/// One event that reached a consumer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// For the ack.
    pub token: AckToken,
    /// The event, or what is left of one that cannot be read.
    pub event: Result<Envelope, Malformed>,
}

/// A delivery that is no event of ours, kept as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    /// A stand-in with an id made of the delivery's place, the raw headers, and the payload as text (base64 when it is
    /// not UTF-8 or holds a NUL; then the header `outboxencoding` says so).
    pub envelope: Envelope,
    /// What is wrong with it, for people.
    pub problem: String,
}

/// An error of a broker.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BrokerError {
    /// The broker cannot be reached or did not answer in time.
    #[error("the broker `{broker}` could not {action}; it is tried again")]
    Unavailable {
        /// The broker's name.
        broker: &'static str,
        /// What was being done.
        action: &'static str,
        /// The client's error.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The broker refuses for good.
    #[error("the broker `{broker}` refused to {action}: {problem}")]
    Refused {
        /// The broker's name.
        broker: &'static str,
        /// What was being done.
        action: &'static str,
        /// Why, and what to do.
        problem: String,
        /// The client's error, where there is one.
        #[source]
        source: Option<Box<dyn Error + Send + Sync>>,
    },
    /// The message is too large.
    #[error(
        "the event is {size} bytes with its headers, over the {max}-byte limit of the broker `{broker}`; store the body elsewhere and send its address"
    )]
    TooLarge {
        /// The broker's name.
        broker: &'static str,
        /// Bytes with headers.
        size: usize,
        /// The limit.
        max: usize,
    },
    /// What stands at the broker differs from what this process is configured for.
    #[error(
        "the broker `{broker}` has {found} for `{name}`, but this process is configured for {wanted}; {fix}"
    )]
    Mismatch {
        /// The broker's name.
        broker: &'static str,
        /// The topic, stream or consumer.
        name: String,
        /// What stands there.
        found: String,
        /// What was expected.
        wanted: String,
        /// What to do.
        fix: String,
    },
    /// The log of the store, which the local broker reads, failed.
    #[error("the log could not be read or settled")]
    Log(#[source] StoreError),
}

impl BrokerError {
    /// The broker cannot be reached or did not answer in time: `broker` could not `action`.
    pub fn unavailable(
        broker: &'static str,
        action: &'static str,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self::Unavailable { broker, action, source: source.into() }
    }

    /// What may be wrong with more than the one event, as a word to compare; `None` when it is the event itself.
    pub(crate) fn shared_cause(&self) -> Option<String> {
        match self {
            Self::Unavailable { action, .. } => Some(format!("unavailable: {action}")),
            Self::Refused { action, problem, .. } => Some(format!("refused: {action}: {problem}")),
            Self::Mismatch { name, .. } => Some(format!("mismatch: {name}")),
            Self::Log(_) => Some("log".to_owned()),
            Self::TooLarge { .. } => None,
        }
    }

    /// Whether the same call may succeed later without a change by a person.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unavailable { .. } => true,
            Self::Log(source) => source.is_transient(),
            _ => false,
        }
    }
}
