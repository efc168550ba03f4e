//! Publishes a batch on one channel with confirms, and sorts the server's answers, one for each event.
//!
//! A message that no queue takes comes back before it is confirmed, and the client hands it over with *some* confirmation of
//! that time: so a batch has its channel for itself, and what came back is told by the id that it carries.
//!
//! One event that the server refuses ends the channel under all of its batch. Then those without an answer are published one
//! by one, each on a channel of its own, so that only that one fails.

use super::{
    RabbitMqBroker,
    error::{NAME, blocked, of, refused, soft_error, unavailable},
    link::Link,
    message::{self, Written},
    topology::{self, short},
};
use crate::broker::{BrokerError, Outgoing, Published};
use futures_util::future;
use lapin::{
    Channel, Confirmation,
    options::{BasicPublishOptions, ConfirmSelectOptions},
    protocol::AMQPSoftError,
    types::ShortString,
};
use std::{
    collections::HashSet,
    pin::pin,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::time::{Instant, timeout_at};

const ACTION: &str = "publish";

/// How soon it is noticed that the server takes nothing for now.
const LOOK: Duration = Duration::from_millis(50);

/// The channel of the batch before, if every answer to it has come.
pub(super) type Spare = Mutex<Option<(Arc<Link>, Channel)>>;

/// An event that can be sent.
struct Ready<'a> {
    outgoing: &'a Outgoing<'a>,
    written: Written<'a>,
    routing_key: ShortString,
}

/// What the server said of one message; an error ended the channel or the connection.
type Answer = lapin::Result<Confirmation>;

