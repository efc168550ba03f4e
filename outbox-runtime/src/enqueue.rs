//! Writing events in the caller's transaction: the outbox itself, and transactions that wake the relay.

use crate::{
    draft::{Draft, IntoDraft},
    envelope::{EventId, NewEvent},
    held::Lane,
    preflight::Limits,
    scheduled::NewScheduled,
    store::{EventState, News, OpenTx, Statement, Store, StoreError, sealed::Sealed},
    wake::{Nudge, Wake},
};
use std::{
    collections::BTreeSet,
    error::Error,
    fmt,
    ops::{Deref, DerefMut},
    sync::Arc,
    time::SystemTime,
};
use time::OffsetDateTime;

/// The outbox of one database: writes events beside the state they tell of. Cheap to clone.
pub struct Outbox<S: Store> {
    inner: Arc<Inner<S>>,
}

struct Inner<S> {
    store: S,
    source: String,
    schema_base: Option<String>,
    limits: Limits,
    #[cfg(feature = "validate")]
    validates: bool,
    /// Wakes those who read the log.
    wake: Wake,
    /// Wakes who moves scheduled events.
    wake_upkeep: Wake,
}

impl<S: Store> Clone for Outbox<S> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

impl<S: Store> fmt::Debug for Outbox<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outbox")
            .field("store", &S::NAME)
            .field("source", &self.inner.source)
            .finish_non_exhaustive()
    }
}

/// Configures an [`Outbox`].
#[derive(Debug)]
#[must_use = "call `build`"]
pub struct OutboxBuilder<S> {
    store: S,
    source: String,
    schema_base: Option<String>,
    limits: Limits,
    #[cfg(feature = "validate")]
    validates: bool,
}

impl<S: Store> OutboxBuilder<S> {
    /// Sets the CloudEvents source of every event that names no other: who writes, such as `/orders`.
    /// Events are deduplicated by source and id. Default `/`.
    pub fn source(mut self, source: impl Into<String>) -> Self {
        self.source = source.into();
        self
    }

    /// Sets the address below which schemas are served: `dataschema` becomes `<base>/<type>/<version>`.
    /// Default: `urn:outbox:<type>:<version>`.
    pub fn schema_base(mut self, base: impl Into<String>) -> Self {
        self.schema_base = Some(base.into());
        self
    }

    /// Sets what the configured broker takes.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Whether each payload is held against the event's own contract before it is written. Default: in debug builds.
    #[cfg(feature = "validate")]
    pub fn validate(mut self, validates: bool) -> Self {
        self.validates = validates;
        self
    }

    /// Makes the outbox. Must be called inside a tokio runtime; nothing is read or written yet.
    #[must_use]
    pub fn build(self) -> Outbox<S> {
        let (wake, wake_upkeep) = (Wake::new(), Wake::new());
        if S::NOTIFIES {
            crate::runner::spawn_notifier(self.store.clone(), News::Logged, wake.subscribe());
            crate::runner::spawn_notifier(self.store.clone(), News::Scheduled, wake_upkeep.subscribe());
        }
        let inner = Inner {
            store: self.store,
            source: self.source,
            schema_base: self.schema_base,
            limits: self.limits,
            #[cfg(feature = "validate")]
            validates: self.validates,
            wake,
            wake_upkeep,
        };
        Outbox { inner: Arc::new(inner) }
    }
}

