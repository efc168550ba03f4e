//! One partition of one consumer as a queue with a single active consumer, delivered in the queue's order.
//!
//! The server gives a queue to one channel at a time, and what that one has not acked it gives again, in order and before
//! anything newer, to the next once the channel is gone. That order has three conditions, which are kept here:
//!
//! - Nothing is given back one by one, since a queue puts it behind others that came back. A nacked delivery waits on this
//!   side, and later ones of its key behind it ([`window`](crate::broker::window)).
//! - A subscription ends by closing its channel and never by cancelling first: then the next would get newer messages while
//!   older ones are still out.
//! - Every channel takes the same number of messages in advance ([`PREFETCH`]). A queue that gets back more than the next
//!   channel takes at once would put what that one gives back behind the rest.
//!
//! ```text
//!            a connection or channel failed, or the queue is gone
//!         ┌───────────────────────────────────────────────────────┐
//!         ▼                                                       │
//!      closed ── queues declared, consuming ──▶ open: what comes is held, in order, until it is acked
//! ```
//! With its channel a subscription lets go of all that it holds, also of what the caller works on: all of it comes again,
//! with other tags, and the lane of its key lets the copy wait until the caller is done.

use super::{
    acks::{Acks, Told},
    error::of,
    link::{Line, Link},
    message::Message,
    topology::{self, short},
};
use crate::broker::{AckToken, BrokerError, Delivery, Subscription, SubscriptionConfig, window::Window};
use futures_util::{
    FutureExt, StreamExt,
    future::{self, BoxFuture},
};
use lapin::{
    Channel, Consumer,
    message::Delivery as Received,
    options::{BasicAckOptions, BasicConsumeOptions, BasicQosOptions},
    types::FieldTable,
};
use std::{sync::Arc, time::Duration};
use tokio::time::{Instant, timeout_at};

const SUBSCRIBE: &str = "subscribe";
const RECEIVE: &str = "receive";
const ACK: &str = "ack";

/// How many messages a channel is given before it acks the first, whatever the caller takes at a time. A smaller one in a
/// later version would break the order of what an earlier one left.
const PREFETCH: u16 = 256;

/// How long a channel must have lasted to be opened again at once. One that ends sooner may do so again and again, and the
/// caller knows how to wait.
const LASTED_MIN: Duration = Duration::from_secs(5);

const HAS_READER: &str = "without a channel nothing is received, and that is opened first";

/// The tag of a delivery: its place in the order of its channel.
pub(super) type Tag = u64;

pub(super) struct RabbitMqSubscription {
    line: Arc<Line>,
    config: SubscriptionConfig,
    queue: String,
    reader: Option<Reader>,
    window: Window<Tag, Message>,
    acks: Acks,
    /// Whether acks may still be under way.
    is_acking: bool,
}

/// The channel of this subscription while it lasts.
struct Reader {
    link: Arc<Link>,
    // Declared before the consumer, and so dropped before it.
    channel: OwnChannel,
    consumer: Consumer,
    opened_at: Instant,
}

/// A channel that ends with its owner, also with one who gave up before he knew that he consumes from it: else the queue would
/// have that for its active consumer, and nobody would get anything of it.
struct OwnChannel(Channel);

impl Drop for OwnChannel {
    /// The first poll sends the request, ahead of the cancellation that the client's consumer would send.
    fn drop(&mut self) {
        let _ = self.0.close(200, "the subscription ended".into()).now_or_never();
    }
}

impl Drop for RabbitMqSubscription {
    /// Whoever is next is not given what is done; its channel, which ends behind this, carries it still.
    fn drop(&mut self) {
        self.tell_all();
    }
}

impl RabbitMqSubscription {
    pub(super) async fn open(line: Arc<Line>, config: SubscriptionConfig) -> Result<Self, BrokerError> {
        let mut opened = Self {
            line,
            queue: topology::queue(&config.topic, &config.consumer, &config.partition),
            reader: None,
            window: Window::new(config.ack_wait),
            acks: Acks::default(),
            is_acking: false,
            config,
        };
        // What is set up wrong shows now.
        opened.open_reader().await?;
        Ok(opened)
    }

