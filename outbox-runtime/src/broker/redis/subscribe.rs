//! One partition of one consumer as a consumer group on its stream, delivered in the stream's order.
//!
//! Redis gives what a member of a group held to no other by itself, and gives newer entries to whoever asks. So a crashed
//! process, or one that was paused inside a read and is served when its place has long been taken, keeps entries from their
//! order. The lease in the consumer's database says who works the partition: whatever is pending for anybody else belongs to
//! this subscription, at once and not after a time. So it begins by claiming all that is pending, and after each read the
//! server says who holds something:
//!
//! ```text
//!              a connection failed, or another member holds something
//!     ┌────────────────────────────────────────────────────────────────┐
//!     ▼                                                                │
//!  unknown ── group made ──▶ claiming ── all pending is here ──▶ in order ── read, and nobody else
//!     ▲                          │                               ▲     │      holds anything
//!     └────── the group is gone ─┘                               └─────┘
//! ```
//!
//! Read and question are one pipeline, so what another one was given before these entries is seen before they are yielded.
//! Each connection has a member's name of its own: what the server still sends to one that failed is then another member's.
//!
//! Only in order does it yield, lowest first. A caller drops `ready` whenever something else happens first, so the open read
//! is kept in the subscription. A nack stays on this side: the delivery waits here, and later ones of its key behind it.

use super::{
    entry::{self, EntryId, Fields, key_of},
    error::{is_group_missing, of_key, unavailable},
    link::{Answers, Link},
    topic,
};
use crate::{
    broker::{AckToken, BrokerError, Delivery, Subscription, SubscriptionConfig, window::Window},
    held::Stage,
    telemetry::{self, Outcome},
};
use futures_util::{FutureExt, future, future::BoxFuture};
use redis_client::{
    FromRedisValue, RedisError, RedisResult, Value, aio::MultiplexedConnection, cmd, from_redis_value, pipe,
};
use std::{sync::Arc, time::Duration};
use tokio::time::{Instant, sleep_until, timeout_at};
use uuid::Uuid;

const SUBSCRIBE: &str = "subscribe";
const RECEIVE: &str = "receive";
const ACK: &str = "ack";

/// How long one read waits at the server: long enough to be cheap. An entry that a paused process took from an idle stream is
/// missed for so long.
const BLOCK: Duration = Duration::from_secs(5);
/// Entries that one claim looks at.
const CLAIM_MAX: usize = 100;
/// Where the ids begin, and what a claim says that has come to their end.
const BEGINNING: &str = "0-0";

const HAS_READER: &str = "without a connection nothing is known, and that is made first";

/// An entry as the server gives it; without fields when it was deleted.
type RawEntry = (String, Option<Fields>);
/// The entries of each stream that was read; `None` when there was none in time.
type RawRead = Option<Vec<(String, Vec<RawEntry>)>>;
/// How many entries are pending, the first, the last, and how many for each member.
type RawPending = (u64, Option<String>, Option<String>, Option<Vec<(String, u64)>>);
/// Where the next claim begins, what was claimed, and what was pending and is gone.
type RawClaim = (String, Vec<Option<RawEntry>>, Vec<String>);

pub(super) struct RedisSubscription {
    link: Arc<Link>,
    config: SubscriptionConfig,
    stream: String,
    reader: Option<Reader>,
    window: Window<EntryId, Fields>,
    phase: Phase,
    /// Whether this subscription has seen its group.
    had_group: bool,
    /// Acks that did not reach the server yet.
    unsent: Vec<EntryId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Phase {
    /// Nothing is known of what is pending.
    Unknown,
    /// What is pending from this id on is being claimed.
    Claiming(String),
    /// Nothing below what is held here is pending elsewhere.
    InOrder,
}

/// The connection of the reads, as one member of the group.
struct Reader {
    connection: MultiplexedConnection,
    member: String,
    /// The read that waits at the server.
    read: Option<BoxFuture<'static, Answers>>,
}

impl RedisSubscription {
    pub(super) async fn open(link: Arc<Link>, config: SubscriptionConfig) -> Result<Self, BrokerError> {
        let mut opened = Self {
            link,
            stream: topic::stream(&config.topic, &config.partition),
            reader: None,
            window: Window::new(config.ack_wait),
            phase: Phase::Unknown,
            had_group: false,
            unsent: Vec::new(),
            config,
        };
        // What is set up wrong shows now.
        opened.begin_claiming().await?;
        Ok(opened)
    }

