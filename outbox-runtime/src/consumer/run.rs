//! Works one share of a consumer: fills memory from the subscription, runs steps, acks, and waits.

use super::{
    chain::Chain,
    lanes::{Lanes, Work},
    step::{Consumer, Handled, StepError},
};
use crate::{
    broker::{AckToken, Broker, BrokerError, Subscription, SubscriptionConfig},
    cursor::Filter,
    held::{HeldEvent, Lane},
    held_watch::HeldWatch,
    leadership::Grant,
    pause::Pauses,
    store::{Store, StoreError},
    suspicion::Suspicion,
    telemetry,
};
use futures_util::stream::{FuturesUnordered, StreamExt};
use std::{future::poll_fn, pin::pin, sync::Arc, task::Poll, time::Duration};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The longest wait for a delivery before the loop looks around again.
pub(super) const WAIT_MAX: Duration = Duration::from_secs(5);

/// How long a step may take beside its handler and a wait for another copy of the event: for a connection, the claim and
/// the commit.
const STEP_GRACE: Duration = Duration::from_secs(60);
/// How often a step is tried that is interrupted by what passes by itself.
const STEP_TRIES: u32 = 3;

/// Where deliveries come from.
#[derive(Clone)]
pub(crate) enum Source {
    /// The log of the consumer's own store.
    #[cfg(feature = "local")]
    Log { start: crate::cursor::Start },
    /// A broker.
    Broker { broker: Arc<dyn Broker>, topic: String, partition: String },
}

/// One share of a consumer, with everything its work needs.
pub(crate) struct ConsumerWorker<S: Store> {
    pub(crate) consumer: Consumer<S>,
    pub(crate) source: Source,
    /// The most deliveries in memory, those at work included.
    pub(crate) in_flight_max: u32,
    /// The most keys that may wait.
    pub(crate) waiting_keys_max: u64,
    /// The time between two looks at requests.
    pub(crate) poll: Duration,
}

