//! The clients: what they are told, what they say, and how a call of theirs that waits is waited for.

use super::error::{of, refused};
use crate::broker::BrokerError;
use rdkafka::{
    ClientContext,
    config::RDKafkaLogLevel,
    consumer::{BaseConsumer, Consumer, ConsumerContext},
    error::{KafkaError, KafkaResult, RDKafkaErrorCode as Code},
};
use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};
use tokio::sync::Notify;

/// After so long a call that waits for an answer looks whether the server has refused the connection.
const SLICE: Duration = Duration::from_secs(1);

/// The client says again and again that it reaches nobody; so often it is passed on.
const DOWN_EVERY: Duration = Duration::from_secs(60);

/// A client that reads: one of a consumer's partition, or one that asks about topics.
pub(super) type Reader = BaseConsumer<Context>;

/// What a client has heard, beside messages.
#[derive(Default)]
pub(super) struct Heard {
    /// Why the server lets nobody in.
    refusal: Mutex<Option<(Code, String)>>,
    /// Something has come.
    pub(super) arrived: Notify,
    /// When it was last passed on that no server can be reached.
    told_down: Mutex<Option<Instant>>,
}

impl Heard {
    /// What the server refuses since the last time that this was asked.
    pub(super) fn take_refusal(&self, action: &'static str) -> Option<BrokerError> {
        let (code, reason) = self.refusal.lock().expect("no panic holds this lock").take()?;
        match super::error::of_code(action, code) {
            BrokerError::Refused { problem, .. } => Some(refused(action, &problem, reason)),
            other => Some(other),
        }
    }

    /// Whether it is time to pass on that no server can be reached.
    fn is_down_news(&self) -> bool {
        let mut told = self.told_down.lock().expect("no panic holds this lock");
        let is_news = told.is_none_or(|told| told.elapsed() >= DOWN_EVERY);
        if is_news {
            *told = Some(Instant::now());
        }
        is_news
    }
}

/// Where the client says what is not an answer to a call.
#[derive(Clone, Default)]
pub(super) struct Context(pub(super) Arc<Heard>);

impl ClientContext for Context {
    fn log(&self, _: RDKafkaLogLevel, facility: &str, message: &str) {
        // Nobody else is told why a commit failed that is not waited for.
        if facility == "COMMITFAIL" {
            return tracing::warn!(message, "a consumer's position was not committed");
        }
        tracing::debug!(facility, message, "the client of Kafka says something");
    }

    fn error(&self, error: KafkaError, reason: &str) {
        let Some(code) = error.rdkafka_error_code() else { return };
        match code {
            Code::Authentication | Code::SaslAuthenticationFailed | Code::SSL => {
                *self.0.refusal.lock().expect("no panic holds this lock") = Some((code, reason.to_owned()));
                self.0.arrived.notify_one();
            }
            // The client goes on by itself.
            Code::AllBrokersDown if self.0.is_down_news() => {
                tracing::warn!(reason, "no server of Kafka can be reached; the client tries again");
            }
            _ => tracing::debug!(%code, reason, "the client of Kafka had an error"),
        }
    }
}

impl ConsumerContext for Context {}

/// Runs a call of the client that waits where it keeps nobody from going on.
pub(super) async fn waiting<T: Send + 'static>(
    action: &'static str,
    call: impl FnOnce() -> Result<T, BrokerError> + Send + 'static,
) -> Result<T, BrokerError> {
    let ended = tokio::task::spawn_blocking(call).await;
    ended.unwrap_or_else(|failed| Err(super::error::unavailable(action, failed)))
}

/// Asks the server, in slices of the time: a client that the server does not let in only goes on waiting.
pub(super) fn ask<T>(
    client: &Reader,
    action: &'static str,
    limit: Duration,
    call: impl Fn(&Reader, Duration) -> KafkaResult<T>,
) -> Result<T, BrokerError> {
    let deadline = Instant::now() + limit;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let error = match call(client, left.min(SLICE)) {
            Ok(answer) => {
                // It may have been refused before.
                let _ = client.context().0.take_refusal(action);
                return Ok(answer);
            }
            Err(error) => error,
        };
        // Nothing is assigned, so no message is lost.
        while client.poll(Duration::from_millis(1)).is_some() {}
        if let Some(refusal) = client.context().0.take_refusal(action) {
            return Err(refusal);
        }
        let judged = of(action, error);
        if !judged.is_transient() || Instant::now() >= deadline {
            return Err(judged);
        }
    }
}

/// Drops a client where it keeps nobody waiting: it takes leave of the server and ends its threads.
pub(super) fn let_go(client: impl Send + 'static) {
    let spawned =
        std::thread::Builder::new().name("outbox-kafka-close".to_owned()).spawn(move || drop(client));
    if let Err(error) = spawned {
        tracing::debug!(error = &error as &dyn std::error::Error, "a client was closed in place");
    }
}