    /// Receives until something is due, at the longest `at_most`.
    async fn receive_until_due(&mut self, at_most: Duration) -> Result<(), BrokerError> {
        let deadline = Instant::now() + at_most;
        loop {
            self.receive_ready()?;
            let is_due = self.phase == Phase::InOrder && self.window.is_due();
            if is_due || Instant::now() >= deadline {
                return Ok(());
            }
            match self.phase.clone() {
                Phase::Unknown => self.begin_claiming().await?,
                Phase::Claiming(from) => self.claim(&from).await?,
                Phase::InOrder => self.wait(deadline).await?,
            }
        }
    }

    /// Sees to it that there are a connection and a group, and begins to take over what is pending.
    async fn begin_claiming(&mut self) -> Result<(), BrokerError> {
        if self.reader.is_none() {
            let connection = self.link.connect(SUBSCRIBE, BLOCK).await?;
            self.reader = Some(Reader { connection, member: Uuid::new_v4().to_string(), read: None });
        }
        let reader = self.reader.as_mut().expect(HAS_READER);
        let create = cmd("XGROUP")
            .arg(&["CREATE", &self.stream, &self.config.consumer, BEGINNING, "MKSTREAM"])
            .query_async::<()>(&mut reader.connection)
            .await;
        match create {
            Ok(()) if self.had_group => tracing::warn!(
                messaging.consumer.group.name = self.config.consumer,
                messaging.destination.name = self.stream,
                "the consumer's group was gone from the broker and reads from the oldest entry again"
            ),
            Ok(()) => {}
            Err(error) if error.code() == Some("BUSYGROUP") => self.note_missed().await,
            Err(error) => return Err(self.failed(SUBSCRIBE, error)),
        }
        self.had_group = true;
        self.window.let_go();
        self.phase = Phase::Claiming(BEGINNING.to_owned());
        Ok(())
    }

    /// Looks for what was removed before the group had read it, as somebody may who trims a stream by hand.
    async fn note_missed(&mut self) {
        let reader = self.reader.as_mut().expect(HAS_READER);
        let missed: RedisResult<u64> = cmd("EVAL")
            .arg(include_str!("note_missed.lua"))
            .arg(&["1", &self.stream, &self.config.consumer])
            .query_async(&mut reader.connection)
            .await;
        match missed {
            Ok(0) => {}
            Ok(missed) => self.tell_missed(missed),
            // A connection that failed is found by what comes next.
            Err(error) => tracing::debug!(
                error = &error as &dyn std::error::Error,
                "what a consumer has missed is not known"
            ),
        }
    }

    fn tell_missed(&self, count: u64) {
        let stage = Stage::consumer(&self.config.consumer);
        telemetry::count_events(stage.as_str(), Outcome::Missed, count);
        tracing::error!(
            messaging.consumer.group.name = self.config.consumer,
            messaging.destination.name = self.stream,
            count,
            "events were removed from the broker before this consumer handled them"
        );
    }

    /// Claims what is pending, whoever holds it: the lease says that nobody else works this partition.
    async fn claim(&mut self, from: &str) -> Result<(), BrokerError> {
        let reader = self.reader.as_mut().expect(HAS_READER);
        let claimed: RedisResult<RawClaim> = cmd("XAUTOCLAIM")
            .arg(&[&self.stream, &self.config.consumer, &reader.member, "0", from, "COUNT"])
            .arg(CLAIM_MAX)
            .query_async(&mut reader.connection)
            .await;
        let (next, entries, gone) = match claimed {
            Ok(claimed) => claimed,
            Err(error) => return self.pass(RECEIVE, error),
        };
        // Gone from the stream and, by this claim, from what is pending.
        if !gone.is_empty() {
            self.tell_missed(gone.len() as u64);
        }
        for (id, fields) in entries.into_iter().flatten() {
            self.hold(&id, fields)?;
        }
        if next == BEGINNING {
            self.count_deliveries().await?;
        } else {
            self.phase = Phase::Claiming(next);
        }
        Ok(())
    }