impl<S: Store> Outbox<S> {
    /// Starts to configure an outbox on `store`.
    pub fn builder(store: S) -> OutboxBuilder<S> {
        OutboxBuilder {
            store,
            source: "/".to_owned(),
            schema_base: None,
            limits: Limits::default(),
            #[cfg(feature = "validate")]
            validates: cfg!(debug_assertions),
        }
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &S {
        &self.inner.store
    }

    pub(crate) fn wake(&self) -> &Wake {
        &self.inner.wake
    }

    pub(crate) fn wake_upkeep(&self) -> &Wake {
        &self.inner.wake_upkeep
    }

    /// Creates or updates the tables of the outbox, under a role that owns them. Safe to run several times at once and
    /// beside the application's own migrations.
    ///
    /// # Errors
    /// [`StoreError`]; the migration that failed left nothing.
    ///
    /// # Cancel safety
    /// If dropped, each migration is either whole or absent; run it again.
    pub async fn migrate(&self) -> Result<(), StoreError> {
        self.inner.store.migrate().await
    }

    /// Begins a transaction whose commit is proven and wakes the relay at once.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot begin.
    ///
    /// # Cancel safety
    /// If dropped, no transaction is left open.
    pub async fn begin(&self) -> Result<Tx<S>, StoreError> {
        let tx = self.inner.store.begin().await?;
        Ok(Tx { outbox: self.clone(), tx, is_sound: false, has_scheduled: false })
    }

    /// Writes an event (`&event` or a [`draft`](crate::draft)) in the caller's open transaction; it is published if and only if that
    /// transaction commits. An event that is written in a lower version too (`also_as`) is written as both, the lower one
    /// directly after it; the id is that of the event itself.
    ///
    /// # Errors
    /// [`EnqueueError`]; nothing was written. The transaction is still usable unless the cause is
    /// [`EnqueueError::Store`].
    ///
    /// # Cancel safety
    /// If dropped, roll the transaction back.
    pub async fn enqueue(
        &self,
        tx: &mut impl OpenTx<S>,
        event: impl IntoDraft,
    ) -> Result<EventId, EnqueueError> {
        let draft = event.into_draft();
        let locked = draft.locked_lane().into_iter().collect();
        let complete = self.complete(draft)?;
        let id = complete.events[0].id;
        self.write(tx, &locked, vec![complete]).await?;
        Ok(id)
    }

    /// Writes events of any types in the order given, in one round trip, and those that are due
    /// [later](Draft::at) in another; all or none. Gives their ids in that order.
    ///
    /// # Errors
    /// As [`Outbox::enqueue`], for the first event that is refused; nothing was written.
    ///
    /// # Cancel safety
    /// If dropped, roll the transaction back.
    pub async fn enqueue_batch<D: IntoDraft>(
        &self,
        tx: &mut impl OpenTx<S>,
        events: impl IntoIterator<Item = D>,
    ) -> Result<Vec<EventId>, EnqueueError> {
        let drafts: Vec<Draft> = events.into_iter().map(IntoDraft::into_draft).collect();
        let locked = drafts.iter().filter_map(Draft::locked_lane).collect();
        let drafts = drafts.into_iter().map(|draft| self.complete(draft)).collect::<Result<Vec<_>, _>>()?;
        let ids = drafts.iter().map(|complete| complete.events[0].id).collect();
        self.write(tx, &locked, drafts).await?;
        Ok(ids)
    }

    /// The SQL statement that writes an event, for a transaction of another driver, with the event's id. Whoever runs it
    /// gives up the nudge: a relay then finds the event by polling.
    ///
    /// # Errors
    /// As [`Outbox::enqueue`], [`EnqueueError::Unlocked`] for a draft that is [`locked`](Draft::locked), and
    /// [`EnqueueError::Unscheduled`] for one that is due [later](Draft::at).
    pub fn statement(&self, event: impl IntoDraft) -> Result<(EventId, Statement), EnqueueError> {
        let draft = event.into_draft();
        let is_locked = draft.locked_lane().is_some();
        let Complete { events, due } = self.complete(draft)?;
        let (event, twin) = (&events[0], events.get(1));
        if due.is_some() {
            return Err(EnqueueError::Unscheduled { event: event.event_type.clone() });
        }
        if is_locked {
            return Err(EnqueueError::Unlocked { event: event.event_type.clone() });
        }
        Ok((event.id, self.inner.store.statement(event, twin)))
    }

    /// Tells where an event stands.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    ///
    /// # Cancel safety
    /// It only reads.
    pub async fn state(&self, id: EventId) -> Result<EventState, StoreError> {
        self.inner.store.state(id).await
    }

    async fn write(
        &self,
        tx: &mut impl OpenTx<S>,
        locked: &BTreeSet<Lane>,
        drafts: Vec<Complete>,
    ) -> Result<(), EnqueueError> {
        let Some(first) = drafts.first().map(|complete| complete.events[0].event_type.clone()) else {
            return Ok(());
        };
        let failed = |source| EnqueueError::Store { event: first.clone(), source };
        let (events, scheduled) = sorted(drafts);
        let nudges_itself = tx.nudges_at_commit();
        let store = &self.inner.store;
        if !locked.is_empty() {
            // A statement of its own before the insert: the numbers must be taken under the locks.
            store.lock_lanes(tx.connection(), locked).await.map_err(failed)?;
        }
        if !scheduled.is_empty() {
            store.schedule(tx.connection(), &scheduled).await.map_err(failed)?;
            tx.scheduled();
            if !nudges_itself {
                self.inner.wake_upkeep.nudge(Nudge::Soon);
            }
        }
        if !events.is_empty() {
            store.insert(tx.connection(), &events).await.map_err(failed)?;
            if !nudges_itself {
                self.inner.wake.nudge(Nudge::Soon);
            }
        }
        tx.wrote_last();
        Ok(())
    }

    /// Fills in what the outbox knows and checks the whole: one event, or a pair.
    fn complete(&self, draft: Draft) -> Result<Complete, EnqueueError> {
        let mut events = draft.events?;
        let due = draft.due.map(|due| due_at(due, &mut events)).transpose()?;
        events.iter_mut().try_for_each(|event| self.complete_one(event))?;
        Ok(Complete { events, due })
    }

    fn complete_one(&self, event: &mut NewEvent) -> Result<(), EnqueueError> {
        if event.source.is_empty() {
            event.source.clone_from(&self.inner.source);
        }
        event.dataschema = match &self.inner.schema_base {
            Some(base) => {
                format!("{}/{}/{}", base.trim_end_matches('/'), event.event_type, event.event_version)
            }
            None => outbox_schema::dataschema(&event.event_type, event.event_version),
        };
        self.inner.limits.check(event)?;
        #[cfg(feature = "validate")]
        if self.inner.validates {
            crate::validate::check(event)?;
        }
        Ok(())
    }
}

/// What one draft became: an event or a pair, and when it is due.
struct Complete {
    events: Vec<NewEvent>,
    due: Option<OffsetDateTime>,
}

/// Those for the log, and those that are due later, each in their order.
fn sorted(drafts: Vec<Complete>) -> (Vec<NewEvent>, Vec<NewScheduled>) {
    let (mut events, mut scheduled) = (Vec::new(), Vec::new());
    for Complete { events: of_draft, due } in drafts {
        match due {
            None => events.extend(of_draft),
            Some(due) => scheduled.extend(of_draft.into_iter().map(|event| NewScheduled { due, event })),
        }
    }
    (events, scheduled)
}

/// Times from this one on are no times of events.
const DUE_END: OffsetDateTime = time::macros::datetime!(9999-01-01 00:00 UTC);

/// When events are due. Their ids become ones of that time: with it they are found in the log, and what is due is told
/// from what never was scheduled when somebody asks to cancel it.
fn due_at(due: SystemTime, events: &mut [NewEvent]) -> Result<OffsetDateTime, EnqueueError> {
    let since_1970 = due.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let due = time::Duration::try_from(since_1970)
        .ok()
        .and_then(|since_1970| OffsetDateTime::UNIX_EPOCH.checked_add(since_1970))
        .filter(|due| *due < DUE_END)
        .ok_or_else(|| EnqueueError::NeverDue { event: events[0].event_type.clone() })?;
    let ids: Vec<EventId> = events.iter().map(|_| EventId::at(due)).collect();
    for (at, event) in events.iter_mut().enumerate() {
        event.id = ids[at];
        if let Some(twin) = &mut event.twin {
            // Of a pair each is the twin of the other.
            twin.id = ids[1 - at];
        }
    }
    Ok(due)
}

/// An open transaction that wakes the relay when it commits. Dereferences to the driver's connection.
///
/// Dropped, it rolls back.
#[must_use = "dropped, it rolls back"]
pub struct Tx<S: Store> {
    outbox: Outbox<S>,
    tx: S::Tx,
    /// Whether the last statement was ours and succeeded: in an aborted transaction it would have failed, so the commit
    /// needs no proof of its own.
    is_sound: bool,
    has_scheduled: bool,
}

impl<S: Store> fmt::Debug for Tx<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tx").field("store", &S::NAME).finish_non_exhaustive()
    }
}

