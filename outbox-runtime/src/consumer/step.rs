//! Handles one event to its end: claimed, handled and committed in one transaction, or held, or set aside.
//!
//! ```text
//!  route ─▶ claim ─┬─ duplicate, or its twin is ───────────────────────▶ done
//!                  ├─ its key waits ─▶ held behind ──────────────────▶ done
//!                  └─ fresh ─▶ handler ─┬─ ok ─▶ proven commit ───────▶ done
//!                                       ├─ failed ─▶ held or set aside ─▶ done
//!                                       └─ its connection broke ─▶ held ─▶ done
//! ```
//! A connection breaks in an outage, so no attempt is charged for it. But an event may break it by itself, or even the
//! server: so such a one is held to be tried alone, and charged when the connection breaks again while it is.
//!
//! Whatever the end, the delivery can be acked: the event is handled, held or set aside by a committed write. An error of
//! the store is no end: nothing was written, and the same work is tried again.

use super::{
    Context, HandlerEntry, HandlerError, Invocation, States,
    chain::Chain,
    decode::{Route, route},
    lanes::Work,
};
use crate::{
    broker::{AckToken, BrokerError, Subscription},
    enqueue::Outbox,
    envelope::{Envelope, EventId, Twin},
    held::{Change, Failure, HeldId, Lane},
    lease::Fence,
    pause::Pauses,
    poison,
    store::{Claim, Claimed, HandlerToken, Store, StoreError},
    suspicion,
    telemetry::{self, Outcome},
    wake::Nudge,
};
use futures_util::{FutureExt, future::BoxFuture};
use outbox_schema::EncodedEvent;
use std::{
    any::Any,
    ops::ControlFlow,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::time::Instant;

/// The reason of an attempt that took too long.
const TIMEOUT: &str = "handler-timeout";

/// How long a database that is away is waited for to record what happened when it went.
const RECORD_MAX: Duration = Duration::from_secs(20);

/// How the work ended. Every end is recorded, so the delivery can be acked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Handled {
    /// The handler's writes are committed.
    Committed,
    /// It was handled before.
    Duplicate,
    /// It waits with its key.
    Held,
    /// It is a dead letter.
    Dead,
    /// This consumer does not take it.
    Ignored,
}

impl Handled {
    /// As it is counted.
    pub(super) fn outcome(self) -> Outcome {
        match self {
            Self::Committed => Outcome::Handled,
            Self::Duplicate => Outcome::Duplicate,
            Self::Held => Outcome::Held,
            Self::Dead => Outcome::Dead,
            Self::Ignored => Outcome::Ignored,
        }
    }
}

/// What one consumer's steps share.
pub(crate) struct Consumer<S: Store> {
    pub(crate) outbox: Outbox<S>,
    pub(crate) handler: &'static HandlerEntry,
    pub(crate) states: States,
    pub(crate) inbox_window: Duration,
    pub(crate) fence: Fence,
    /// From the death of a leader to the work of the next one, at most.
    pub(crate) takeover: Duration,
    /// The event that was alone in work when the process before ended: to be charged when it comes.
    pub(crate) ended: Mutex<Option<EventId>>,
}

/// Why a step has no end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StepError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Broker(#[from] BrokerError),
}

