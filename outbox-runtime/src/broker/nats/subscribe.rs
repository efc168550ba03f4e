//! One partition of one consumer as a filtered durable, delivered in the stream's order.
//!
//! JetStream alone does not keep that order: what a consumer held when it crashed, or what was lost with a connection,
//! comes again only after the ack wait, and newer events pass it meanwhile. So this side keeps every delivery until it
//! is acked and counts the server's deliveries:
//!
//! ```text
//!       a delivery is missing, a request failed, or the subscription is new
//!     ┌───────────────────────────────────────────────────────────┐
//!     │                                                           ▼
//!  in order ◀── all that the server waited ── collecting ◀── declared, and if the server waits for
//!                for an ack of came again        │           any ack: shortened ── expiring
//!                                                │                      ▲
//!                                                └── nothing comes ─────┘
//! ```
//!
//! The server only says how many deliveries it waits for, so when one is missing, all of them must come again: what is
//! repeated was among them, and when as many places were repeated as it waited for, none is missing. Acks in between, also
//! of another process, can then only make it take another turn. What the caller does not have yet is let go before.
//!
//! This goes on for as long as it takes: a newer event is never given before an older one that may come. What is gone from
//! the stream never comes, and the server is told not to wait for it; what it keeps back is asked for by its place
//! ([`missing`](super::missing)).
//!
//! Only in order does it yield, lowest first. The states are kept in the subscription, since a caller drops `next`
//! whenever something else happens first.
//!
//! A nack stays on this side: the delivery waits here, and later ones of its key behind it. If this process dies, the
//! ack wait brings all of them again.

use super::{
    durable::{self, Answer, Known},
    error::unavailable,
    header,
};
use crate::broker::{
    AckToken, BrokerError, Delivery, Subscription, SubscriptionConfig, cloudevents::Place, content,
};
use async_nats::connection;
use async_nats::jetstream::{
    self, Message,
    consumer::{Consumer, Info, pull},
};
use futures_util::{FutureExt, StreamExt, future, future::BoxFuture};
use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    time::Duration,
};
use time::OffsetDateTime;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

pub(super) const RECEIVE: &str = "receive";
pub(super) const ACK: &str = "ack";

/// How long one request for deliveries stays open at the server: long enough to be cheap, short enough that one that
/// was lost with a connection does not matter.
const REQUEST_MIN: Duration = Duration::from_millis(250);
const REQUEST_MAX: Duration = Duration::from_secs(10);
/// How long after its end a request may still deliver.
const REQUEST_GRACE: Duration = Duration::from_millis(250);
/// How long the server takes to look at its deliveries after the ack wait was changed: 100 ms, and some for a busy one.
const EXPIRY: Duration = Duration::from_millis(200);
/// What a server gets that was busier, at most: each time twice as long as before.
const EXPIRY_MAX: Duration = Duration::from_secs(5);
/// After so many tries it is looked what is missing: a server that is only slow is not asked more.
const TRIES_BEFORE_LOOK: u32 = 3;
/// How long nothing may come of what is missing, until the server is taken not to have looked in time.
const STANDSTILL_MAX: Duration = Duration::from_secs(1);
/// Between two looks at whether acks were taken.
const LOOK_PAUSE: Duration = Duration::from_millis(20);
/// How long catching up may take before it is told, and between two times that it is.
const STILL_WAITING_PAUSE: Duration = Duration::from_secs(30);

/// How often a flush looks whether the server has taken the acks: it does within a few milliseconds, and what it has not
/// taken comes again.
const FLUSH_LOOKS_MAX: u32 = 25;

