//! Publishes a batch as a few pipelines and sorts the server's answers, one for each event.

use super::{
    RedisBroker, entry,
    error::{NAME, is_of_connection, of, of_key},
    link::{Answers, Shared},
    topic,
};
use crate::{
    broker::{BrokerError, Outgoing, Published},
    telemetry::{self, Outcome},
};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use redis_client::{Pipeline, RedisResult, Value, from_redis_value, pipe};
use std::{
    collections::HashMap,
    sync::Mutex,
    time::{Duration, Instant},
};

const ACTION: &str = "publish";
/// The most events of one pipeline: the server works on one while the next is made.
const PIPELINE_MAX: usize = 250;
/// The most pipelines on their way.
const PIPELINES_MAX: usize = 4;
/// How often one process trims a stream that it publishes to.
const TRIM_INTERVAL: Duration = Duration::from_secs(30);

/// When each stream was trimmed last by this process.
pub(super) type Trims = Mutex<HashMap<String, Instant>>;

impl RedisBroker {
    pub(super) async fn publish_batch(&self, batch: &[Outgoing<'_>]) -> Result<Vec<Published>, BrokerError> {
        let shared = self.link.shared(ACTION).await?;
        let mut parts = Vec::new();
        for part in batch.chunks(PIPELINE_MAX) {
            parts.push(self.publish_part(&shared, part));
        }
        let published: Vec<_> = stream::iter(parts).buffered(PIPELINES_MAX).try_collect().await?;
        self.unless_down(published.into_iter().flatten().collect()).await
    }

    async fn publish_part(
        &self,
        shared: &Shared,
        batch: &[Outgoing<'_>],
    ) -> Result<Vec<Published>, BrokerError> {
        let mut pipeline = pipe();
        pipeline.ignore_errors();
        // The outcome of each event, or the stream it goes to.
        let mut places: Vec<Result<String, Published>> = Vec::with_capacity(batch.len());
        for outgoing in batch {
            places.push(self.add(&mut pipeline, outgoing).await?);
        }
        let streams: Vec<&String> = places.iter().flatten().collect();
        let trimmed = self.add_trims(&mut pipeline, &streams);
        let mut answers = self.send(shared, &pipeline).await?.into_iter();
        let published: Vec<Published> = places
            .into_iter()
            .map(|place| match place {
                Ok(stream) => outcome(&stream, answers.next()),
                Err(published) => published,
            })
            .collect();
        for (stream, answer) in trimmed.iter().zip(answers) {
            note_trimmed(stream, answer);
        }
        Ok(published)
    }

    /// Adds an event to the pipeline and returns its stream, or its outcome without the server.
    ///
    /// # Errors
    /// The server cannot be reached, so there is no sense in going on.
    async fn add(
        &self,
        pipeline: &mut Pipeline,
        outgoing: &Outgoing<'_>,
    ) -> Result<Result<String, Published>, BrokerError> {
        let envelope = outgoing.envelope;
        match self.link.declare(&envelope.topic).await {
            Ok(()) => {}
            Err(error) if error.is_transient() => return Err(error),
            // A topic that stands otherwise is a mistake of the set-up, not of the event.
            Err(error) => return Ok(Err(Published::TryAgain(error))),
        }
        let config = &self.link.config;
        let (fields, size) = entry::write(envelope, config.content_mode);
        let max = config.event_bytes_max;
        if size > max {
            return Ok(Err(Published::Refused(BrokerError::TooLarge { broker: NAME, size, max })));
        }
        let stream = topic::stream_of(&envelope.topic, envelope.key.as_deref(), config.partitions);
        let command = pipeline.cmd("XADD").arg(&stream).arg("*");
        for (name, value) in fields {
            command.arg(name.as_ref()).arg(value.as_ref());
        }
        Ok(Ok(stream))
    }

    /// Adds the trims that are due, behind the events.
    fn add_trims(&self, pipeline: &mut Pipeline, streams: &[&String]) -> Vec<String> {
        let config = &self.link.config;
        let millis = |span: Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        let (handled, unread) = (millis(config.retention), millis(config.unread_max.max(config.retention)));
        let mut trims = self.trims.lock().expect("no panic holds this lock");
        let now = Instant::now();
        let mut trimmed = Vec::new();
        for &stream in streams {
            if trims.get(stream).is_some_and(|last| now.duration_since(*last) < TRIM_INTERVAL) {
                continue;
            }
            trims.insert(stream.clone(), now);
            let script = include_str!("trim_stream.lua");
            pipeline.cmd("EVAL").arg(script).arg(1).arg(stream).arg(handled).arg(unread);
            trimmed.push(stream.clone());
        }
        trimmed
    }

    async fn send(
        &self,
        shared: &Shared,
        pipeline: &Pipeline,
    ) -> Result<Vec<RedisResult<Value>>, BrokerError> {
        if pipeline.is_empty() {
            return Ok(Vec::new());
        }
        let answers: Answers = pipeline.query_async(&mut shared.connection.clone()).await;
        match answers {
            Ok(answers) => {
                if answers.iter().any(|answer| answer.as_ref().is_err_and(is_of_connection)) {
                    self.link.failed(shared).await;
                }
                Ok(answers)
            }
            Err(error) => Err(self.link.judge(shared, of(ACTION, error.clone()), &error).await),
        }
    }

    /// A server that takes nothing at all for now is down: that costs no event an attempt.
    async fn unless_down(&self, mut published: Vec<Published>) -> Result<Vec<Published>, BrokerError> {
        let is_down = |published: &Published| matches!(published, Published::TryAgain(error @ BrokerError::Unavailable { .. }) if error.is_transient());
        if published.iter().all(is_down)
            && let Some(Published::TryAgain(error)) = published.pop()
        {
            return Err(error);
        }
        Ok(published)
    }
}

/// Nothing that the server says is about the event itself: it may pass once somebody repaired the server.
fn outcome(stream: &str, answer: Option<RedisResult<Value>>) -> Published {
    match answer {
        Some(Ok(_)) => Published::Confirmed { duplicate: false },
        Some(Err(error)) => Published::TryAgain(of_key(ACTION, stream, error)),
        None => Published::TryAgain(super::error::unavailable(ACTION, "the server gave too few answers")),
    }
}

fn note_trimmed(stream: &str, answer: RedisResult<Value>) {
    let counts = answer.and_then(|counts| Ok(from_redis_value::<(u64, u64)>(counts)?));
    match counts {
        Ok((_, 0)) => {}
        Ok((_, unread)) => {
            telemetry::count_events("broker/redis", Outcome::Missed, unread);
            tracing::error!(
                messaging.destination.name = stream,
                count = unread,
                "events were removed that a consumer has not handled in all the time that they are kept for it"
            );
        }
        Err(error) => tracing::warn!(
            messaging.destination.name = stream,
            error = &error as &dyn std::error::Error,
            "a stream could not be trimmed and grows"
        ),
    }
}
