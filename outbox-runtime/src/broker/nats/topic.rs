//! Declares a topic as a stream, once, and refuses one that stands otherwise.
//!
//! The number of partitions is part of the stream's description: server 2.9 keeps no metadata. Who creates the stream
//! by other means, for limits of their own, writes the same description.

use super::{NatsBroker, NoBody, error::refused, request};
use crate::broker::{BrokerError, partition};
use async_nats::jetstream::{
    self, ErrorCode,
    stream::{Config, Info, RetentionPolicy},
};
use time::OffsetDateTime;

const ACTION: &str = "declare the topic";
const DESCRIPTION_PREFIX: &str = "outbox topic, partitions: ";

/// The subject of one event.
pub(super) fn subject(topic: &str, key: Option<&str>, event_type: &str, partitions: u16) -> String {
    format!("{topic}.{}.{event_type}", partition::of(key, partitions))
}

impl NatsBroker {
    /// Sees to it that the topic is a stream as configured; asks the server once in a process.
    pub(super) async fn declare(&self, topic: &str) -> Result<(), BrokerError> {
        if self.declared.lock().expect("no panic holds this lock").contains(topic) {
            return Ok(());
        }
        let context = self.live_context(ACTION).await?;
        let wanted = self.stream_config(topic);
        let found = match find(context, ACTION, topic).await? {
            Some(found) => found,
            None => match create(context, &wanted).await? {
                Some(created) => created,
                // Another process was faster, perhaps with another configuration.
                None => find(context, ACTION, topic).await?.ok_or_else(|| {
                    refused(ACTION, "it was deleted as soon as it was made", "the stream is gone")
                })?,
            },
        };
        check(&found.config, &wanted)?;
        self.declared.lock().expect("no panic holds this lock").insert(topic.to_owned());
        Ok(())
    }

    /// Forgets that the topic was declared, after the server did not find it.
    pub(super) fn forget(&self, topic: &str) {
        self.declared.lock().expect("no panic holds this lock").remove(topic);
    }

    fn stream_config(&self, topic: &str) -> Config {
        Config {
            name: topic.to_owned(),
            description: Some(description(self.config.partitions)),
            subjects: vec![format!("{topic}.>")],
            retention: RetentionPolicy::Limits,
            max_bytes: -1,
            max_messages: -1,
            max_messages_per_subject: -1,
            max_consumers: -1,
            max_age: self.config.retention,
            duplicate_window: self.config.dedup_window,
            num_replicas: usize::from(self.config.replicas),
            ..Config::default()
        }
    }
}

/// What the description of a stream says of its partitions.
pub(super) fn description(partitions: u16) -> String {
    format!("{DESCRIPTION_PREFIX}{partitions}")
}

/// The stream of a topic; `None` when there is none.
pub(super) async fn find(
    context: &jetstream::Context,
    action: &'static str,
    topic: &str,
) -> Result<Option<Info>, BrokerError> {
    match request(context, action, &format!("STREAM.INFO.{topic}"), &NoBody {}).await {
        Ok(info) => Ok(Some(info)),
        Err(error) if is_answer(&error, ErrorCode::STREAM_NOT_FOUND) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Creates the stream; `None` when one of its name stands already.
async fn create(context: &jetstream::Context, config: &Config) -> Result<Option<Info>, BrokerError> {
    match request(context, ACTION, &format!("STREAM.CREATE.{}", config.name), config).await {
        Ok(info) => Ok(Some(info)),
        Err(error) if is_answer(&error, ErrorCode::STREAM_NAME_EXIST) => Ok(None),
        Err(error) => Err(error),
    }
}

/// When the stream was made: another one of its name has places of its own.
pub(super) async fn made_at(
    context: &jetstream::Context,
    topic: &str,
) -> Result<OffsetDateTime, BrokerError> {
    let info: Info = request(context, ACTION, &format!("STREAM.INFO.{topic}"), &NoBody {}).await?;
    Ok(info.created)
}

/// Whether the server has no stream of the topic any more.
pub(super) fn is_missing(error: &BrokerError) -> bool {
    is_answer(error, ErrorCode::STREAM_NOT_FOUND)
}

fn is_answer(error: &BrokerError, code: ErrorCode) -> bool {
    super::error::answer_in(error).is_some_and(|answer| answer.error_code() == code)
}

/// Refuses a stream on which this process would break a promise.
fn check(found: &Config, wanted: &Config) -> Result<(), BrokerError> {
    let name = format!("stream {}", wanted.name);
    let differs = |found: String, wanted: String, fix: &str| {
        Err(BrokerError::Mismatch { broker: "nats", name: name.clone(), found, wanted, fix: fix.to_owned() })
    };
    if found.description != wanted.description {
        return differs(
            format!("the description {:?}", found.description.as_deref().unwrap_or_default()),
            format!("{:?}", wanted.description.as_deref().unwrap_or_default()),
            "configure every process with the number of partitions that the topic was declared with, or, if the \
             stream was made by other means, give it this description",
        );
    }
    if found.subjects != wanted.subjects {
        let fix = "give the stream these subjects, or the topic another name";
        return differs(format!("the subjects {:?}", found.subjects), format!("{:?}", wanted.subjects), fix);
    }
    if found.retention != RetentionPolicy::Limits {
        let fix = "make the stream with limits: each consumer must get every event";
        return differs(format!("the retention {:?}", found.retention), "Limits".to_owned(), fix);
    }
    if found.no_ack {
        let fix = "turn acks on: without them no event is known to be stored";
        return differs("acks turned off".to_owned(), "acks".to_owned(), fix);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::subject;

    #[test]
    fn a_key_has_one_partition_and_no_key_has_its_own() {
        let of_key = subject("orders", Some("foobar"), "orders.placed", 16);
        // -790332482 without its sign bit is 1357151166, and that is 14 modulo 16.
        assert_eq!(of_key, "orders.14.orders.placed");
        assert_eq!(subject("orders", None, "orders.placed", 16), "orders.any.orders.placed");
    }
}