    async fn open_reader(&mut self) -> Result<(), BrokerError> {
        let link = self.line.link(SUBSCRIBE).await?;
        self.line.declare_consumer(&link, &self.config.topic, &self.config.consumer).await?;
        let channel = OwnChannel(self.line.channel(&link, SUBSCRIBE).await?);
        let prefetch = channel.0.basic_qos(PREFETCH, BasicQosOptions::default());
        self.line.answer(&link, SUBSCRIBE, prefetch).await?.map_err(|error| of(SUBSCRIBE, error))?;
        let (options, arguments) = (BasicConsumeOptions::default(), FieldTable::default());
        let consuming = channel.0.basic_consume(short(&self.queue)?, "".into(), options, arguments);
        let consumer = self.line.answer(&link, SUBSCRIBE, consuming).await?.map_err(|error| {
            link.forget();
            of(SUBSCRIBE, error)
        })?;
        self.reader = Some(Reader { link, channel, consumer, opened_at: Instant::now() });
        Ok(())
    }

    /// Receives until something is due, at the longest `at_most`, or until the channel is to be opened again.
    async fn receive_until_due(&mut self, at_most: Duration) -> Result<(), BrokerError> {
        let deadline = Instant::now() + at_most;
        loop {
            self.receive_ready()?;
            if self.window.is_due() || self.reader.is_none() || Instant::now() >= deadline {
                return Ok(());
            }
            if self.acks.due_at().is_some_and(|due_at| due_at <= Instant::now()) {
                self.tell_all();
            }
            self.wait(deadline).await?;
        }
    }

    /// Waits for a message, for one that may be had again, for acks that are to be told, or for the deadline; and sees to it
    /// that messages can come.
    async fn wait(&mut self, deadline: Instant) -> Result<(), BrokerError> {
        let link = Arc::clone(&self.reader.as_ref().expect(HAS_READER).link);
        let declared = self.line.declare_consumer(&link, &self.config.topic, &self.config.consumer).await;
        if let Err(error) = declared {
            return self.ended(error);
        }
        let wake =
            [self.window.next_due(), self.acks.due_at()].into_iter().flatten().fold(deadline, Instant::min);
        let reader = self.reader.as_mut().expect(HAS_READER);
        match timeout_at(wake, reader.consumer.next()).await {
            Ok(received) => self.receive(received),
            Err(_) => Ok(()),
        }
    }

    /// Takes over what has arrived, without waiting.
    fn receive_ready(&mut self) -> Result<(), BrokerError> {
        while let Some(reader) = &mut self.reader
            && let Some(received) = reader.consumer.next().now_or_never()
        {
            self.receive(received)?;
        }
        Ok(())
    }

    fn receive(&mut self, received: Option<lapin::Result<Received>>) -> Result<(), BrokerError> {
        match received {
            Some(Ok(received)) => {
                let message = Message { properties: received.properties, body: received.data };
                let (tag, count, key) = (received.delivery_tag, message.delivery_count(), message.key());
                self.window.hold(tag, message, key);
                self.window.set_delivery_count(tag, count);
                Ok(())
            }
            Some(Err(error)) => self.ended(of(RECEIVE, error)),
            None => {
                tracing::warn!(
                    messaging.consumer.group.name = self.config.consumer,
                    messaging.destination.name = self.config.topic,
                    "the broker ended the subscription, as when its queue is removed; the queue is declared again, and \
                     what a removed one held can be replayed from the log of the store"
                );
                if let Some(reader) = &self.reader {
                    reader.link.forget();
                }
                self.close();
                Ok(())
            }
        }
    }