impl RabbitMqBroker {
    pub(super) async fn publish_batch(&self, batch: &[Outgoing<'_>]) -> Result<Vec<Published>, BrokerError> {
        let link = self.open_link(ACTION).await?;
        let mut outcomes: Vec<Option<Published>> = Vec::with_capacity(batch.len());
        let mut ready = Vec::new();
        for outgoing in batch {
            match self.prepare(&link, outgoing).await? {
                Ok(event) => {
                    ready.push((outcomes.len(), event));
                    outcomes.push(None);
                }
                Err(published) => outcomes.push(Some(published)),
            }
        }
        let events: Vec<&Ready<'_>> = ready.iter().map(|(_, event)| event).collect();
        for ((place, _), published) in ready.iter().zip(self.publish_all(&link, &events).await?) {
            outcomes[*place] = Some(published);
        }
        unless_down(outcomes.into_iter().map(|outcome| outcome.expect("each event has an outcome")).collect())
    }

    /// What is sent of an event, or its outcome without the server.
    ///
    /// # Errors
    /// The server cannot be reached, so there is no sense in going on.
    async fn prepare<'a>(
        &self,
        link: &Arc<Link>,
        outgoing: &'a Outgoing<'a>,
    ) -> Result<Result<Ready<'a>, Published>, BrokerError> {
        let envelope = outgoing.envelope;
        match self.publishing.declare_topic(link, &envelope.topic).await {
            Ok(()) => {}
            Err(error) if error.is_transient() => return Err(error),
            // A topic that stands otherwise is a mistake of the set-up, not of the event.
            Err(error) => return Ok(Err(Published::TryAgain(error))),
        }
        let written = message::write(envelope, self.publishing.config.content_mode, outgoing.message_id);
        let (size, max) = (written.event_bytes, self.publishing.config.event_bytes_max);
        if size > max {
            return Ok(Err(Published::Refused(BrokerError::TooLarge { broker: NAME, size, max })));
        }
        // The protocol cannot divide headers, and the server ends the connection of whoever sends too many.
        let frame_max = link.connection.configuration().frame_max() as usize;
        if frame_max != 0 && written.frame_bytes > frame_max {
            let problem = "the headers do not fit into one frame; put the text into the payload";
            let sizes = format!("{} bytes of headers, {frame_max} in a frame", written.frame_bytes);
            return Ok(Err(Published::Refused(refused(ACTION, problem, sizes))));
        }
        let partitions = self.publishing.config.partitions;
        let routing_key = topology::routing_key(envelope.key.as_deref(), &envelope.event_type, partitions);
        Ok(short(&routing_key)
            .map(|routing_key| Ready { outgoing, written, routing_key })
            .map_err(Published::Refused))
    }

    async fn publish_all(
        &self,
        link: &Arc<Link>,
        events: &[&Ready<'_>],
    ) -> Result<Vec<Published>, BrokerError> {
        let mut published = self.publish_on_one_channel(link, events).await?;
        let is_single = events.len() == 1;
        for (event, outcome) in events.iter().zip(&mut published) {
            if let Err(error) = outcome {
                let alone = if is_single || soft_error(error).is_none() {
                    Err(error.clone())
                } else {
                    self.publish_on_one_channel(link, &[event]).await?.remove(0)
                };
                *outcome = alone;
            }
        }
        Ok(published
            .into_iter()
            .map(|outcome| outcome.unwrap_or_else(|error| self.failed(link, error)))
            .collect())
    }

    /// Publishes these in one go; an error of one is that of its channel or connection.
    async fn publish_on_one_channel(
        &self,
        link: &Arc<Link>,
        events: &[&Ready<'_>],
    ) -> Result<Vec<lapin::Result<Published>>, BrokerError> {
        if events.is_empty() {
            return Ok(Vec::new());
        }
        let channel = self.channel(link).await?;
        let answers = self.answers(link, &channel, events).await?;
        if answers.iter().all(Result::is_ok) {
            *self.spare.lock().expect("no panic holds this lock") = Some((link.clone(), channel));
        }
        let mut returned = HashSet::new();
        let mut answered = Vec::with_capacity(answers.len());
        for answer in answers {
            answered.push(answer.map(|confirmation| {
                let is_kept = confirmation.is_ack();
                let message = confirmation.take_message();
                returned.extend(message.and_then(|message| message.properties.message_id().clone()));
                is_kept
            }));
        }
        let outcome = |(event, answer): (&&Ready<'_>, lapin::Result<bool>)| {
            let id = event.written.properties.message_id().as_ref();
            let is_returned = id.is_some_and(|id| returned.contains(id));
            answer.map(|is_kept| outcome(event, is_kept, is_returned))
        };
        Ok(events.iter().zip(answered).map(outcome).collect())
    }

    /// The channel of the batch before, or a new one.
    async fn channel(&self, link: &Arc<Link>) -> Result<Channel, BrokerError> {
        let spare = self.spare.lock().expect("no panic holds this lock").take();
        if let Some((its_link, channel)) = spare
            && Arc::ptr_eq(&its_link, link)
            && channel.status().connected()
        {
            return Ok(channel);
        }
        let channel = self.publishing.channel(link, ACTION).await?;
        let confirming = channel.confirm_select(ConfirmSelectOptions::default());
        self.publishing.answer(link, ACTION, confirming).await?.map_err(|error| of(ACTION, error))?;
        Ok(channel)
    }

    /// Sends and waits for all answers, unless the server takes nothing for now.
    async fn answers(
        &self,
        link: &Arc<Link>,
        channel: &Channel,
        events: &[&Ready<'_>],
    ) -> Result<Vec<Answer>, BrokerError> {
        let mut answers = pin!(future::join_all(events.iter().map(|event| send(channel, event))));
        let deadline = Instant::now() + self.publishing.config.request_timeout;
        loop {
            let look = deadline.min(Instant::now() + LOOK);
            match timeout_at(look, answers.as_mut()).await {
                Ok(answers) => return Ok(answers),
                // This connection is kept, for it will hear when the alarm is over.
                Err(_) if link.connection.status().blocked() => return Err(blocked(ACTION)),
                Err(elapsed) if look == deadline => {
                    self.publishing.give_up(link).await;
                    return Err(unavailable(ACTION, elapsed));
                }
                Err(_) => {}
            }
        }
    }

    /// What the end of its channel or connection means for an event that was alone on it, or lost it without being the cause.
    fn failed(&self, link: &Link, error: lapin::Error) -> Published {
        match soft_error(&error) {
            // That is the one thing about the message itself that the server looks at.
            Some(AMQPSoftError::PRECONDITIONFAILED | AMQPSoftError::CONTENTTOOLARGE) => {
                let problem = "the event is larger than the server's `max_message_size`; raise it, lower \
                               `event_bytes_max`, or store the body elsewhere";
                Published::Refused(refused(ACTION, problem, error))
            }
            Some(AMQPSoftError::NOTFOUND) => {
                link.forget();
                Published::TryAgain(unavailable(ACTION, error))
            }
            _ => Published::TryAgain(of(ACTION, error)),
        }
    }
}

async fn send(channel: &Channel, event: &Ready<'_>) -> Answer {
    let envelope = event.outgoing.envelope;
    let options = BasicPublishOptions { mandatory: true, ..BasicPublishOptions::default() };
    let confirmation = channel.basic_publish(
        envelope.topic.as_str().into(),
        event.routing_key.clone(),
        options,
        event.written.body.as_bytes(),
        event.written.properties.clone(),
    );
    confirmation.await?.await
}

fn outcome(event: &Ready<'_>, is_kept: bool, is_returned: bool) -> Published {
    if is_returned {
        let problem =
            "no queue takes it, since no consumer of the topic has ever started; start one, or bind a queue";
        let place = format!("exchange {}, routing key {}", event.outgoing.envelope.topic, event.routing_key);
        return Published::TryAgain(refused(ACTION, problem, place));
    }
    if !is_kept {
        return Published::TryAgain(unavailable(ACTION, "a queue could not keep it"));
    }
    Published::Confirmed { duplicate: false }
}

/// A server that takes nothing at all for now is down: that costs no event an attempt.
fn unless_down(mut published: Vec<Published>) -> Result<Vec<Published>, BrokerError> {
    let is_down =
        |published: &Published| matches!(published, Published::TryAgain(BrokerError::Unavailable { .. }));
    if published.iter().all(is_down)
        && let Some(Published::TryAgain(error)) = published.pop()
    {
        return Err(error);
    }
    Ok(published)
}