    /// Learns how often each was delivered, and removes members that hold nothing any more.
    async fn count_deliveries(&mut self) -> Result<(), BrokerError> {
        let reader = self.reader.as_mut().expect(HAS_READER);
        let answers: RedisResult<(Value, Value)> = pipe()
            .ignore_errors()
            .cmd("XPENDING")
            .arg(&[&self.stream, &self.config.consumer, "-", "+"])
            .arg(self.window.len().max(1))
            .arg(&reader.member)
            .cmd("EVAL")
            .arg(include_str!("forget_members.lua"))
            .arg(&["1", &self.stream, &self.config.consumer, &reader.member])
            .query_async(&mut reader.connection)
            .await;
        // Only a comfort: members that are not removed do no harm.
        let (pending, _) = match answers {
            Ok(answers) => answers,
            Err(error) => return self.pass(RECEIVE, error),
        };
        let pending: Vec<(String, String, u64, u32)> = match parsed(Ok(pending)) {
            Ok(pending) => pending,
            Err(error) => return self.pass(RECEIVE, error),
        };
        for (id, _, _, count) in pending {
            self.window.set_delivery_count(id_of(&id)?, count);
        }
        self.phase = Phase::InOrder;
        Ok(())
    }

    /// Waits for entries, for one that may be had again, or for the deadline.
    async fn wait(&mut self, deadline: Instant) -> Result<(), BrokerError> {
        let wake = self.window.next_due().map_or(deadline, |due| due.min(deadline));
        let open = self.window.len() + self.unsent.len();
        let room = (self.config.in_flight_max as usize).saturating_sub(open);
        let reader = self.reader.as_mut().expect(HAS_READER);
        if reader.read.is_none() && room > 0 {
            reader.read = Some(read(reader, &self.stream, &self.config.consumer, room));
        }
        let Some(read) = &mut reader.read else {
            sleep_until(wake).await;
            return Ok(());
        };
        match timeout_at(wake, read).await {
            Ok(answers) => self.receive(answers),
            Err(_) => Ok(()),
        }
    }

    /// Takes over what has arrived, without waiting.
    fn receive_ready(&mut self) -> Result<(), BrokerError> {
        let read = self.reader.as_mut().and_then(|reader| reader.read.as_mut());
        match read.and_then(FutureExt::now_or_never) {
            Some(answers) => self.receive(answers),
            None => Ok(()),
        }
    }

    /// Takes over one read, and whether somebody else holds what should be here.
    fn receive(&mut self, answers: Answers) -> Result<(), BrokerError> {
        if let Some(reader) = &mut self.reader {
            reader.read = None;
        }
        let (entries, pending) = match answers.and_then(read_of) {
            Ok(read) => read,
            Err(error) => return self.pass(RECEIVE, error),
        };
        let streams = entries.unwrap_or_default();
        for (id, fields) in streams.into_iter().flat_map(|(_, entries)| entries) {
            self.hold(&id, fields)?;
        }
        let (_, _, _, members) = pending;
        let own = self.reader.as_ref().map(|reader| &reader.member);
        if members.into_iter().flatten().any(|(member, _)| Some(&member) != own) {
            self.phase = Phase::Unknown;
        }
        Ok(())
    }

    fn hold(&mut self, id: &str, fields: Option<Fields>) -> Result<(), BrokerError> {
        let id = id_of(id)?;
        // An ack that is under way again: the caller is done with it.
        if !self.unsent.contains(&id) {
            let fields = fields.unwrap_or_default();
            let key = key_of(&fields);
            self.window.hold(id, fields, key);
        }
        Ok(())
    }

    /// Passes a missing group, which is made again, and else gives the error up.
    fn pass(&mut self, action: &'static str, error: RedisError) -> Result<(), BrokerError> {
        if is_group_missing(&error) {
            self.phase = Phase::Unknown;
            return Ok(());
        }
        Err(self.failed(action, error))
    }

    /// The connection of the reads is made anew: what it may still be given is another member's then.
    fn failed(&mut self, action: &'static str, error: RedisError) -> BrokerError {
        self.reader = None;
        self.phase = Phase::Unknown;
        of_key(action, &self.stream, error)
    }

