//! The clients that a broker shares with its subscriptions: one that publishes, and one that asks about topics.

use super::{
    address,
    client::{Context, Heard, Reader, let_go},
    config::KafkaConfig,
    error::{of, refused},
};
use crate::broker::{BrokerError, SubscriptionConfig};
use rdkafka::{
    ClientConfig,
    config::RDKafkaLogLevel,
    producer::{FutureProducer, Producer, PurgeConfig},
};
use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

pub(super) type Publisher = FutureProducer<Context>;

/// What the client may put around an event, and the server around a batch of one.
pub(super) const FRAME_BYTES_MAX: usize = 64 * 1024;
/// A batch of several messages is no larger. Far below what any topic takes as one: the server refuses a batch as a whole.
const BATCH_BYTES_MAX: usize = 100_000;
/// The longest pause between two tries of the client to connect; its own is 10 seconds.
const RECONNECT_MAX: Duration = Duration::from_millis(500);
/// What the client fetches ahead of a subscription: messages, and kilobytes unless one message is larger.
const AHEAD_MAX: u32 = 1_000;
const AHEAD_KB_MAX: u32 = 4 * 1024;
/// The pause before the client looks whether there is room again; its own is a second.
const ROOM_PAUSE: Duration = Duration::from_millis(20);

pub(super) struct Link {
    pub(super) config: KafkaConfig,
    shared: Mutex<Shared>,
}

#[derive(Default)]
struct Shared {
    publisher: Option<Publisher>,
    asker: Option<Arc<Reader>>,
    /// The topics that were seen to be as they are configured, with the largest message of each where that is known.
    declared: HashMap<String, Option<usize>>,
}

impl Link {
    pub(super) fn new(config: KafkaConfig) -> Self {
        Self { config, shared: Mutex::default() }
    }

    /// The client that publishes, made by the first caller and again after it was given up.
    pub(super) fn publisher(&self, action: &'static str) -> Result<Publisher, BrokerError> {
        let mut shared = self.shared();
        if let Some(publisher) = &shared.publisher {
            return Ok(publisher.clone());
        }
        let mut client = self.client(action)?;
        let millis = self.config.request_timeout.as_millis().to_string();
        client
            .set("enable.idempotence", "true")
            .set("acks", "all")
            .set("message.timeout.ms", &millis)
            .set("request.timeout.ms", &millis)
            .set("topic.metadata.propagation.max.ms", &millis)
            // The relay gives many at once and waits for all of them: waiting for more would only add to that.
            .set("linger.ms", "0")
            .set("batch.size", BATCH_BYTES_MAX.to_string());
        let publisher: Publisher =
            client.create_with_context(Context::default()).map_err(|error| of(action, error))?;
        shared.publisher = Some(publisher.clone());
        Ok(publisher)
    }

    /// Gives the client up that publishes. What it has not sent is not sent any more.
    pub(super) fn give_up(&self, publisher: Publisher) {
        publisher.purge(PurgeConfig::default().queue().inflight());
        let mut shared = self.shared();
        let is_same = |kept: &Publisher| kept.client().native_ptr() == publisher.client().native_ptr();
        if shared.publisher.as_ref().is_some_and(is_same) {
            shared.publisher.take();
        }
        drop(shared);
        let_go(publisher);
    }

    /// The client that asks about topics.
    pub(super) fn asker(&self, action: &'static str) -> Result<Arc<Reader>, BrokerError> {
        let mut shared = self.shared();
        if let Some(asker) = &shared.asker {
            return Ok(asker.clone());
        }
        let asker: Reader = self
            .client(action)?
            .create_with_context(Context::default())
            .map_err(|error| of(action, error))?;
        let asker = Arc::new(asker);
        shared.asker = Some(asker.clone());
        Ok(asker)
    }

    /// A client of one subscription, with what it hears.
    pub(super) fn reader(
        &self,
        action: &'static str,
        subscription: &SubscriptionConfig,
    ) -> Result<(Reader, Arc<Heard>), BrokerError> {
        let heard = Arc::new(Heard::default());
        let mut client = self.client(action)?;
        client
            .set("group.id", &subscription.consumer)
            .set("enable.auto.commit", "false")
            .set("enable.auto.offset.store", "false")
            // There is no session: this is how long the end of the client waits for commits to a server that is away.
            .set("session.timeout.ms", self.config.request_timeout.as_millis().to_string())
            // A place that is gone is looked for here, so that what was missed is counted.
            .set("auto.offset.reset", "error")
            .set("queued.min.messages", subscription.in_flight_max.clamp(1, AHEAD_MAX).to_string())
            .set("queued.max.messages.kbytes", AHEAD_KB_MAX.to_string())
            .set("fetch.queue.backoff.ms", ROOM_PAUSE.as_millis().to_string());
        let mut reader: Reader =
            client.create_with_context(Context(heard.clone())).map_err(|error| of(action, error))?;
        let arrived = heard.clone();
        reader.set_nonempty_callback(move || arrived.arrived.notify_one());
        Ok((reader, heard))
    }

    /// Settings for a client of any kind.
    pub(super) fn client(&self, action: &'static str) -> Result<ClientConfig, BrokerError> {
        if self.config.partitions == 0 {
            return Err(refused(action, "`partitions` is 0; configure at least 1", "no partition"));
        }
        let mut client = address::client_of(&self.config, action)?;
        let millis = self.config.request_timeout.as_millis().to_string();
        client
            .set("client.id", "outbox")
            .set("socket.timeout.ms", &millis)
            .set("socket.connection.setup.timeout.ms", &millis)
            .set("reconnect.backoff.max.ms", RECONNECT_MAX.as_millis().to_string())
            .set("message.max.bytes", (self.config.event_bytes_max + FRAME_BYTES_MAX).to_string())
            // A mistyped name, or a number of partitions that nobody chose, would become a topic.
            .set("allow.auto.create.topics", "false")
            .set_log_level(RDKafkaLogLevel::Warning);
        Ok(client)
    }

    /// What a declared topic takes as one message, where that is known; `None` for one that is not declared.
    pub(super) fn declared(&self, topic: &str) -> Option<Option<usize>> {
        self.shared().declared.get(topic).copied()
    }

    pub(super) fn set_declared(&self, topic: &str, bytes_max: Option<usize>) {
        self.shared().declared.insert(topic.to_owned(), bytes_max);
    }

    /// Somebody has removed the topic.
    pub(super) fn set_missing(&self, topic: &str) {
        self.shared().declared.remove(topic);
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().expect("no panic holds this lock")
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        let shared = std::mem::take(&mut *self.shared());
        let_go((shared.publisher, shared.asker));
    }
}

/// Shows no server address: it may hold a password.
impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("config", &self.config).finish_non_exhaustive()
    }
}
