//! Publishes a batch and sorts the server's answers, one for each event.
//!
//! The client is idempotent: what it sends again by itself is stored once and in order. What it gives up after its time may
//! have been stored all the same, or be stored later by a server that hangs. No two events of one key are ever in flight, so
//! such a late copy can only repeat what stands before it, and the same client has its sequence fence it where the server can
//! tell. Nothing is sent on behalf of a call that was dropped: its caller may not lead any longer.

use super::{
    KafkaBroker,
    error::{NAME, is_too_large, is_topic_missing, of, of_code, refused, unavailable},
    link::{Link, Publisher},
    message::{self, Written},
};
use crate::{
    broker::{BrokerError, Outgoing, Published, partition},
    envelope::Envelope,
};
use rdkafka::{
    error::{KafkaError, RDKafkaErrorCode as Code},
    producer::{DeliveryFuture, FutureRecord, Producer},
};

const ACTION: &str = "publish";

impl KafkaBroker {
    pub(super) async fn publish_batch(&self, batch: &[Outgoing<'_>]) -> Result<Vec<Published>, BrokerError> {
        let mut prepared = Vec::with_capacity(batch.len());
        for outgoing in batch {
            prepared.push(self.prepare(outgoing.envelope).await?);
        }
        let session = Session::begin(&self.link)?;
        // All are sent before the first is waited for.
        let sent: Vec<Result<DeliveryFuture, Published>> = prepared
            .into_iter()
            .zip(batch)
            .map(|(written, outgoing)| session.send(outgoing.envelope, written?))
            .collect();
        let mut published = Vec::with_capacity(batch.len());
        for (sent, outgoing) in sent.into_iter().zip(batch) {
            published.push(match sent {
                Ok(answer) => session.outcome(outgoing.envelope, answer).await,
                Err(published) => published,
            });
        }
        if batch.len() > 1 {
            session.try_alone(&mut published, batch).await;
        }
        session.end();
        unless_down(published)
    }

    /// What is sent of an event, or its outcome without the server.
    ///
    /// # Errors
    /// The server cannot be reached, so there is no sense in going on.
    async fn prepare<'a>(
        &self,
        envelope: &'a Envelope,
    ) -> Result<Result<Written<'a>, Published>, BrokerError> {
        match self.link.declare(&envelope.topic).await {
            Ok(()) => {}
            Err(error) if error.is_transient() => return Err(error),
            // A topic that stands otherwise is a mistake of the set-up, not of the event.
            Err(error) => return Ok(Err(Published::TryAgain(error))),
        }
        let written = message::write(envelope, self.link.config.content_mode);
        let (size, max) = (written.size, self.link.config.event_bytes_max);
        Ok(match size > max {
            true => Err(Published::Refused(BrokerError::TooLarge { broker: NAME, size, max })),
            false => Ok(written),
        })
    }
}

/// What was sent for one call. Dropped before its end, it gives the client up with all that it has not sent yet.
struct Session<'a> {
    link: &'a Link,
    publisher: Option<Publisher>,
}

impl<'a> Session<'a> {
    fn begin(link: &'a Link) -> Result<Self, BrokerError> {
        Ok(Self { link, publisher: Some(link.publisher(ACTION)?) })
    }

    fn publisher(&self) -> &Publisher {
        self.publisher.as_ref().expect("it is kept until the end")
    }

    fn send(&self, envelope: &Envelope, written: Written<'_>) -> Result<DeliveryFuture, Published> {
        // The time of the message is that of its publishing: by it the server decides how long a replayed event stays.
        let mut record =
            FutureRecord::<str, str>::to(&envelope.topic).payload(&written.body).headers(written.headers);
        // Never left to the client: it would also choose partitions that were added since, which no consumer reads.
        let of = |text: &str| partition::of_key(text, self.link.config.partitions);
        let partition = envelope.key.as_deref().map_or_else(|| of(&envelope.id.to_string()), of);
        record = record.partition(i32::from(partition));
        if let Some(key) = &envelope.key {
            record = record.key(key);
        }
        self.publisher().send_result(record).map_err(|(error, _)| self.judge(envelope, error))
    }

    async fn outcome(&self, envelope: &Envelope, answer: DeliveryFuture) -> Published {
        match answer.await {
            Ok(Ok(_)) => Published::Confirmed { duplicate: false },
            Ok(Err((error, _))) => self.judge(envelope, error),
            Err(_) => Published::TryAgain(unavailable(ACTION, "the client was given up")),
        }
    }

    /// What an error says about an event. But for its size, it may pass once somebody repaired the server.
    fn judge(&self, envelope: &Envelope, error: KafkaError) -> Published {
        let Some(code) = error.rdkafka_error_code() else { return Published::TryAgain(of(ACTION, error)) };
        if is_too_large(code) {
            return Published::Refused(self.too_large(envelope, code));
        }
        if is_topic_missing(code) {
            self.link.set_missing(&envelope.topic);
        }
        // What is fatal to the client has a reason of its own.
        let fatal = self.publisher().client().fatal_error().map(|(code, _)| code);
        Published::TryAgain(of_code(ACTION, fatal.unwrap_or(code)))
    }

    /// Why the server refused an event for its size.
    fn too_large(&self, envelope: &Envelope, code: Code) -> BrokerError {
        let size = message::write(envelope, self.link.config.content_mode).size;
        match self.link.declared(&envelope.topic).flatten() {
            Some(max) if max < self.link.config.event_bytes_max => {
                BrokerError::TooLarge { broker: NAME, size, max }
            }
            _ => refused(
                ACTION,
                "the event is larger than the topic takes; set its `max.message.bytes`, or store the body elsewhere",
                code,
            ),
        }
    }

    /// Tries each alone that the server refused for its size: it takes or refuses as a whole what was sent together.
    async fn try_alone(&self, published: &mut [Published], batch: &[Outgoing<'_>]) {
        for (published, outgoing) in published.iter_mut().zip(batch) {
            if !matches!(published, Published::Refused(_)) {
                continue;
            }
            let written = message::write(outgoing.envelope, self.link.config.content_mode);
            // What is over our own limit was never sent.
            if written.size > self.link.config.event_bytes_max {
                continue;
            }
            *published = match self.send(outgoing.envelope, written) {
                Ok(answer) => self.outcome(outgoing.envelope, answer).await,
                Err(published) => published,
            };
        }
    }

    fn end(mut self) {
        // A client that had a fatal error sends nothing any more.
        if self.publisher().client().fatal_error().is_none() {
            self.publisher = None;
        }
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        if let Some(publisher) = self.publisher.take() {
            self.link.give_up(publisher);
        }
    }
}

/// A server that takes nothing at all for now is down: that costs no event an attempt.
fn unless_down(mut published: Vec<Published>) -> Result<Vec<Published>, BrokerError> {
    let is_down =
        |published: &Published| matches!(published, Published::TryAgain(error) if error.is_transient());
    if published.iter().all(is_down)
        && let Some(Published::TryAgain(error)) = published.pop()
    {
        return Err(error);
    }
    Ok(published)
}
