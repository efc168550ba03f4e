//! Notifications between processes: a hint to look, never the news itself.

use super::{PostgresStore, error::during};
use crate::store::StoreError;
use sqlx::{
    Executor,
    postgres::{PgListener, PgPoolOptions},
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
    connection: Mutex<Option<Connected>>,
    /// Counts what was heard. A waiter compares it with what it knew before, so that it misses nothing between two waits.
    heard: watch::Sender<u64>,
}

#[derive(Debug)]
struct Connected {
    listener: PgListener,
    answered_at: Instant,
}

impl Listener {
    pub(super) fn new(channel: String) -> Self {
        Self { channel, connection: Mutex::new(None), heard: watch::Sender::new(0) }
    }
}

pub(super) async fn notify(store: &PostgresStore) -> Result<(), StoreError> {
    sqlx::query(store.sql().notify.clone())
        .bind(&store.listener().channel)
        .execute(store.pool())
        .await
        .map_err(during("notify other processes"))?;
    Ok(())
}

/// Completes when more was heard than `heard` counts. One waiter listens; when it is dropped, the next one takes its
/// place.
pub(super) async fn notified(store: &PostgresStore, heard: &mut u64) {
    let mut count = store.listener().heard.subscribe();
    let known = *heard;
    tokio::select! { biased;
        _ = count.wait_for(|count| *count != known) => {}
        () = listen(store) => {}
    }
    *heard = *store.listener().heard.borrow();
}

async fn listen(store: &PostgresStore) {
    let listener = store.listener();
    let mut connection = listener.connection.lock().await;
    while let Err(error) = receive(store, &mut connection).await {
        *connection = None;
        tracing::debug!(
            error = &error as &dyn std::error::Error,
            "the listening connection was lost; readers poll"
        );
        tokio::time::sleep(RECONNECT_PAUSE).await;
    }
    listener.heard.send_modify(|count| *count += 1);
}

/// Completes when there is reason to look. Dropped at any point, it leaves a connection that listens, or none.
async fn receive(store: &PostgresStore, connection: &mut Option<Connected>) -> Result<(), sqlx::Error> {
    let Some(Connected { listener, answered_at }) = connection else {
        *connection = Some(connect(store).await?);
        // Whatever was sent before cannot be heard any more: look.
        return Ok(());
    };
    loop {
        if answered_at.elapsed() >= SILENCE_MAX {
            let answer = timeout(ANSWER_MAX, listener.execute("")).await;
            answer.map_err(|elapsed| sqlx::Error::Io(elapsed.into()))??;
            *answered_at = Instant::now();
        }
        let silence_left = SILENCE_MAX.saturating_sub(answered_at.elapsed());
        match timeout(silence_left, listener.try_recv()).await {
            Ok(Ok(Some(_notification))) => {
                *answered_at = Instant::now();
                return Ok(());
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

async fn connect(store: &PostgresStore) -> Result<Connected, sqlx::Error> {
    // A pool of its own, since a listener keeps its connection for good.
    let options = (*store.pool().connect_options()).clone();
    let pool = PgPoolOptions::new().max_connections(1).connect_lazy_with(options);
    let mut listener = PgListener::connect_with(&pool).await?;
    // A lost connection must be told at once: the driver's own way to make it again forgets that, if it is dropped
    // half-way, and what was sent meanwhile would be missed in silence.
    listener.eager_reconnect(false);
    listener.listen(&store.listener().channel).await?;
    Ok(Connected { listener, answered_at: Instant::now() })
}
