//! One partition of one consumer: a client of its own, which reads this partition from the position that its group has
//! committed.
//!
//! The lease in the consumer's database says who works a partition, so the client is no member of the group: it is assigned the
//! partition and commits as the group. Whichever protocol members would use, nobody gives the partition to anybody else, and
//! there is no second opinion on who has it. A successor begins at the committed position, so what its predecessor left comes
//! first and in order. One that was paused may commit an older position later; then some events come again.
//!
//! ```text
//!  opened ── position of the group, first and last of the partition ──▶ reading ── take, ack, commit
//!                     ▲                                                    │
//!                     └──────────── the place is gone at the server ◀──────┘
//! ```
//!
//! The position is that of the first event without an ack. It is committed after acks, and again now and then while nothing
//! comes, since the server forgets positions that nobody renews. The client tells nobody how such a commit ended, and would wait
//! for ever for one that it is to wait for while its server is away: so whoever must know reads the position back. A nack stays
//! on this side: the delivery waits here, and later ones of its key behind it.

use super::{
    client::{Heard, Reader, ask, let_go, waiting},
    error::{code_of, is_topic_missing, of, refused, unavailable},
    link::Link,
    message::Record,
};
use crate::{
    broker::{AckToken, BrokerError, Delivery, Subscription, SubscriptionConfig, window::Window},
    held::Stage,
    telemetry::{self, Outcome},
};
use futures_util::future::{self, BoxFuture};
use rdkafka::{
    Message, Offset, TopicPartitionList,
    consumer::{CommitMode, Consumer},
    error::{KafkaError, KafkaResult, RDKafkaErrorCode as Code},
};
use std::{sync::Arc, time::Duration};
use tokio::time::{Instant, sleep, timeout_at};

const SUBSCRIBE: &str = "subscribe";
const RECEIVE: &str = "receive";
const ACK: &str = "ack";

/// That something has come is a hint; without one it is looked for so often.
const LOOK: Duration = Duration::from_millis(250);
/// Between two commits while acks come.
const COMMIT_PAUSE: Duration = Duration::from_millis(100);
/// Between a commit and the next look whether the server has it.
const CONFIRM_PAUSE: Duration = Duration::from_millis(10);
/// How often a position is committed that has not moved: far more often than `offsets.retention.minutes`, a week.
const RENEW: Duration = Duration::from_secs(60 * 60);

pub(super) struct KafkaSubscription {
    link: Arc<Link>,
    config: SubscriptionConfig,
    partition: i32,
    reader: Option<Arc<Reader>>,
    heard: Arc<Heard>,
    window: Window<i64, Record>,
    /// Behind the last message that has come.
    next: i64,
    is_place_gone: bool,
    commit: Commit,
}

/// What the server was told of the position, and what it has.
struct Commit {
    sent: Option<i64>,
    sent_at: Instant,
    known: Option<i64>,
}

/// Where to begin.
struct Beginning {
    committed: Option<i64>,
    low: i64,
    high: i64,
}

impl KafkaSubscription {
    pub(super) async fn open(link: Arc<Link>, config: SubscriptionConfig) -> Result<Self, BrokerError> {
        let partition = config.partition.parse().map_err(|error| {
            refused(SUBSCRIBE, "a partition of Kafka is a number; see `Broker::partitions`", error)
        })?;
        let (reader, heard) = link.reader(SUBSCRIBE, &config)?;
        let mut opened = Self {
            link,
            partition,
            reader: Some(Arc::new(reader)),
            heard,
            window: Window::new(config.ack_wait),
            next: 0,
            is_place_gone: false,
            commit: Commit { sent: None, sent_at: Instant::now(), known: None },
            config,
        };
        let beginning = opened.look(SUBSCRIBE).await?;
        let from = match beginning.committed {
            // If it lies behind the last message, the server says whether that is a mistake.
            Some(committed) => opened.past_missed(committed, beginning.low),
            None => beginning.low,
        };
        opened.commit.known = beginning.committed;
        opened.assign(from)?;
        Ok(opened)
    }

    fn reader(&self) -> &Arc<Reader> {
        self.reader.as_ref().expect("it is kept until the end")
    }