pub(super) struct NatsSubscription {
    context: jetstream::Context,
    config: SubscriptionConfig,
    consumer: Consumer<pull::Config>,
    known: Known,
    /// The open request for deliveries; dropping it loses what is on its way, which is then missing.
    request: Option<Request>,
    /// The server's number of the last delivery that came; each delivery, also a repeated one, has the next.
    last_delivery: u64,
    /// Every delivery without an ack, by its place in the stream.
    held: BTreeMap<u64, Held>,
    phase: Phase,
    /// What the server waited for when collecting began.
    awaited: Awaited,
    /// The last place that was delivered before this subscription; `None` until the server has said it.
    given_until: Option<u64>,
    /// The last place that came here.
    seen_until: u64,
    /// How far what is missing was looked for.
    looked_until: u64,
    /// When catching up began, or was last told to take long.
    told_at: Option<Instant>,
    /// When something that is missing came last, or was to begin to come.
    came_at: Instant,
    /// How often all that the server waits for was collected in vain.
    tries: u32,
    /// What the server is being asked. It goes on where it was after a caller has dropped its wait: work that ends all the
    /// time would else let nothing come to its end here.
    asking: Option<BoxFuture<'static, Result<Answer, BrokerError>>>,
    /// The same, of the durable, where the end of a request was not told.
    looking: Option<BoxFuture<'static, Result<Option<Info>, BrokerError>>>,
    has_unflushed_acks: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Nothing is known of what the server waits for.
    Unknown,
    /// Something is missing here: the ack wait is to be shortened, so that the server repeats it at once.
    Shortening,
    /// The ack wait is shortened until then; whoever declares the durable next sets it right.
    Expiring(Instant),
    /// The ack wait is right; deliveries are collected and none is yielded.
    Collecting,
    /// Everything the server waits for is held here.
    InOrder,
}

/// The deliveries without an ack at one moment.
#[derive(Debug, Default)]
struct Awaited {
    count: usize,
    /// The last place that was delivered, as far as the server says: one of version 2.9 counts back when it takes up a
    /// delivery just as the request for it ends.
    last_place: u64,
    /// The places that came again since.
    repeated: BTreeSet<u64>,
    /// Those that came for the first time since.
    new: BTreeSet<u64>,
}

impl Awaited {
    /// What the durable says of itself, after deliveries up to `seen_until` have come here.
    fn of(info: &Info, seen_until: u64) -> Self {
        let last_place = info.delivered.stream_sequence.max(seen_until);
        Self { count: info.num_ack_pending, last_place, ..Self::default() }
    }

    /// Takes note of what came, delivered so often by the server's own count; says whether that was missing.
    fn note(&mut self, place: u64, delivery_count: i64) -> bool {
        let is_repeated = place <= self.last_place || (delivery_count > 1 && !self.new.contains(&place));
        if !is_repeated {
            self.new.insert(place);
        }
        is_repeated && self.repeated.insert(place)
    }

    fn are_complete(&self) -> bool {
        self.repeated.len() >= self.count
    }
}

struct Request {
    deliveries: pull::Batch,
    ends: Instant,
}

struct Held {
    message: Message,
    key: Option<String>,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Ready,
    /// The caller has it.
    Yielded,
    /// The caller gave it back until then.
    Nacked(Instant),
}

impl NatsSubscription {
    pub(super) async fn open(
        context: jetstream::Context,
        config: SubscriptionConfig,
    ) -> Result<Self, BrokerError> {
        let opened = durable::ask(context.clone(), config.clone(), None, config.ack_wait, None).await?;
        Ok(Self {
            context,
            config,
            consumer: opened.consumer,
            known: opened.known,
            request: None,
            last_delivery: 0,
            held: BTreeMap::new(),
            phase: Phase::Unknown,
            awaited: Awaited::default(),
            given_until: None,
            seen_until: 0,
            looked_until: 0,
            told_at: None,
            came_at: Instant::now(),
            tries: 0,
            asking: None,
            looking: None,
            has_unflushed_acks: false,
        })
    }

    /// Receives until something is due, at the longest `at_most`.
    async fn receive_until_due(&mut self, at_most: Duration) -> Result<(), BrokerError> {
        let deadline = Instant::now() + at_most;
        loop {
            self.receive_ready()?;
            let is_in_order = self.phase == Phase::InOrder;
            if (is_in_order && !self.due(1).is_empty()) || Instant::now() >= deadline {
                return Ok(());
            }
            if is_in_order {
                self.wait_for_delivery(at_most, deadline).await?;
            } else {
                self.catch_up(deadline).await?;
            }
        }
    }

