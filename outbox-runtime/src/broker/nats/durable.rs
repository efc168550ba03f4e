//! The durable of one partition of a consumer: declared, made again where somebody removed it, and asked where it stands.
//!
//! A server says nothing to a client that asks for deliveries of a durable which is gone, as after a removal in the time of a
//! lost connection, or a loss of its disk. So a request that ends without a word of the server leads to the question whether
//! the durable still stands. A new one begins behind what the server last said to be acked; in a topic that was made
//! anew places mean something else, so whoever has some of before must begin anew as well.

use super::{
    NoBody,
    error::{answer_in, answered, refused, unavailable},
    missing, request,
    subscribe::RECEIVE,
    topic,
};
use crate::broker::{BrokerError, SubscriptionConfig};
use async_nats::jetstream::{
    self, ErrorCode,
    consumer::{AckPolicy, Consumer, DeliverPolicy, Info, pull},
    stream::ConsumerErrorKind,
};
use std::{collections::BTreeSet, time::Duration};
use time::OffsetDateTime;

const SUBSCRIBE: &str = "subscribe";

/// What a subscription knows of the topic it began with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    /// When the stream was made.
    stream_made_at: OffsetDateTime,
    /// When the durable was made.
    made_at: OffsetDateTime,
    /// Everything up to this place is acked.
    acked_until: u64,
}

/// What the server says of the durable.
pub(super) struct Answer {
    pub(super) consumer: Consumer<pull::Config>,
    pub(super) info: Info,
    pub(super) known: Known,
    /// How far what is missing was looked for.
    pub(super) looked_until: Option<u64>,
}

impl Known {
    /// Takes note of what the server says to be acked.
    pub(super) fn note(&mut self, info: &Info) {
        self.acked_until = self.acked_until.max(info.ack_floor.stream_sequence);
    }

    /// Whether the durable is the one that was declared.
    pub(super) fn is_of(&self, info: &Info) -> bool {
        info.created == self.made_at
    }
}

/// Declares the durable, also one that somebody removed, with that ack wait, and asks where it stands; looks after what is
/// missing from a place on, but for places that are known to be there.
///
/// # Errors
/// Also when the topic is not the one that was known.
pub(super) async fn ask(
    context: jetstream::Context,
    config: SubscriptionConfig,
    known: Option<Known>,
    ack_wait: Duration,
    look_after: Option<(u64, BTreeSet<u64>)>,
) -> Result<Answer, BrokerError> {
    let stream_made_at = topic::made_at(&context, &config.topic).await?;
    if known.is_some_and(|known| known.stream_made_at != stream_made_at) {
        return Err(unavailable(RECEIVE, "the topic was made anew"));
    }
    let consumer = declare(&context, &config, known, ack_wait).await?;
    let info = info(&context, &config).await?;
    let mut known = Known {
        stream_made_at,
        made_at: info.created,
        acked_until: known.map_or(0, |known| known.acked_until),
    };
    known.note(&info);
    let looked_until = match look_after {
        Some((place, seen)) => Some(missing::look(&context, &config.topic, &info, place, &seen).await?),
        None => None,
    };
    Ok(Answer { consumer, info, known, looked_until })
}

/// Where the durable stands now. What comes back from declaring it does not say that: a server that was restarted gives
/// the first who declares it the numbers of its start.
pub(super) async fn info(
    context: &jetstream::Context,
    config: &SubscriptionConfig,
) -> Result<Info, BrokerError> {
    let subject = format!("CONSUMER.INFO.{}.{}", config.topic, name(config));
    request(context, RECEIVE, &subject, &NoBody {}).await
}

/// The same, or nothing where there is none of that name.
pub(super) async fn find(
    context: jetstream::Context,
    config: SubscriptionConfig,
) -> Result<Option<Info>, BrokerError> {
    match info(&context, &config).await {
        Ok(info) => Ok(Some(info)),
        Err(error) => match answer_in(&error).map(|answer| answer.error_code()) {
            Some(ErrorCode::CONSUMER_NOT_FOUND | ErrorCode::STREAM_NOT_FOUND) => Ok(None),
            _ => Err(error),
        },
    }
}

/// Declares the durable, or changes the ack wait and the limits of the one that stands.
async fn declare(
    context: &jetstream::Context,
    config: &SubscriptionConfig,
    known: Option<Known>,
    ack_wait: Duration,
) -> Result<Consumer<pull::Config>, BrokerError> {
    let deliver_policy = match (find(context.clone(), config.clone()).await?, known) {
        // The server lets nobody change it.
        (Some(standing), _) => standing.config.deliver_policy,
        (None, None) => DeliverPolicy::All,
        (None, Some(known)) => {
            let first = known.acked_until + 1;
            tracing::error!(
                messaging.destination.name = config.topic,
                messaging.consumer.group.name = config.consumer,
                partition = config.partition,
                place = first,
                "somebody removed the durable of a consumer; it is made again and begins behind what was acked"
            );
            DeliverPolicy::ByStartSequence { start_sequence: first }
        }
    };
    let durable = pull::Config {
        durable_name: Some(name(config)),
        description: Some(format!("consumer {}, partition {}", config.consumer, config.partition)),
        filter_subject: format!("{}.{}.>", config.topic, config.partition),
        deliver_policy,
        ack_policy: AckPolicy::Explicit,
        ack_wait,
        max_ack_pending: i64::from(config.in_flight_max),
        // For ever: attempts are counted in the consumer's database, and nothing may vanish at the broker.
        max_deliver: -1,
        ..pull::Config::default()
    };
    context.create_consumer_on_stream(durable, &config.topic).await.map_err(|error| match error.kind() {
        ConsumerErrorKind::JetStream(answer) => answered(SUBSCRIBE, answer),
        ConsumerErrorKind::InvalidName => refused(SUBSCRIBE, "NATS does not take the consumer's name", error),
        _ => unavailable(SUBSCRIBE, error),
    })
}

/// NATS takes no dot in the name of a durable.
fn name(config: &SubscriptionConfig) -> String {
    format!("{}-{}", config.consumer.replace('.', "="), config.partition)
}