    /// Asks for the committed position and the borders of the partition.
    async fn look(&self, action: &'static str) -> Result<Beginning, BrokerError> {
        let (reader, limit) = (self.reader().clone(), self.link.config.request_timeout);
        let (topic, partition) = (self.config.topic.clone(), self.partition);
        let looked = waiting(action, move || {
            let (low, high) = ask(&reader, action, limit, |reader, slice| {
                reader.fetch_watermarks(&topic, partition, slice)
            })?;
            let committed =
                ask(&reader, action, limit, |reader, slice| committed(reader, &topic, partition, slice))?;
            Ok(Beginning { committed, low, high })
        });
        looked.await.inspect_err(|_| self.link.set_missing(&self.config.topic))
    }

    /// Goes past what the server has removed, and tells of it.
    fn past_missed(&self, position: i64, low: i64) -> i64 {
        let missed = (low - position).max(0).unsigned_abs();
        if missed > 0 {
            let stage = Stage::consumer(&self.config.consumer);
            telemetry::count_events(stage.as_str(), Outcome::Missed, missed);
            tracing::error!(
                messaging.consumer.group.name = self.config.consumer,
                messaging.destination.name = self.config.topic,
                partition = self.partition,
                count = missed,
                "events were removed from the broker before this consumer handled them"
            );
        }
        position.max(low)
    }

    /// Reads on from there.
    fn assign(&mut self, from: i64) -> Result<(), BrokerError> {
        let assigned = self.place(from).and_then(|place| self.reader().assign(&place));
        assigned.map_err(|error| of(SUBSCRIBE, error))?;
        self.next = from;
        Ok(())
    }

    /// Finds a place again after the server said that there is none such: what stood there is gone, or the whole topic was.
    async fn find_place(&mut self) -> Result<(), BrokerError> {
        self.reader().unassign().map_err(|error| of(RECEIVE, error))?;
        let beginning = self.look(RECEIVE).await?;
        let mut from = self.past_missed(self.next, beginning.low);
        if from > beginning.high {
            tracing::warn!(
                messaging.consumer.group.name = self.config.consumer,
                messaging.destination.name = self.config.topic,
                partition = self.partition,
                "the partition ends before the consumer's position, as a topic that was made anew; it is read from its oldest \
                 event"
            );
            from = beginning.low;
            self.window.let_all_go();
        }
        self.assign(from)?;
        self.is_place_gone = false;
        Ok(())
    }

    /// Receives until something is due, at the longest `at_most`.
    async fn receive_until_due(&mut self, at_most: Duration) -> Result<(), BrokerError> {
        let deadline = Instant::now() + at_most;
        loop {
            self.receive()?;
            if self.is_place_gone {
                self.find_place().await?;
            }
            self.commit()?;
            let now = Instant::now();
            if self.window.is_due() || now >= deadline {
                return Ok(());
            }
            let due = self.window.next_due().unwrap_or(deadline);
            let wake = deadline.min(due).min(now + LOOK);
            let _ = timeout_at(wake, self.heard.arrived.notified()).await;
        }
    }

    /// Takes over what has come, as far as there is room.
    fn receive(&mut self) -> Result<(), BrokerError> {
        let max = self.config.in_flight_max as usize;
        if let Some(refusal) = self.heard.take_refusal(RECEIVE) {
            return Err(refusal);
        }
        let reader = self.reader().clone();
        // One that says nothing may stand before others: the client may have used it up itself.
        let mut silences = 0;
        while self.window.len() < max && silences < 2 {
            match reader.poll(Duration::ZERO) {
                Some(Ok(message)) => {
                    let (offset, record) = (message.offset(), Record::of(&message));
                    self.next = offset + 1;
                    let key = record.key();
                    self.window.hold(offset, record, key);
                }
                Some(Err(error)) => self.judge(error)?,
                None => silences += 1,
            }
        }
        Ok(())
    }

    /// What an error means for the subscription. The client waits for a server that is away.
    fn judge(&mut self, error: KafkaError) -> Result<(), BrokerError> {
        let is_fatal = matches!(error, KafkaError::MessageConsumptionFatal(_));
        match code_of(&error) {
            Some(Code::AutoOffsetReset | Code::OffsetOutOfRange | Code::LogTruncation) => {
                self.is_place_gone = true;
                Ok(())
            }
            Some(code) if is_topic_missing(code) => {
                self.link.set_missing(&self.config.topic);
                Err(unavailable(RECEIVE, error))
            }
            _ if is_fatal => Err(unavailable(RECEIVE, error)),
            _ => Err(of(RECEIVE, error))
                .or_else(|error| if error.is_transient() { Ok(()) } else { Err(error) }),
        }
    }