/// Works until the grant ends. Errors that may pass are waited out.
///
/// # Errors
/// What a person must mend in the database.
pub(crate) async fn run<S: Store>(worker: &ConsumerWorker<S>, grant: &Grant) -> Result<(), StepError> {
    let mut pauses = Pauses::default();
    loop {
        let error = match worker.session(grant, &mut pauses).await {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        if error.is_lease_lost() {
            return Ok(());
        }
        if error.is_for_good() {
            return Err(error);
        }
        pauses.log_once(|| {
            let group = worker.consumer.handler.entry.name;
            let cause = &error as &dyn std::error::Error;
            if error.is_transient() {
                tracing::warn!(
                    messaging.consumer.group.name = group,
                    error = cause,
                    "a consumer's work was interrupted and is taken up again"
                );
            } else {
                tracing::error!(
                    messaging.consumer.group.name = group,
                    share = grant.fence.share.0,
                    error = cause,
                    "the broker refuses a consumer's share, which is tried again and again"
                );
            }
        });
        grant.moved();
        tokio::select! { biased;
            () = grant.hand_over.cancelled() => return Ok(()),
            () = tokio::time::sleep(pauses.next()) => {}
        }
    }
}

impl<S: Store> ConsumerWorker<S> {
    /// Handles one piece of work beside others. What passes by itself is tried again here at first, since an error ends the
    /// whole session: a conflict or a wait for a connection must not end the steps of other lanes.
    pub(super) async fn handle(&self, work: &Work, chain: &mut Chain<'_, S>) -> Result<Handled, StepError> {
        let limit = self.consumer.handler.timeout * 2 + STEP_GRACE;
        let mut pauses = Pauses::default();
        for _ in 1..STEP_TRIES {
            match within(limit, Box::pin(self.consumer.handle(work, None, chain))).await {
                Err(error) if error.is_transient() => {
                    tokio::time::sleep(pauses.next()).await;
                    self.await_writes().await?;
                }
                ended => return ended,
            }
        }
        within(limit, Box::pin(self.consumer.handle(work, None, chain))).await
    }

    /// Handles work and then what else is ready, as long as that needs no new connection.
    async fn series(&self, lane: Lane, work: Work, lanes: &Lanes, tell: &UnboundedSender<Ended>) {
        let mut chain = Chain::along(lanes);
        let mut next = Some((lane, work));
        while let Some((lane, work)) = next {
            let result = self.handle(&work, &mut chain).await;
            if result.is_ok() {
                lanes.finished(lane);
            }
            // Nobody is told when the loop is gone, and its steps with it.
            let _ = tell.send(Ended { result, token: token_of(&work) });
            next = if chain.goes_on() { lanes.pop() } else { None };
        }
        chain.end(self.consumer.outbox.store()).await;
    }

    /// How many handlers may run at once.
    pub(super) fn concurrency(&self) -> usize {
        self.consumer.handler.concurrency.min(S::HANDLERS_MAX) as usize
    }

    /// What was interrupted may have been written all the same, or be about to be.
    async fn await_writes(&self) -> Result<(), StepError> {
        Ok(self.consumer.outbox.store().await_writes(&self.consumer.fence).await?)
    }

    /// Works with one subscription until the grant ends or something fails.
    async fn session(&self, grant: &Grant, pauses: &mut Pauses) -> Result<(), StepError> {
        self.await_writes().await?;
        let mut subscription = self.subscribe().await?;
        let concurrency = self.concurrency();
        let store = self.consumer.outbox.store();
        // Deliveries, and as many heads as may be at work beside them.
        let most = self.in_flight_max.saturating_add(u32::try_from(concurrency).unwrap_or(u32::MAX));
        let suspicion = Suspicion::take_up(store, grant, most).await?;
        self.consumer.charge(suspicion.ended());
        let mut session = Session {
            worker: self,
            grant,
            pauses,
            lanes: Arc::default(),
            watch: HeldWatch::new(self.poll, Filter { topics: self.consumer.topics(), ..Filter::default() }),
            suspicion,
            alone: None,
        };
        session.cautiously(&mut *subscription).await?;
        if subscription.acks_in_transaction() {
            session.one_by_one(&mut *subscription).await?;
        } else {
            session.in_parallel(&mut *subscription, concurrency).await?;
        }
        Ok(session.suspicion.put_down(store, grant).await?)
    }

    async fn subscribe(&self) -> Result<Box<dyn Subscription>, BrokerError> {
        match &self.source {
            #[cfg(feature = "local")]
            Source::Log { start } => {
                let outbox = &self.consumer.outbox;
                let topics = self.consumer.topics();
                let subscription = crate::broker::local::LocalSubscription::open(
                    outbox.store().clone(),
                    self.consumer.fence.clone(),
                    topics,
                    *start,
                    outbox.wake().subscribe(),
                );
                Ok(Box::new(subscription.await?))
            }
            Source::Broker { broker, topic, partition } => {
                let config = SubscriptionConfig {
                    consumer: self.consumer.handler.entry.name.to_owned(),
                    topic: topic.clone(),
                    partition: partition.clone(),
                    // Longer than a handler may take, so that no second copy starts beside the first.
                    ack_wait: self.consumer.handler.timeout * 2 + Duration::from_secs(30),
                    in_flight_max: self.in_flight_max,
                };
                broker.subscribe(&config).await
            }
        }
    }
}

pub(super) struct Session<'a, S: Store> {
    pub(super) worker: &'a ConsumerWorker<S>,
    pub(super) grant: &'a Grant,
    pub(super) pauses: &'a mut Pauses,
    lanes: Arc<Lanes>,
    pub(super) watch: HeldWatch,
    pub(super) suspicion: Suspicion,
    /// A due head that ended a process before: tried when nothing else is in work.
    alone: Option<HeldEvent>,
}

/// A step that ended: how, and what to ack.
struct Ended {
    result: Result<Handled, StepError>,
    token: Option<AckToken>,
}

/// The series of steps under way, and the steps that ended and are not looked at yet.
struct Steps<F> {
    running: FuturesUnordered<F>,
    ended: UnboundedReceiver<Ended>,
}

impl<F: Future<Output = ()>> Steps<F> {
    fn are_done(&self) -> bool {
        self.running.is_empty() && self.ended.is_empty()
    }

