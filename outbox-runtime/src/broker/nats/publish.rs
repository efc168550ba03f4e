//! Publishes a batch in one go and sorts the server's answers, one for each event.

use super::{
    NatsBroker,
    error::{NAME, answer_in, disconnected, of_client, refused, unavailable},
    header, topic,
};
use crate::broker::{BrokerError, Outgoing, Published};
use async_nats::jetstream::{
    self, ErrorCode,
    context::{PublishAckFuture, PublishError, PublishErrorKind},
    message::PublishMessage,
};
use futures_util::future::{self, Either};

const ACTION: &str = "publish";

impl NatsBroker {
    pub(super) async fn publish_batch(&self, batch: &[Outgoing<'_>]) -> Result<Vec<Published>, BrokerError> {
        let context = self.live_context(ACTION).await?;
        let mut answers = Vec::with_capacity(batch.len());
        for outgoing in batch {
            answers.push(match self.send(context, outgoing).await {
                Ok(answer) => Either::Left(self.confirmed(outgoing, answer)),
                Err(published) => Either::Right(future::ready(published)),
            });
        }
        // All at once, else a server that is gone costs one time-out for each event.
        let published = future::join_all(answers).await;
        let is_lost =
            |published: &Published| matches!(published, Published::TryAgain(BrokerError::Unavailable { .. }));
        if !published.is_empty() && published.iter().all(is_lost) && !is_connected(context) {
            return Err(disconnected(ACTION));
        }
        Ok(published)
    }

    /// Hands one event to the client; an error is the event's outcome.
    async fn send(
        &self,
        context: &jetstream::Context,
        outgoing: &Outgoing<'_>,
    ) -> Result<PublishAckFuture, Published> {
        let envelope = outgoing.envelope;
        // A topic that stands otherwise is a mistake of the set-up, not of the event.
        self.declare(&envelope.topic).await.map_err(Published::TryAgain)?;
        let content = self.config.content_mode.write(envelope);
        let (headers, header_bytes) = header::write(&content, outgoing.message_id);
        let (size, max) = (header_bytes + content.body.len(), context.client().max_payload());
        if size > max {
            return Err(Published::Refused(BrokerError::TooLarge { broker: NAME, size, max }));
        }
        let subject = topic::subject(
            &envelope.topic,
            envelope.key.as_deref(),
            &envelope.event_type,
            self.config.partitions,
        );
        let message = PublishMessage::build().payload(content.body.into_owned().into()).headers(headers);
        context.send_publish(subject, message).await.map_err(outcome)
    }

    async fn confirmed(&self, outgoing: &Outgoing<'_>, answer: PublishAckFuture) -> Published {
        match answer.await {
            Ok(ack) => Published::Confirmed { duplicate: ack.duplicate },
            Err(error) => {
                if error.kind() == PublishErrorKind::StreamNotFound {
                    self.forget(&outgoing.envelope.topic);
                }
                outcome(error)
            }
        }
    }
}

/// Only what lies in the event itself is a refusal: everything else may pass once somebody repaired the server.
fn outcome(error: PublishError) -> Published {
    let code = answer_in(&error).map(|answer| answer.error_code());
    match code {
        Some(ErrorCode::STREAM_MESSAGE_EXCEEDS_MAXIMUM) => Published::Refused(refused(
            ACTION,
            "the event is larger than the stream's `max_msg_size`; raise it, or store the body elsewhere",
            error,
        )),
        Some(ErrorCode::STREAM_HEADER_EXCEEDS_MAXIMUM) => Published::Refused(refused(
            ACTION,
            "the headers are larger than 64 KiB; put the text into the payload",
            error,
        )),
        Some(_) => Published::TryAgain(unavailable(ACTION, error)),
        None => Published::TryAgain(of_client(ACTION, error)),
    }
}

fn is_connected(context: &jetstream::Context) -> bool {
    context.client().connection_state() == async_nats::connection::State::Connected
}