    /// The server ended the channel, or the connection with it, as when an ack took longer than it waits. The caller is not
    /// told where that passes at once, or all that it works on would have to end before anything else goes on.
    fn ended(&mut self, error: BrokerError) -> Result<(), BrokerError> {
        let lasted = self.reader.as_ref().is_some_and(|reader| reader.opened_at.elapsed() >= LASTED_MIN);
        self.close();
        if !lasted || !error.is_transient() {
            return Err(error);
        }
        tracing::warn!(
            messaging.consumer.group.name = self.config.consumer,
            messaging.destination.name = self.config.topic,
            error = &error as &dyn std::error::Error,
            "the broker ended a subscription, which is taken up again; what had no ack comes again, and is dropped where \
             it was handled"
        );
        Ok(())
    }

    /// Everything that is not acked comes again.
    fn close(&mut self) {
        self.reader = None;
        self.window.let_all_go();
        self.acks = Acks::default();
        self.is_acking = false;
    }

    /// Takes what is due, from a channel that is opened if need be: a wait for messages may be dropped before it would be open.
    async fn take_some(&mut self, max: u32) -> Result<Vec<Delivery>, BrokerError> {
        if self.reader.is_none() {
            self.open_reader().await?;
        }
        self.receive_ready()?;
        Ok(self.take_due(max))
    }

    fn take_due(&mut self, max: u32) -> Vec<Delivery> {
        let (topic, queue) = (&self.config.topic, &self.queue);
        let due = self.window.take_due(max);
        due.into_iter()
            .map(|(token, _, message)| Delivery { token, event: message.read(topic, queue) })
            .collect()
    }

    fn tell_all(&mut self) {
        let told = self.acks.take_all(self.window.first());
        self.tell(told);
    }

    /// Sends acks. There is no answer: what does not reach the server comes again, and the inbox absorbs it.
    fn tell(&mut self, told: Told) {
        let Some(reader) = &self.reader else { return };
        self.is_acking |= !told.is_empty();
        let up_to = told.up_to.map(|tag| (tag, true));
        for (tag, multiple) in up_to.into_iter().chain(told.single.into_iter().map(|tag| (tag, false))) {
            // The first poll sends it. A channel that has ended is noticed where it is read.
            let _ = reader.channel.0.basic_ack(tag, BasicAckOptions { multiple }).now_or_never();
        }
    }

    /// Waits until the server has read the acks: it answers in order.
    async fn await_acks(&mut self) -> Result<(), BrokerError> {
        self.tell_all();
        let Some(reader) = self.reader.as_ref().filter(|_| self.is_acking) else { return Ok(()) };
        let again = reader.channel.0.basic_qos(PREFETCH, BasicQosOptions::default());
        let answer = self.line.answer(&reader.link, ACK, again).await;
        match answer.and_then(|answer| answer.map_err(|error| of(ACK, error))) {
            Ok(()) => {
                self.is_acking = false;
                Ok(())
            }
            Err(error) => {
                self.close();
                Err(error)
            }
        }
    }
}

impl Subscription for RabbitMqSubscription {
    fn ready(&mut self, at_most: Duration) -> BoxFuture<'_, Result<(), BrokerError>> {
        Box::pin(self.receive_until_due(at_most))
    }

    fn take(&mut self, max: u32) -> BoxFuture<'_, Result<Vec<Delivery>, BrokerError>> {
        Box::pin(self.take_some(max))
    }

    fn ack<'a>(&'a mut self, tokens: &'a [AckToken]) -> BoxFuture<'a, Result<(), BrokerError>> {
        self.acks.add(self.window.remove(tokens));
        let told = self.acks.take_due(self.window.first());
        self.tell(told);
        Box::pin(future::ready(Ok(())))
    }

    fn flush(&mut self) -> BoxFuture<'_, Result<(), BrokerError>> {
        Box::pin(async {
            match self.await_acks().await {
                // They come again.
                Err(error) if error.is_transient() => Ok(()),
                awaited => awaited,
            }
        })
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