/// Where the ack goes when it is part of the handler's transaction.
pub(crate) type AckInTransaction<'a> = Option<(&'a mut (dyn Subscription + 'static), AckToken)>;

impl<S: Store> Consumer<S> {
    /// Handles one piece of work.
    ///
    /// # Cancel safety
    /// If dropped, the transaction rolls back; the work comes again.
    pub(super) async fn handle(
        &self,
        work: &Work,
        ack: AckInTransaction<'_>,
        chain: &mut Chain<'_, S>,
    ) -> Result<Handled, StepError> {
        let (event, attempts_before, is_alone) = match work {
            Work::Delivered(delivery) => (delivery.event.as_ref(), None, false),
            Work::Held(held) => (Ok(&held.envelope), Some(held.attempts), held.tried_alone),
        };
        let envelope = event.unwrap_or_else(|malformed| &malformed.envelope);
        let case = Case { consumer: self, envelope, attempts_before, is_alone };
        if self.has_ended_process(envelope.id) {
            chain.end(self.outbox.store()).await;
            let handled = case.refused(suspicion::failure(), false).await?;
            self.charge(None);
            return Ok(handled);
        }
        let route = route(event, &self.handler.events());
        if !matches!(route, Route::Handle { .. } | Route::Behind(_)) {
            chain.end(self.outbox.store()).await;
        }
        let (event, body) = match route {
            Route::Handle { event, body } => (event, body),
            Route::Ignore => return case.done_without_running(Handled::Ignored).await,
            Route::Behind(twin) => return case.behind(twin, chain).await,
            Route::Newer(problem) => return case.not_yet(problem).await,
            Route::Refuse { reason, problem } => {
                return case.refused(Failure { reason, error_chain: problem }, true).await;
            }
        };
        let event =
            EncodedEvent { event_type: event.event_type, event_version: event.event_version, payload: &body };
        case.run(event, ack, chain).await
    }

    /// The topics of what it takes.
    pub(super) fn topics(&self) -> Vec<String> {
        self.handler.topics().into_iter().map(str::to_owned).collect()
    }

    /// Charges that event instead of handling it, when it comes.
    pub(super) fn charge(&self, ended: Option<EventId>) {
        *self.ended.lock().expect("no panic holds this lock") = ended;
    }

    /// The event that is to be charged, until it is.
    pub(super) fn to_charge(&self) -> Option<EventId> {
        *self.ended.lock().expect("no panic holds this lock")
    }

    fn has_ended_process(&self, id: EventId) -> bool {
        self.to_charge() == Some(id)
    }
}

/// One event and how often it was tried; `None`: it comes from the broker or the log.
struct Case<'a, S: Store> {
    consumer: &'a Consumer<S>,
    envelope: &'a Envelope,
    attempts_before: Option<u32>,
    /// Whether nothing else is in work.
    is_alone: bool,
}