    /// One step towards being in order, short enough to look at the deadline after it.
    ///
    /// An ack wait of nearly nothing lets all that the server waits for expire, so that it is repeated at once and not
    /// after the ack wait.
    async fn catch_up(&mut self, deadline: Instant) -> Result<(), BrokerError> {
        self.told_at.get_or_insert_with(Instant::now);
        match self.phase {
            Phase::Unknown => {
                self.request = None;
                // The caller has the others.
                self.held.retain(|_, held| held.state != State::Ready);
                let info = self.declare(self.config.ack_wait, false).await?;
                self.last_delivery = info.delivered.consumer_sequence;
                self.given_until.get_or_insert(info.delivered.stream_sequence);
                self.phase = if info.num_ack_pending > 0 { Phase::Shortening } else { Phase::InOrder };
            }
            Phase::Shortening => {
                self.request = None;
                self.declare(Duration::from_millis(1), self.tries >= TRIES_BEFORE_LOOK).await?;
                let expiry = EXPIRY * 2_u32.saturating_pow(self.tries);
                self.phase = Phase::Expiring(Instant::now() + expiry.min(EXPIRY_MAX));
            }
            Phase::Expiring(until) => {
                sleep_until(until).await;
                let info = self.declare(self.config.ack_wait, false).await?;
                self.last_delivery = info.delivered.consumer_sequence;
                self.awaited = Awaited::of(&info, self.seen_until);
                self.came_at = Instant::now();
                self.phase = Phase::Collecting;
            }
            Phase::Collecting if self.awaited.are_complete() => self.phase = Phase::InOrder,
            Phase::Collecting => {
                let standstill = self.came_at + STANDSTILL_MAX;
                if Instant::now() < standstill {
                    return self.wait_for_delivery(REQUEST_MIN, standstill.min(deadline)).await;
                }
                self.tell_if_it_takes_long();
                self.tries = self.tries.saturating_add(1);
                self.phase = Phase::Shortening;
            }
            Phase::InOrder => {}
        }
        if self.phase == Phase::InOrder {
            self.told_at = None;
            self.tries = 0;
        }
        Ok(())
    }

    fn tell_if_it_takes_long(&mut self) {
        if self.told_at.is_some_and(|told| told.elapsed() < STILL_WAITING_PAUSE) {
            return;
        }
        self.told_at = Some(Instant::now());
        tracing::warn!(
            messaging.destination.name = self.config.topic,
            messaging.consumer.group.name = self.config.consumer,
            partition = self.config.partition,
            awaited = self.awaited.count,
            came = self.awaited.repeated.len(),
            "newer events wait for deliveries without an ack, which the server does not repeat"
        );
    }

    /// Declares the durable, also one that somebody deleted, or changes its ack wait; says where it stands. With `looks`
    /// it is looked what is missing.
    async fn declare(&mut self, ack_wait: Duration, looks: bool) -> Result<Info, BrokerError> {
        let (context, config, awaited) = (&self.context, &self.config, &self.awaited);
        let known = Some(self.known);
        let look_after = looks.then(|| (self.looked_until, awaited.repeated.clone()));
        let asking = self.asking.get_or_insert_with(|| {
            Box::pin(durable::ask(context.clone(), config.clone(), known, ack_wait, look_after))
        });
        let answer = asking.await;
        self.asking = None;
        let Answer { consumer, info, known, looked_until } = answer?;
        (self.consumer, self.known) = (consumer, known);
        self.looked_until = looked_until.unwrap_or(self.looked_until);
        Ok(info)
    }

    /// Takes over what has arrived, without waiting.
    fn receive_ready(&mut self) -> Result<(), BrokerError> {
        while let Some(request) = &mut self.request {
            let Some(delivery) = request.deliveries.next().now_or_never() else { break };
            self.receive(delivery)?;
        }
        Ok(())
    }

    /// Waits for one delivery, the end of the open request, the end of a nack, or the deadline.
    async fn wait_for_delivery(&mut self, wait: Duration, deadline: Instant) -> Result<(), BrokerError> {
        if !self.is_connected() {
            // The client connects again by itself; what it was asked before is lost, and so is the request.
            sleep_until(deadline.min(Instant::now() + REQUEST_MIN)).await;
            return Ok(());
        }
        if self.request.as_ref().is_some_and(|request| request.ends + REQUEST_GRACE <= Instant::now()) {
            self.look_after_request().await?;
            if self.phase == Phase::Unknown {
                return Ok(());
            }
        }
        if self.request.is_none() {
            self.request = Some(self.open_request(wait).await?);
        }
        let Some(request) = &mut self.request else { return Ok(()) };
        let nack_ends = self.held.values().filter_map(|held| match held.state {
            State::Nacked(until) => Some(until),
            State::Ready | State::Yielded => None,
        });
        let wake = nack_ends.chain([deadline, request.ends + REQUEST_GRACE]).min().unwrap_or(deadline);
        match timeout_at(wake, request.deliveries.next()).await {
            Ok(delivery) => self.receive(delivery),
            Err(_) => Ok(()),
        }
    }