    /// The first event without an ack, or what comes next.
    fn position(&self) -> i64 {
        self.window.first().unwrap_or(self.next)
    }

    /// Commits the position if it has moved or must be renewed, and no other commit was made just now.
    fn commit(&mut self) -> Result<(), BrokerError> {
        let (position, age) = (self.position(), self.commit.sent_at.elapsed());
        let is_due = match self.commit.sent {
            Some(sent) if sent == position => age >= RENEW,
            Some(_) => age >= COMMIT_PAUSE,
            None => true,
        };
        if is_due { self.send(position) } else { Ok(()) }
    }

    /// Commits a position and does not wait for it.
    fn send(&mut self, position: i64) -> Result<(), BrokerError> {
        let sent = self.place(position).and_then(|place| self.reader().commit(&place, CommitMode::Async));
        sent.map_err(|error| of(ACK, error))?;
        (self.commit.sent, self.commit.sent_at) = (Some(position), Instant::now());
        Ok(())
    }

    /// Commits the position and waits until the server has it.
    async fn commit_all(&mut self) -> Result<(), BrokerError> {
        let limit = self.link.config.request_timeout;
        let deadline = Instant::now() + limit;
        loop {
            let position = self.position();
            if self.commit.known == Some(position) {
                return Ok(());
            }
            // The same connection carries commit and question, one after the other.
            self.send(position)?;
            let (reader, topic, partition) =
                (self.reader().clone(), self.config.topic.clone(), self.partition);
            let known = waiting(ACK, move || {
                committed(&reader, &topic, partition, limit).map_err(|error| of(ACK, error))
            });
            self.commit.known = known.await?;
            if self.commit.known != Some(position) {
                if Instant::now() >= deadline {
                    return Err(unavailable(ACK, "the server did not take the position in time"));
                }
                sleep(CONFIRM_PAUSE).await;
            }
        }
    }

    fn place(&self, offset: i64) -> KafkaResult<TopicPartitionList> {
        let mut place = TopicPartitionList::with_capacity(1);
        place.add_partition_offset(&self.config.topic, self.partition, Offset::Offset(offset))?;
        Ok(place)
    }

    fn take_due(&mut self, max: u32) -> Vec<Delivery> {
        let (topic, partition) = (&self.config.topic, self.partition);
        let due = self.window.take_due(max);
        due.into_iter()
            .map(|(token, offset, record)| Delivery { token, event: record.read(topic, partition, offset) })
            .collect()
    }
}

impl Subscription for KafkaSubscription {
    fn ready(&mut self, at_most: Duration) -> BoxFuture<'_, Result<(), BrokerError>> {
        Box::pin(self.receive_until_due(at_most))
    }

    fn take(&mut self, max: u32) -> BoxFuture<'_, Result<Vec<Delivery>, BrokerError>> {
        let received = self.receive();
        let taken = received.map(|()| if self.is_place_gone { Vec::new() } else { self.take_due(max) });
        Box::pin(future::ready(taken))
    }

    fn ack<'a>(&'a mut self, tokens: &'a [AckToken]) -> BoxFuture<'a, Result<(), BrokerError>> {
        self.window.remove(tokens);
        let committed = match self.commit() {
            // It is sent again with the next ones.
            Err(error) if error.is_transient() => Ok(()),
            committed => committed,
        };
        Box::pin(future::ready(committed))
    }

    fn flush(&mut self) -> BoxFuture<'_, Result<(), BrokerError>> {
        Box::pin(self.commit_all())
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

impl Drop for KafkaSubscription {
    fn drop(&mut self) {
        if let Some(reader) = self.reader.take() {
            let_go(reader);
        }
    }
}

/// The position that the group has committed.
fn committed(reader: &Reader, topic: &str, partition: i32, limit: Duration) -> KafkaResult<Option<i64>> {
    let mut asked = TopicPartitionList::with_capacity(1);
    asked.add_partition(topic, partition);
    let answer = reader.committed_offsets(asked, limit)?;
    let Some(found) = answer.find_partition(topic, partition) else { return Ok(None) };
    found.error()?;
    Ok(match found.offset() {
        Offset::Offset(offset) => Some(offset),
        _ => None,
    })
}