impl<S: Store> Tx<S> {
    /// Commits, proves that it did, and wakes the relay.
    ///
    /// # Errors
    /// [`StoreError::Aborted`] when a database error was swallowed before; nothing was kept. When the connection is lost
    /// during the commit itself, whether it committed is not known.
    ///
    /// # Cancel safety
    /// If dropped, it may or may not have committed.
    pub async fn commit(self) -> Result<(), StoreError> {
        let store = self.outbox.store();
        if self.is_sound {
            store.commit_proven(self.tx).await?;
        } else {
            store.commit(self.tx).await?;
        }
        self.outbox.wake().nudge(Nudge::Committed);
        if self.has_scheduled {
            self.outbox.wake_upkeep().nudge(Nudge::Committed);
        }
        Ok(())
    }

    /// Rolls back.
    ///
    /// # Cancel safety
    /// If dropped, it rolls back all the same.
    pub async fn rollback(self) {
        self.outbox.store().rollback(self.tx).await;
    }
}

impl<S: Store> Deref for Tx<S>
where
    S::Tx: Deref<Target = S::Connection>,
{
    type Target = S::Connection;

    fn deref(&self) -> &S::Connection {
        &self.tx
    }
}

impl<S: Store> DerefMut for Tx<S>
where
    S::Tx: DerefMut<Target = S::Connection>,
{
    fn deref_mut(&mut self) -> &mut S::Connection {
        self.is_sound = false;
        &mut self.tx
    }
}