    /// Waits for `work` while the steps go on. A step that stood still meanwhile would keep its transaction open, and
    /// with it a connection or the lock that `work` waits for.
    async fn beside<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        loop {
            tokio::select! { biased;
                done = &mut work => return done,
                Some(()) = self.running.next(), if !self.running.is_empty() => {}
            }
        }
    }

    /// Waits until a step has ended.
    ///
    /// # Cancel safety
    /// If dropped, no ended step is lost.
    async fn next_ended(&mut self) {
        // A series goes on behind a step that ended, and tells of it while it is polled.
        poll_fn(|cx| {
            let series = self.running.poll_next_unpin(cx);
            if series.is_pending() && self.ended.is_empty() { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
    }
}

impl<S: Store> Session<'_, S> {
    /// Series of steps side by side, each step of another lane; acks follow their commits.
    async fn in_parallel(
        &mut self,
        subscription: &mut (dyn Subscription + 'static),
        concurrency: usize,
    ) -> Result<(), StepError> {
        let (worker, lanes) = (self.worker, Arc::clone(&self.lanes));
        let (tell, ended) = unbounded_channel();
        let start = |lane, work| worker.series(lane, work, &lanes, &tell);
        let mut steps = Steps { running: FuturesUnordered::new(), ended };
        let worked = self.beside_each_other(subscription, concurrency, &mut steps, start).await;
        // What has broken all connections is about to be remembered by one of these, and would else do so again.
        if worked.as_ref().is_err_and(|error| !error.is_lease_lost()) {
            lanes.close(true);
            while !steps.running.is_empty() {
                self.grant.moved();
                let _ = tokio::time::timeout(WAIT_MAX, steps.running.next()).await;
            }
        }
        worked
    }

    async fn beside_each_other<F: Future<Output = ()>>(
        &mut self,
        subscription: &mut (dyn Subscription + 'static),
        concurrency: usize,
        steps: &mut Steps<F>,
        start: impl Fn(Lane, Work) -> F,
    ) -> Result<(), StepError> {
        loop {
            self.grant.moved();
            let stopping = self.grant.hand_over.is_cancelled();
            if stopping && steps.are_done() {
                return Ok(subscription.flush().await?);
            }
            let mut tokens = Vec::new();
            while let Ok(ended) = steps.ended.try_recv() {
                tokens.extend(self.end(ended)?);
            }
            if !tokens.is_empty() {
                steps.beside(subscription.ack(&tokens)).await?;
            }
            steps.beside(self.note_charge()).await?;
            steps.beside(self.look_at_held()).await?;
            if steps.are_done()
                && let Some(head) = self.alone.take()
            {
                self.alone(subscription, head).await?;
                continue;
            }
            self.lanes.close(stopping || self.alone.is_some());
            while steps.running.len() < concurrency {
                let Some((lane, work)) = self.lanes.pop() else { break };
                steps.running.push(start(lane, work));
            }
            if !steps.ended.is_empty() {
                continue;
            }
            let room = self.room(steps.running.len() + steps.ended.len());
            let pause = self.watch.pause().min(WAIT_MAX);
            tokio::select! { biased;
                () = steps.next_ended(), if !steps.running.is_empty() => {}
                () = self.grant.hand_over.cancelled(), if !stopping => {}
                ready = subscription.ready(pause), if !stopping && room > 0 => {
                    ready?;
                    steps.beside(self.take(subscription, room)).await?;
                }
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// One step at a time, in the order of the log, its ack inside its transaction.
    async fn one_by_one(&mut self, subscription: &mut (dyn Subscription + 'static)) -> Result<(), StepError> {
        loop {
            self.grant.moved();
            if self.grant.hand_over.is_cancelled() {
                return Ok(subscription.flush().await?);
            }
            self.look_at_held().await?;
            if let Some(head) = self.alone.take() {
                self.alone(subscription, head).await?;
                continue;
            }
            if let Some((lane, work)) = self.lanes.pop() {
                let token = token_of(&work);
                let ack = token.map(|token| (&mut *subscription, token));
                let handled = self.worker.consumer.handle(&work, ack, &mut Chain::of_one()).await?;
                self.lanes.finished(lane);
                self.note(token, handled);
                subscription.ack(token.as_slice()).await?;
                self.note_charge().await?;
                continue;
            }
            let pause = self.watch.pause().min(WAIT_MAX);
            let is_full = self.is_full();
            tokio::select! { biased;
                () = self.grant.hand_over.cancelled() => {}
                ready = subscription.ready(pause), if !is_full => {
                    ready?;
                    self.take(subscription, self.worker.in_flight_max).await?;
                }
                () = tokio::time::sleep(pause), if is_full => {}
            }
        }
    }

    /// Fills memory with what is there; when that is nothing, there is time to make acks last.
    async fn take(&mut self, subscription: &mut dyn Subscription, max: u32) -> Result<(), StepError> {
        let deliveries = subscription.take(max).await?;
        if deliveries.is_empty() {
            subscription.flush().await?;
        }
        deliveries.into_iter().for_each(|delivery| self.lanes.push(delivery));
        Ok(())
    }

    /// Takes up requests and due heads, when it is time.
    async fn look_at_held(&mut self) -> Result<(), StepError> {
        let consumer = &self.worker.consumer;
        let store = consumer.outbox.store();
        let heads = self.watch.look(store, &consumer.fence, self.worker.in_flight_max).await?;
        // Those that are not chosen come again with the next look.
        let (alone, others) = self.suspicion.choose(heads);
        others.into_iter().for_each(|head| self.lanes.push_head(head));
        self.alone = self.alone.take().or(alone);
        Ok(())
    }

    /// Makes sure that the event which ended the process before is charged once.
    pub(super) async fn note_charge(&mut self) -> Result<(), StepError> {
        let consumer = &self.worker.consumer;
        if self.suspicion.ended().is_some() && consumer.to_charge().is_none() {
            self.suspicion.charged(consumer.outbox.store(), self.grant).await?;
        }
        Ok(())
    }

    fn end(&mut self, ended: Ended) -> Result<Option<AckToken>, StepError> {
        self.note(ended.token, ended.result?);
        Ok(ended.token)
    }

    /// What an ended step says about the pauses, and about the events that wait.
    pub(super) fn note(&mut self, token: Option<AckToken>, handled: Handled) {
        self.pauses.reset();
        let stage = self.grant.fence.stage.as_str();
        telemetry::count_events(stage, handled.outcome(), 1);
        if matches!(handled, Handled::Held | Handled::Dead) || token.is_none() {
            self.watch.changed();
        }
    }

    /// Whether too many keys wait to take more.
    pub(super) fn is_full(&mut self) -> bool {
        self.watch.is_full(&self.worker.consumer.fence, self.worker.waiting_keys_max)
    }

    /// How many deliveries may come in beside those at work: none until half of the memory is free, and none while too many
    /// keys wait.
    fn room(&mut self, at_work: usize) -> u32 {
        if self.is_full() {
            return 0;
        }
        let max = self.worker.in_flight_max;
        let taken = u32::try_from(self.lanes.len() + at_work).unwrap_or(u32::MAX);
        let room = max.saturating_sub(taken);
        if room * 2 >= max { room } else { 0 }
    }
}

/// A connection that answers nothing must not keep a lane for ever.
async fn within(
    limit: Duration,
    step: impl Future<Output = Result<Handled, StepError>>,
) -> Result<Handled, StepError> {
    match tokio::time::timeout(limit, step).await {
        Ok(ended) => ended,
        Err(elapsed) => {
            let (action, source) = ("handle an event in time", Box::new(elapsed));
            Err(StoreError::Database { action, transient: true, source }.into())
        }
    }
}

pub(super) fn token_of(work: &Work) -> Option<AckToken> {
    match work {
        Work::Delivered(delivery) => Some(delivery.token),
        Work::Held(_) => None,
    }
}

impl StepError {
    fn store(&self) -> Option<&StoreError> {
        match self {
            Self::Store(error) | Self::Broker(BrokerError::Log(error)) => Some(error),
            Self::Broker(_) => None,
        }
    }

    pub(crate) fn is_lease_lost(&self) -> bool {
        matches!(self.store(), Some(StoreError::LeaseLost { .. }))
    }

    /// Whether the stage must end. What a broker refuses of one topic somebody may allow again, and the other shares and
    /// stages are not to suffer meanwhile.
    pub(crate) fn is_for_good(&self) -> bool {
        self.store().is_some_and(|error| !error.is_transient())
    }

    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Self::Store(error) => error.is_transient(),
            Self::Broker(error) => error.is_transient(),
        }
    }
}
