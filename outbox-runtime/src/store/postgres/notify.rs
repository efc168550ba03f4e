//! Notifications between processes: a hint to look, never the news itself.

use super::{PostgresStore, error::during};
use crate::store::{News, StoreError};
use futures_util::future::BoxFuture;
use sqlx::{
    Executor,
    postgres::{PgConnectOptions, PgListener, PgPoolOptions},
};
use std::time::Duration;
use tokio::{
    sync::{Mutex, watch},
    time::{Instant, timeout},
};

/// The wait after a listener could not be connected.
const RECONNECT_PAUSE: Duration = Duration::from_secs(1);

/// How long a silent connection is believed to live, and how long it may then take to answer: one that a firewall
/// forgot says nothing, too.
const SILENCE_MAX: Duration = Duration::from_secs(30);
const ANSWER_MAX: Duration = Duration::from_secs(5);

/// The one listening connection of a store, shared by all who wait.
#[derive(Debug)]
pub(super) struct Listener {
    channel: String,
    /// Whoever holds it listens for the others too.
    session: Mutex<Session>,
    /// Count what was heard: of events, of scheduled ones, and of leases that were given back. A waiter compares its count
    /// with what it knew before, so that it misses nothing between two waits.
    logged: watch::Sender<u64>,
    scheduled: watch::Sender<u64>,
    freed: watch::Sender<u64>,
}

/// The payloads of notifications that an event was scheduled and that a lease was given back; of events there is none.
const SCHEDULED: &str = "scheduled";
const FREED: &str = "freed";

/// What a waiter that is dropped leaves to the next one.
#[derive(Default)]
struct Session {
    connected: Option<Connected>,
    /// A connection that is being made. It may take longer than any one wait, so each goes on with it.
    connecting: Option<BoxFuture<'static, Result<Connected, sqlx::Error>>>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("connected", &self.connected).finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct Connected {
    listener: PgListener,
    answered_at: Instant,
}

impl Listener {
    pub(super) fn new(channel: String) -> Self {
        Self {
            channel,
            session: Mutex::default(),
            logged: watch::Sender::new(0),
            scheduled: watch::Sender::new(0),
            freed: watch::Sender::new(0),
        }
    }

    pub(super) fn channel(&self) -> &str {
        &self.channel
    }
}

pub(super) async fn notify(store: &PostgresStore, news: News) -> Result<(), StoreError> {
    let payload = match news {
        News::Logged => "",
        News::Scheduled => SCHEDULED,
    };
    sqlx::query(store.sql().notify.clone())
        .bind(&store.listener().channel)
        .bind(payload)
        .execute(store.pool())
        .await
        .map_err(during("notify other processes"))?;
    Ok(())
}

/// Completes when more of this news was heard than `heard` counts.
pub(super) async fn notified(store: &PostgresStore, news: News, heard: &mut u64) {
    let counter = match news {
        News::Logged => &store.listener().logged,
        News::Scheduled => &store.listener().scheduled,
    };
    more_than(store, counter, heard).await;
}

/// Completes when more leases were given back than `freed` counts.
pub(super) async fn freed(store: &PostgresStore, freed: &mut u64) {
    more_than(store, &store.listener().freed, freed).await;
}

/// One waiter listens; when it is dropped, the next one takes its place.
async fn more_than(store: &PostgresStore, counter: &watch::Sender<u64>, known: &mut u64) {
    let mut count = counter.subscribe();
    let before = *known;
    tokio::select! { biased;
        _ = count.wait_for(|count| *count != before) => {}
        // Ends only when the store's listener does.
        () = listen(store) => {}
    }
    *known = *counter.borrow();
}

async fn listen(store: &PostgresStore) {
    let listener = store.listener();
    let mut session = listener.session.lock().await;
    loop {
        match receive(store, &mut session).await {
            Ok(heard) => {
                let counters = [
                    (Heard::Logged, &listener.logged),
                    (Heard::Scheduled, &listener.scheduled),
                    (Heard::Freed, &listener.freed),
                ];
                for (of, counter) in counters {
                    if heard == of || heard == Heard::Connected {
                        counter.send_modify(|count| *count += 1);
                    }
                }
                // Whoever waits for it is woken, this one too.
                tokio::task::yield_now().await;
            }
            Err(error) => {
                *session = Session::default();
                tracing::debug!(
                    error = &error as &dyn std::error::Error,
                    "the listening connection was lost; readers poll"
                );
                tokio::time::sleep(RECONNECT_PAUSE).await;
            }
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Heard {
    Logged,
    Scheduled,
    Freed,
    /// What was sent before cannot be heard any more: look for all.
    Connected,
}

/// Completes when there is reason to look. Dropped at any point, it leaves a connection that listens, or none.
async fn receive(store: &PostgresStore, session: &mut Session) -> Result<Heard, sqlx::Error> {
    let Some(Connected { listener, answered_at }) = &mut session.connected else {
        let begin = || -> BoxFuture<'static, _> {
            let options = (*store.pool().connect_options()).clone();
            Box::pin(connect(options, store.listener().channel.clone()))
        };
        let connected = session.connecting.get_or_insert_with(begin).await?;
        *session = Session { connected: Some(connected), connecting: None };
        return Ok(Heard::Connected);
    };
    loop {
        if answered_at.elapsed() >= SILENCE_MAX {
            let answer = timeout(ANSWER_MAX, listener.execute("")).await;
            answer.map_err(|elapsed| sqlx::Error::Io(elapsed.into()))??;
            *answered_at = Instant::now();
        }
        let silence_left = SILENCE_MAX.saturating_sub(answered_at.elapsed());
        match timeout(silence_left, listener.try_recv()).await {
            Ok(Ok(Some(notification))) => {
                *answered_at = Instant::now();
                return Ok(match notification.payload() {
                    FREED => Heard::Freed,
                    SCHEDULED => Heard::Scheduled,
                    _ => Heard::Logged,
                });
            }
            Ok(Ok(None)) => {
                let source = std::io::Error::from(std::io::ErrorKind::ConnectionAborted);
                return Err(sqlx::Error::Io(source));
            }
            Ok(Err(error)) => return Err(error),
            Err(_silent) => {}
        }
    }
}

async fn connect(options: PgConnectOptions, channel: String) -> Result<Connected, sqlx::Error> {
    // A pool of its own, since a listener keeps its connection for good.
    let pool = PgPoolOptions::new().max_connections(1).connect_lazy_with(options);
    let mut listener = PgListener::connect_with(&pool).await?;
    // A lost connection must be told at once: the driver's own way to make it again forgets that, if it is dropped
    // half-way, and what was sent meanwhile would be missed in silence.
    listener.eager_reconnect(false);
    listener.listen(&channel).await?;
    Ok(Connected { listener, answered_at: Instant::now() })
}