impl<S: Store> Case<'_, S> {
    fn store(&self) -> &S {
        self.consumer.outbox.store()
    }

    async fn run(
        &self,
        event: EncodedEvent<'_>,
        ack: AckInTransaction<'_>,
        chain: &mut Chain<'_, S>,
    ) -> Result<Handled, StepError> {
        let (mut tx, token) = match self.claim(chain).await? {
            ControlFlow::Continue(claimed) => claimed,
            ControlFlow::Break(ended) => return Ok(ended),
        };
        match self.call(&mut tx, event).await {
            Ok(()) => self.commit(tx, token, ack, chain).await,
            // A handler that takes too long may have its connection closed for that.
            Err((failure, false))
                if failure.reason != TIMEOUT && !self.store().is_connected(&mut tx).await =>
            {
                self.lost_connection(failure.error_chain).await
            }
            Err((failure, permanent)) => {
                self.store().rollback(tx).await;
                self.failed(failure, permanent).await
            }
        }
    }

    /// Begins the handler's transaction, unless the event ends here.
    async fn claim(
        &self,
        chain: &mut Chain<'_, S>,
    ) -> Result<ControlFlow<Handled, (S::Tx, HandlerToken)>, StepError> {
        let mut tx = chain.begin(self.store(), self.consumer.handler.timeout).await?;
        let claim = Claim {
            envelope: self.envelope,
            from_held: self.attempts_before.is_some(),
            window: self.consumer.inbox_window,
        };
        let claimed = self.store().claim(&mut tx, &self.consumer.fence, &claim).await?;
        if let Claimed::Fresh(token) = claimed {
            return Ok(ControlFlow::Continue((tx, token)));
        }
        self.store().rollback(tx).await;
        let ended = match claimed {
            Claimed::LaneWaits => {
                self.apply(Change::Behind { envelope: self.envelope.clone() }).await?;
                Handled::Held
            }
            Claimed::OlderThanWindow => {
                let error_chain =
                    "the event is older than the inbox window, so whether it was handled is not known; \
                                   replay it to handle it, or discard it"
                        .to_owned();
                self.failed(Failure { reason: "older-than-dedup-window", error_chain }, true).await?
            }
            Claimed::Duplicate | Claimed::Fresh(_) => {
                if self.attempts_before.is_some() {
                    tracing::info!(
                        messaging.message.id = %self.envelope.id,
                        messaging.consumer.group.name = self.consumer.handler.entry.name,
                        "a held event needs no run: it, or the other version of its pair, was handled or discarded"
                    );
                }
                self.done_without_running(Handled::Duplicate).await?
            }
        };
        Ok(ControlFlow::Break(ended))
    }

    /// Ends the older half of a pair of which this build takes only the newer one. That came before it, so it is handled or
    /// stands held, unless the build before this one took only the older half and got no further: then the pair has had no
    /// effect, and must not vanish.
    async fn behind(&self, twin: Twin, chain: &mut Chain<'_, S>) -> Result<Handled, StepError> {
        let tx = match self.claim(chain).await? {
            ControlFlow::Continue((tx, _)) => tx,
            ControlFlow::Break(ended) => return Ok(ended),
        };
        self.store().rollback(tx).await;
        let error_chain = format!(
            "this consumer takes version {} of `{}` only, and has not handled it; let that version be made from this one \
             with `upcast_from` until all pairs are handled",
            twin.version, self.envelope.event_type
        );
        // Without a key the newer half may still be under way.
        let for_good = self.envelope.key.is_some();
        self.failed(Failure { reason: "version-not-taken", error_chain }, for_good).await
    }

    /// Runs the handler, with its time limit; a panic is a failure like any other.
    async fn call(&self, tx: &mut S::Tx, event: EncodedEvent<'_>) -> Result<(), (Failure, bool)> {
        let handler = self.consumer.handler;
        let attempt = self.attempts_before.unwrap_or(0) + 1;
        let context =
            Context::new(handler.entry.name, attempt, Arc::new(self.envelope.clone()), &self.consumer.outbox);
        let invocation = Invocation {
            event,
            context: &context,
            tx: tx as &mut (dyn Any + Send),
            states: &self.consumer.states,
        };
        let call = AssertUnwindSafe((handler.call)(invocation)).catch_unwind();
        let failure = |reason, error_chain| Failure { reason, error_chain };
        match tokio::time::timeout(handler.timeout, call).await {
            Ok(Ok(Ok(()))) => Ok(()),
            Ok(Ok(Err(error))) => {
                let permanent = error.is_permanent();
                Err(match error {
                    HandlerError::Undecodable(problem) => (failure("undecodable", problem), true),
                    HandlerError::Failed(error) => {
                        (failure("handler-error", telemetry::error_chain(&*error)), permanent)
                    }
                })
            }
            Ok(Err(panic)) => Err((failure("handler-panic", panic_text(&*panic)), false)),
            Err(_elapsed) => {
                let text = format!("the handler took longer than its limit of {:?}", handler.timeout);
                Err((failure(TIMEOUT, text), false))
            }
        }
    }

    async fn commit(
        &self,
        mut tx: S::Tx,
        token: HandlerToken,
        ack: AckInTransaction<'_>,
        chain: &mut Chain<'_, S>,
    ) -> Result<Handled, StepError> {
        let committed = match self.store().prove_handler(&mut tx, &self.consumer.fence, &token).await {
            Ok(()) => match self.write_own(&mut tx, ack).await {
                Ok(()) => chain.commit(self.store(), tx, self.consumer.handler.timeout).await,
                Err(error) => {
                    self.store().rollback(tx).await;
                    return Err(error);
                }
            },
            // The handler said nothing of it, and nothing was committed.
            Err(error) if error.is_transient() && !self.store().is_connected(&mut tx).await => {
                return self.lost_connection(telemetry::error_chain(&error)).await;
            }
            Err(error) => {
                self.store().rollback(tx).await;
                Err(error)
            }
        };
        let (reason, error) = match committed {
            Ok(()) => {
                // The handler may have written follow-up events.
                self.consumer.outbox.wake().nudge(Nudge::Committed);
                return Ok(Handled::Committed);
            }
            Err(error @ (StoreError::Aborted { .. } | StoreError::EndedEarly)) => {
                ("handler-broke-transaction", error)
            }
            // A constraint that is checked at the commit.
            Err(error @ (StoreError::Database { transient: false, .. } | StoreError::Schema { .. })) => {
                ("commit-refused", error)
            }
            Err(error) => return Err(error.into()),
        };
        self.failed(Failure { reason, error_chain: telemetry::error_chain(&error) }, false).await
    }

    /// The framework's own writes in a handler's transaction, behind those of the handler.
    async fn write_own(&self, tx: &mut S::Tx, ack: AckInTransaction<'_>) -> Result<(), StepError> {
        if self.attempts_before.is_some() {
            let done = Change::Done { held: HeldId::of(self.envelope) };
            self.store().apply_in(tx, &self.consumer.fence, &[done]).await?;
        }
        if let Some((subscription, token)) = ack {
            subscription.ack_in(tx, &token).await?;
        }
        Ok(())
    }

    /// Ends an event that needs no run; a held one leaves its lane.
    async fn done_without_running(&self, handled: Handled) -> Result<Handled, StepError> {
        if self.attempts_before.is_some() {
            self.apply(Change::Done { held: HeldId::of(self.envelope) }).await?;
        }
        Ok(handled)
    }

    /// Holds an event that a later build of this program will know. No attempt is charged.
    async fn not_yet(&self, problem: String) -> Result<Handled, StepError> {
        let failure = Failure { reason: "newer-version", error_chain: problem };
        let retry_in = self.consumer.handler.retry.max.min(poison::NOT_YET_MAX);
        self.apply(self.uncharged(failure, retry_in)).await?;
        Ok(Handled::Held)
    }

    /// Holds an event whose handler lost its connection, to be tried alone; charges one that was.
    async fn lost_connection(&self, error_chain: String) -> Result<Handled, StepError> {
        let failure = suspicion::connection_lost(error_chain);
        let (change, dead) = match self.is_alone {
            true => self.charged(failure, false),
            false => (self.uncharged(failure, self.consumer.handler.retry.wait_after(1)), false),
        };
        self.record(change).await?;
        Ok(if dead { Handled::Dead } else { Handled::Held })
    }

    /// Records a change though the database may be away: whoever broke it would do so again if nobody remembered.
    async fn record(&self, change: Change) -> Result<(), StepError> {
        let deadline = Instant::now() + RECORD_MAX;
        let mut pauses = Pauses::default();
        let mut recorded = self.apply(change.clone()).await;
        while recorded.as_ref().is_err_and(StepError::is_transient) && Instant::now() < deadline {
            tokio::time::sleep(pauses.next()).await;
            // The first try may be about to be written.
            recorded = match self.store().await_writes(&self.consumer.fence).await {
                Ok(()) => self.apply(change.clone()).await,
                Err(error) => Err(error.into()),
            };
        }
        recorded
    }

    fn uncharged(&self, failure: Failure, retry_in: Duration) -> Change {
        match self.attempts_before {
            None => Change::Hold { envelope: self.envelope.clone(), attempts: 0, retry_in, failure },
            Some(attempts) => Change::Retry { held: HeldId::of(self.envelope), attempts, retry_in, failure },
        }
    }

    /// Charges an event that is not run, when it is its turn: in a lane that waits it goes behind. `for_good` where it can
    /// never be handled.
    async fn refused(&self, failure: Failure, for_good: bool) -> Result<Handled, StepError> {
        if self.attempts_before.is_none() {
            let lanes = [Lane::of(self.envelope).as_str().to_owned()];
            if !self.store().waiting_lanes(&self.consumer.fence, &lanes).await?.is_empty() {
                self.apply(Change::Behind { envelope: self.envelope.clone() }).await?;
                return Ok(Handled::Held);
            }
        }
        self.failed(failure, for_good).await
    }

    /// Charges the attempt: the event is held for another one, or the poison policy decides.
    async fn failed(&self, failure: Failure, for_good: bool) -> Result<Handled, StepError> {
        let (change, dead) = self.charged(failure, for_good);
        self.apply(change).await?;
        Ok(if dead { Handled::Dead } else { Handled::Held })
    }

    /// The change of a failed attempt, and whether it makes a dead letter.
    fn charged(&self, failure: Failure, for_good: bool) -> (Change, bool) {
        let attempt = poison::Attempt {
            rest: suspicion::rest_after(&failure, self.consumer.takeover),
            envelope: self.envelope,
            attempts_before: self.attempts_before,
            failure,
            for_good,
            retry: &self.consumer.handler.retry,
            policy: self.envelope.on_poison,
        };
        attempt.judge()
    }

    /// Boxed, since it is seldom needed, and every step would be twice as large by it.
    fn apply(&self, change: Change) -> BoxFuture<'_, Result<(), StepError>> {
        Box::pin(
            async move { Ok(self.store().apply(&self.consumer.fence, std::slice::from_ref(&change)).await?) },
        )
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text =
        panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("the handler panicked: {}", text.unwrap_or("(no text)"))
}
