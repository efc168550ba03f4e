//! Looks at the places of a stream that the server waits for an ack of and does not repeat: it is told not to wait for those
//! without a message, and asked for the others.
//!
//! The server forgets a delivery whose message is removed, unless it crashes in between. Then such a delivery never comes
//! again, and as only the number of all is known, the others could not be told from it. Server 2.9 even stops at it. What the
//! stream says of itself is no proof, as it may have forgotten the removal too; only a message that can be read is there.
//!
//! What is there may be kept back for long, as by a negative ack of somebody else: a short ack wait finds it not yet due. A
//! negative ack without a delay makes it due, and does nothing to what the server does not wait for.

use super::{
    error::{answer_in, unavailable},
    request,
    subscribe::{ACK, RECEIVE},
};
use crate::broker::BrokerError;
use async_nats::jetstream::{self, ErrorCode, consumer::Info};
use std::collections::BTreeSet;

/// How many places are looked at in one go; the next goes on from there.
const PLACES_MAX: u64 = 500;

#[derive(serde::Serialize)]
struct Place {
    seq: u64,
}

/// Looks at the places that may be awaited and are not `known`, from above `looked_until` on, or from the beginning when that
/// was the end. Returns how far it came.
pub(super) async fn look(
    context: &jetstream::Context,
    topic: &str,
    durable: &Info,
    looked_until: u64,
    known: &BTreeSet<u64>,
) -> Result<u64, BrokerError> {
    let (acked, last) = (durable.ack_floor.stream_sequence, durable.delivered.stream_sequence);
    let first = if looked_until < last { acked.max(looked_until) } else { acked } + 1;
    let places = first..=last.min(first + PLACES_MAX);
    let (mut gone, mut there) = (Vec::new(), Vec::new());
    for place in places.clone().filter(|place| !known.contains(place)) {
        if is_there(context, topic, place).await? { there.push(place) } else { gone.push(place) }
    }
    for place in gone {
        // Once more, as the server answers so too when it could not read just then.
        if is_there(context, topic, place).await? {
            continue;
        }
        // The number of the delivery is 0, which none has: with that of another, the ack of what is not awaited could
        // count as that of the other.
        answer(context, topic, durable, place, 0, "+ACK").await?;
        tracing::debug!(
            messaging.destination.name = topic,
            place,
            "a place of the stream has no message any more"
        );
    }
    for place in there {
        // Any number of a delivery that is not acked will do, and the last one is.
        answer(context, topic, durable, place, durable.delivered.consumer_sequence, "-NAK").await?;
    }
    Ok(*places.end())
}

/// Says to the server of a delivery what its consumer would; it finds the delivery by its place.
async fn answer(
    context: &jetstream::Context,
    topic: &str,
    durable: &Info,
    place: u64,
    number: u64,
    word: &'static str,
) -> Result<(), BrokerError> {
    let subject = format!("$JS.ACK.{topic}.{}.1.{place}.{number}.0.0", durable.name);
    context.client().publish(subject, word.into()).await.map_err(|error| unavailable(ACK, error))
}

/// Whether the stream has a message at that place, of whichever partition.
async fn is_there(context: &jetstream::Context, topic: &str, place: u64) -> Result<bool, BrokerError> {
    let subject = format!("STREAM.MSG.GET.{topic}");
    match request::<serde::de::IgnoredAny>(context, RECEIVE, &subject, &Place { seq: place }).await {
        Ok(_) => Ok(true),
        Err(error) => match answer_in(&error).map(|answer| answer.error_code()) {
            Some(ErrorCode::NO_MESSAGE_FOUND) => Ok(false),
            _ => Err(error),
        },
    }
}
