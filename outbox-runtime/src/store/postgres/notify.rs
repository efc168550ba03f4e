//! Notifications between processes: a hint to look, never the news itself.

use super::{PostgresStore, error::during};
use crate::store::StoreError;
use sqlx::postgres::{PgListener, PgPoolOptions};
use std::time::Duration;
use tokio::sync::{Mutex, watch};

/// The wait after a listener could not be connected.
const RECONNECT_PAUSE: Duration = Duration::from_secs(1);

/// The one listening connection of a store, shared by all who wait.
#[derive(Debug)]
pub(super) struct Listener {
    channel: String,
    /// Whoever holds it listens for the others too.
    connection: Mutex<Option<PgListener>>,
    /// Counts what was heard.
    heard: watch::Sender<u64>,
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

/// Completes at the next notification. One waiter listens; when it is dropped, the next one takes its place.
pub(super) async fn notified(store: &PostgresStore) {
    let mut heard = store.listener().heard.subscribe();
    tokio::select! {
        _ = heard.changed() => {}
        () = listen(store) => {}
    }
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

async fn receive(store: &PostgresStore, connection: &mut Option<PgListener>) -> Result<(), sqlx::Error> {
    if connection.is_none() {
        // A pool of its own, since a listener keeps its connection for good.
        let options = (*store.pool().connect_options()).clone();
        let pool = PgPoolOptions::new().max_connections(1).connect_lazy_with(options);
        let mut listener = PgListener::connect_with(&pool).await?;
        listener.listen(&store.listener().channel).await?;
        *connection = Some(listener);
        // Whatever was sent before cannot be heard any more: look.
        return Ok(());
    }
    let listener = connection.as_mut().expect("made above");
    // `None` is a lost connection that was made again: something may have been missed, so look.
    listener.try_recv().await.map(|_| ())
}