impl<S: Store> Sealed for Tx<S> {}

impl<S: Store> OpenTx<S> for Tx<S> {
    fn connection(&mut self) -> &mut S::Connection {
        self.is_sound = false;
        S::connection(&mut self.tx)
    }

    fn nudges_at_commit(&self) -> bool {
        true
    }

    fn scheduled(&mut self) {
        self.has_scheduled = true;
    }

    fn wrote_last(&mut self) {
        self.is_sound = true;
    }
}

/// Why an event could not be enqueued. Nothing was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnqueueError {
    /// The payload is too large.
    #[error(
        "event `{event}` is {size} bytes, over the {max}-byte limit; store the body elsewhere and send its address"
    )]
    TooLarge {
        /// The event type.
        event: String,
        /// Bytes of the payload.
        size: usize,
        /// The limit.
        max: usize,
    },
    /// A broker would refuse the event.
    #[error("event `{event}` would be refused by the broker: {problem}; {fix}")]
    Refused {
        /// The event type.
        event: String,
        /// What is wrong.
        problem: String,
        /// What to do.
        fix: &'static str,
    },
    /// The event has no payload text.
    #[error(
        "event `{event}` has no payload: it must serialize to a JSON object without members of our names"
    )]
    Payload {
        /// The event type.
        event: &'static str,
        /// Why.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The event and the lower version that is written with it have different partition keys, so they would not keep their
    /// place behind each other.
    #[error(
        "event `{event}` version {version} and the version {lower} that is written with it have different partition \
         keys; make both keys of the same value"
    )]
    KeysDiffer {
        /// The event type.
        event: &'static str,
        /// The version of the event.
        version: u32,
        /// The lower version.
        lower: u32,
    },
    /// The payload does not follow the event's own contract (feature `validate`).
    #[error(
        "event `{event}` does not follow its own schema at `{pointer}`: {problem}; correct the value or the type"
    )]
    Invalid {
        /// The event type.
        event: String,
        /// Where in the payload.
        pointer: String,
        /// What is wrong there, without the value.
        problem: String,
    },
    /// A draft that asks for a lock was made into a statement, which takes none.
    #[error(
        "a statement takes no lock for event `{event}`; lock a row of its key in your transaction and leave out `locked`"
    )]
    Unlocked {
        /// The event type.
        event: String,
    },
    /// A draft that is due later was made into a statement, which writes into the log at once.
    #[error(
        "a statement schedules nothing, and event `{event}` is to be due later; enqueue it through the outbox"
    )]
    Unscheduled {
        /// The event type.
        event: String,
    },
    /// The event is to be due at a time that no database keeps.
    #[error("event `{event}` would never be due; give a time before the year 9999")]
    NeverDue {
        /// The event type.
        event: String,
    },
    /// The database refused the row.
    #[error("could not write event `{event}` to the outbox; roll back, and retry if the cause is transient")]
    Store {
        /// The event type.
        event: String,
        /// The cause.
        #[source]
        source: StoreError,
    },
}

impl EnqueueError {
    /// Whether the whole transaction may succeed when it is run again.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Store { source, .. } if source.is_transient())
    }
}