    /// Finds out what became of a request whose end the server did not tell. It does, unless it knows nothing of the request or
    /// is slow; a request that it may still deliver to is not given up, as that delivery would come again only after the ack
    /// wait.
    async fn look_after_request(&mut self) -> Result<(), BrokerError> {
        let (context, config) = (&self.context, &self.config);
        let looking =
            self.looking.get_or_insert_with(|| Box::pin(durable::find(context.clone(), config.clone())));
        let found = looking.await;
        self.looking = None;
        let found = found?.filter(|info| self.known.is_of(info));
        // Whatever was delivered before this answer came before it.
        self.receive_ready()?;
        match found {
            Some(info) if info.delivered.consumer_sequence <= self.last_delivery => {
                self.request = self.request.take().filter(|_| info.num_waiting > 0);
                if let Some(request) = &mut self.request {
                    request.ends = Instant::now();
                }
            }
            _ => self.phase = Phase::Unknown,
        }
        Ok(())
    }

    fn is_connected(&self) -> bool {
        self.context.client().connection_state() == connection::State::Connected
    }

    async fn open_request(&mut self, wait: Duration) -> Result<Request, BrokerError> {
        let open_for = wait.clamp(REQUEST_MIN, REQUEST_MAX);
        let batch = self.consumer.batch().max_messages(self.config.in_flight_max as usize).expires(open_for);
        match batch.messages().await {
            Ok(deliveries) => Ok(Request { deliveries, ends: Instant::now() + open_for }),
            Err(error) => Err(unavailable(RECEIVE, error)),
        }
    }

    /// Takes over one result of the open request.
    fn receive(&mut self, delivery: Option<Result<Message, async_nats::Error>>) -> Result<(), BrokerError> {
        match delivery {
            Some(Ok(message)) => {
                let number = self.hold(message)?;
                if number != self.last_delivery + 1 && self.phase != Phase::Unknown {
                    tracing::warn!(
                        messaging.destination.name = self.config.topic,
                        "deliveries were lost on their way; what has no ack is collected again"
                    );
                    self.phase = Phase::Unknown;
                }
                self.last_delivery = number;
                Ok(())
            }
            Some(Err(error)) => {
                self.request = None;
                self.phase = Phase::Unknown;
                Err(unavailable(RECEIVE, error))
            }
            // The request is used up or has reached its end.
            None => {
                self.request = None;
                Ok(())
            }
        }
    }

    /// Keeps a delivery and returns the server's number of it.
    fn hold(&mut self, message: Message) -> Result<u64, BrokerError> {
        let info = message.info().map_err(|error| unavailable(RECEIVE, error))?;
        let (place, number) = (info.stream_sequence, info.consumer_sequence);
        self.seen_until = self.seen_until.max(place);
        if self.phase == Phase::Collecting && self.awaited.note(place, info.delivered) {
            self.came_at = Instant::now();
        }
        let key = header::key(message.headers.as_ref(), &message.payload);
        match self.held.get_mut(&place) {
            // A repeated delivery: only its ack is new. The caller had it for the whole ack wait: it may have
            // forgotten it, so it gets it again. While catching up the server repeats everything at once.
            Some(held) => {
                held.message = message;
                if held.state == State::Yielded && self.phase == Phase::InOrder {
                    held.state = State::Ready;
                }
            }
            None => {
                self.held.insert(place, Held { message, key, state: State::Ready });
            }
        }
        Ok(number)
    }

    /// The places of what the caller may have now: in the order of the stream, nothing past an earlier event of its key.
    fn due(&self, max: usize) -> Vec<u64> {
        let now = Instant::now();
        let mut waiting_keys = HashSet::new();
        let mut due = Vec::new();
        for (place, held) in &self.held {
            if due.len() >= max {
                break;
            }
            let is_due = match held.state {
                State::Ready => true,
                State::Nacked(until) => until <= now,
                State::Yielded => false,
            };
            let waits_behind = held.key.as_ref().is_some_and(|key| waiting_keys.contains(key));
            if is_due && !waits_behind {
                due.push(*place);
            } else if matches!(held.state, State::Nacked(_)) {
                waiting_keys.extend(held.key.as_ref());
            }
        }
        due
    }