    fn take_due(&mut self, max: u32) -> Vec<Delivery> {
        let (topic, partition) = (&self.config.topic, &self.config.partition);
        let due = self.window.take_due(max);
        due.into_iter()
            .map(|(token, id, fields)| Delivery { token, event: entry::read(topic, partition, id, fields) })
            .collect()
    }

    /// Acks what the server has not heard yet. What fails stays to be sent: until then it is pending, and comes again to
    /// whoever opens this partition next.
    async fn send_acks(&mut self) -> Result<(), BrokerError> {
        if self.unsent.is_empty() {
            return Ok(());
        }
        let mut shared = self.link.shared(ACK).await?;
        let ids: Vec<String> = self.unsent.iter().map(EntryId::to_string).collect();
        let acked: RedisResult<u64> = cmd("XACK")
            .arg(&[&self.stream, &self.config.consumer])
            .arg(&ids)
            .query_async(&mut shared.connection)
            .await;
        match acked {
            Ok(_) => {
                self.unsent.clear();
                Ok(())
            }
            Err(error) => {
                let judged = of_key(ACK, &self.stream, error.clone());
                Err(self.link.judge(&shared, judged, &error).await)
            }
        }
    }
}

impl Subscription for RedisSubscription {
    fn ready(&mut self, at_most: Duration) -> BoxFuture<'_, Result<(), BrokerError>> {
        Box::pin(self.receive_until_due(at_most))
    }

    fn take(&mut self, max: u32) -> BoxFuture<'_, Result<Vec<Delivery>, BrokerError>> {
        let taken = self.receive_ready().map(|()| match self.phase {
            Phase::InOrder => self.take_due(max),
            _ => Vec::new(),
        });
        Box::pin(future::ready(taken))
    }

    fn ack<'a>(&'a mut self, tokens: &'a [AckToken]) -> BoxFuture<'a, Result<(), BrokerError>> {
        self.unsent.extend(self.window.remove(tokens));
        Box::pin(async {
            match self.send_acks().await {
                // They are sent with the next ones.
                Err(error) if error.is_transient() => Ok(()),
                sent => sent,
            }
        })
    }

    fn flush(&mut self) -> BoxFuture<'_, Result<(), BrokerError>> {
        Box::pin(self.send_acks())
    }

    fn has_come_to_new(&self) -> bool {
        self.phase == Phase::InOrder && !self.window.has_repeated()
    }

    fn delivery_count(&self, token: &AckToken) -> Option<u32> {
        self.window.delivery_count(*token)
    }

    fn nack<'a>(
        &'a mut self,
        token: &'a AckToken,
        delay: Duration,
    ) -> BoxFuture<'a, Result<(), BrokerError>> {
        self.window.nack(*token, delay);
        Box::pin(future::ready(Ok(())))
    }
}

/// A read of what is new, and the question who holds something, answered after it.
fn read(reader: &Reader, stream: &str, group: &str, count: usize) -> BoxFuture<'static, Answers> {
    let mut connection = reader.connection.clone();
    let mut pipeline = pipe();
    pipeline.ignore_errors();
    pipeline.cmd("XREADGROUP").arg(&["GROUP", group, &reader.member, "COUNT"]).arg(count);
    pipeline.arg("BLOCK").arg(u64::try_from(BLOCK.as_millis()).unwrap_or(0));
    pipeline.arg(&["STREAMS", stream, ">"]);
    pipeline.cmd("XPENDING").arg(&[stream, group]);
    Box::pin(async move { pipeline.query_async(&mut connection).await })
}

fn read_of(answers: Vec<RedisResult<Value>>) -> RedisResult<(RawRead, RawPending)> {
    let mut answers = answers.into_iter();
    let mut next = || answers.next().unwrap_or(Ok(Value::Nil));
    Ok((parsed(next())?, parsed(next())?))
}

fn parsed<T: FromRedisValue>(answer: RedisResult<Value>) -> RedisResult<T> {
    Ok(from_redis_value(answer?.extract_error()?)?)
}

fn id_of(text: &str) -> Result<EntryId, BrokerError> {
    text.parse().map_err(|problem: String| unavailable(RECEIVE, problem))
}
