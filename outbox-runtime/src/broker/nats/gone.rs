//! Tells the server not to wait for deliveries whose messages are gone from the stream.
//!
//! The server forgets a delivery whose message is removed, unless it crashes in between. Then such a delivery never comes
//! again, and as only the number of all is known, the others could not be told from it. Server 2.9 even stops at it.
//!
//! What the stream says of itself is no proof, as it may have forgotten the removal too; only a message that can be read
//! is there.

use super::{
    error::{answer_in, unavailable},
    request,
    subscribe::{ACK, RECEIVE},
};
use crate::broker::BrokerError;
use async_nats::jetstream::{self, ErrorCode, consumer::Info};

/// How many places are looked at in one go; the next goes on from there.
const PLACES_MAX: u64 = 500;

#[derive(serde::Serialize)]
struct Place {
    seq: u64,
}

/// Acks the places without a message among those that may be awaited, from above `looked_until` on, or from the beginning
/// when that was the end. Returns how far it came.
pub(super) async fn ack(
    context: &jetstream::Context,
    topic: &str,
    durable: &Info,
    looked_until: u64,
) -> Result<u64, BrokerError> {
    let (acked, last) = (durable.ack_floor.stream_sequence, durable.delivered.stream_sequence);
    let first = if looked_until < last { acked.max(looked_until) } else { acked } + 1;
    let places = first..=last.min(first + PLACES_MAX);
    let mut gone = Vec::new();
    for place in places.clone() {
        if !is_there(context, topic, place).await? {
            gone.push(place);
        }
    }
    for place in gone {
        // Once more, as the server answers so too when it could not read just then.
        if is_there(context, topic, place).await? {
            continue;
        }
        // The server finds a delivery by its place. The number of the delivery is 0, which none has: with that of
        // another, the ack of what is not awaited could count as that of the other.
        let subject = format!("$JS.ACK.{topic}.{}.1.{place}.0.0.0", durable.name);
        let sent = context.client().publish(subject, "+ACK".into()).await;
        sent.map_err(|error| unavailable(ACK, error))?;
        tracing::debug!(
            messaging.destination.name = topic,
            place,
            "a place of the stream has no message any more"
        );
    }
    Ok(*places.end())
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