    fn take_due(&mut self, max: u32) -> Vec<Delivery> {
        let due = self.due(max as usize);
        let mut deliveries = Vec::with_capacity(due.len());
        for place in due {
            let held = self.held.get_mut(&place).expect("what is due is held");
            held.state = State::Yielded;
            deliveries.push(delivery_of(&self.config.topic, place, &held.message));
        }
        deliveries
    }

    /// Acks without waiting for an answer: an ack that is lost is a delivery that comes again.
    async fn ack_all(&mut self, tokens: &[AckToken]) -> Result<(), BrokerError> {
        let done: Vec<_> = tokens.iter().filter_map(|token| self.held.remove(&token.0)).collect();
        let client = self.context.client();
        if !self.is_connected() {
            // The client would keep them, and with many of them make the caller wait until it is connected.
            return Ok(());
        }
        self.has_unflushed_acks |= !done.is_empty();
        for reply in done.into_iter().filter_map(|held| held.message.reply.clone()) {
            client.publish(reply, "+ACK".into()).await.map_err(|error| unavailable(ACK, error))?;
        }
        Ok(())
    }

    /// Waits until the server has no more deliveries without an ack than are held here.
    async fn flush_acks(&mut self) -> Result<(), BrokerError> {
        if !self.has_unflushed_acks {
            return Ok(());
        }
        self.context.client().flush().await.map_err(|error| unavailable(ACK, error))?;
        for _ in 0..FLUSH_LOOKS_MAX {
            let info = durable::info(&self.context, &self.config).await?;
            self.known.note(&info);
            if info.num_ack_pending <= self.held.len() {
                break;
            }
            sleep(LOOK_PAUSE).await;
        }
        self.has_unflushed_acks = false;
        Ok(())
    }
}

impl Subscription for NatsSubscription {
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

    fn has_come_to_new(&self) -> bool {
        let is_repeated = |(place, held): (&u64, &Held)| {
            held.state == State::Ready && self.given_until.is_none_or(|last| *place <= last)
        };
        self.phase == Phase::InOrder && self.given_until.is_some() && !self.held.iter().any(is_repeated)
    }

    fn ack<'a>(&'a mut self, tokens: &'a [AckToken]) -> BoxFuture<'a, Result<(), BrokerError>> {
        Box::pin(self.ack_all(tokens))
    }

    fn flush(&mut self) -> BoxFuture<'_, Result<(), BrokerError>> {
        Box::pin(self.flush_acks())
    }

    fn nack<'a>(
        &'a mut self,
        token: &'a AckToken,
        delay: Duration,
    ) -> BoxFuture<'a, Result<(), BrokerError>> {
        if let Some(held) = self.held.get_mut(&token.0) {
            held.state = State::Nacked(Instant::now() + delay);
        }
        Box::pin(future::ready(Ok(())))
    }
}

fn delivery_of(topic: &str, place: u64, message: &Message) -> Delivery {
    let stored_at = message.info().map_or(OffsetDateTime::UNIX_EPOCH, |info| info.published);
    let headers = message.headers.as_ref();
    let (content_type, attributes) = (header::content_type(headers), header::read(headers));
    let place_in_topic = Place { topic, position: place, stored_at };
    Delivery {
        token: AckToken(place),
        event: content::read(place_in_topic, content_type, attributes, &message.payload),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_again_is_counted_though_the_server_counted_its_deliveries_back() {
        let mut awaited = Awaited { count: 3, last_place: 2, ..Awaited::default() };
        for (place, delivery_count, was_missing) in [(1, 1, true), (2, 2, true), (2, 3, false), (3, 2, true)]
        {
            assert!(!awaited.are_complete());
            assert_eq!(awaited.note(place, delivery_count), was_missing, "{place} {delivery_count}");
        }
        assert!(awaited.are_complete());
    }

    #[test]
    fn what_came_for_the_first_time_makes_up_for_nothing_that_is_missing() {
        let mut awaited = Awaited { count: 2, last_place: 2, ..Awaited::default() };
        for (place, delivery_count) in [(2, 2), (3, 1), (3, 2)] {
            awaited.note(place, delivery_count);
        }
        assert!(!awaited.are_complete());
    }
}
