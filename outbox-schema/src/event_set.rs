//! Several events that one handler takes, as the variants of one enum.

use crate::{ConsumedEvent, Event};
use std::fmt;

/// What a handler takes: one event, or an enum with one variant for each event.
///
/// Every [`Event`] is a set of one. Derive it for an enum: `#[derive(EventSet)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither an event nor a set of events",
    label = "this type implements neither `Event` nor `EventSet`",
    note = "derive `Event` for a struct, or `EventSet` for an enum with one variant for each event"
)]
pub trait EventSet: Sized + Send + 'static {
    /// The variants in source order; a single event is its own only variant.
    const VARIANTS: &'static [EventVariant<Self>];

    /// The events of the set, in the order of the variants: those that a variant holds, and those it is made from.
    ///
    /// An event that one variant holds and another is made from stands here once, as [`EventSet::decode`] takes it.
    #[must_use]
    fn events() -> Vec<ConsumedEvent> {
        let mut events: Vec<ConsumedEvent> = Vec::new();
        for event in Self::VARIANTS.iter().flat_map(|variant| (variant.events)()) {
            // Two variants that hold the same event both stay: that is a mistake, which the catalog reports.
            let rival = events.iter_mut().find(|other| other.is_of_version(&event));
            match rival.filter(|other| (other.upcast_to, event.upcast_to) != (None, None)) {
                Some(other) => other.upcast_to = other.upcast_to.min(event.upcast_to),
                None => events.push(event),
            }
        }
        events
    }

    /// Decodes an event of the set; `None` when the set has no such event. The variant that holds the very version takes
    /// it; else, of those that are made from it, the one of the lowest version.
    ///
    /// # Errors
    /// [`DecodeError`] when serde refuses the payload.
    fn decode(event: &EncodedEvent<'_>) -> Option<Result<Self, DecodeError>> {
        let nearest = Self::VARIANTS.iter().filter_map(|variant| Some((variant.way_of(event)?, variant)));
        let (_, variant) = nearest.min_by_key(|(way, _)| way.upcast_to)?;
        (variant.decode)(event)
    }
}

/// One variant of the set `S`.
#[derive(Debug, Clone, Copy)]
pub struct EventVariant<S> {
    /// The events that the variant holds.
    pub events: fn() -> Vec<ConsumedEvent>,
    /// Decodes one of them into the set; `None` for other events.
    pub decode: fn(&EncodedEvent<'_>) -> Option<Result<S, DecodeError>>,
}

impl<S> EventVariant<S> {
    /// As which of its events the variant takes this one.
    fn way_of(&self, event: &EncodedEvent<'_>) -> Option<ConsumedEvent> {
        let mut events = (self.events)().into_iter();
        events.find(|one| (one.event_type, one.event_version) == (event.event_type, event.event_version))
    }
}

/// One event as text.
#[derive(Debug, Clone, Copy)]
pub struct EncodedEvent<'a> {
    /// The event type.
    pub event_type: &'a str,
    /// The event version.
    pub event_version: u32,
    /// The event's own JSON object, without `eventType` and `eventVersion`.
    pub payload: &'a str,
}

/// Why a payload is not the event it says it is.
#[derive(Debug)]
pub struct DecodeError {
    event_type: &'static str,
    event_version: u32,
    source: serde_json::Error,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the payload is no event `{}` version {}; compare it with the contract of that version",
            self.event_type, self.event_version
        )
    }
}

impl std::error::Error for DecodeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

#[diagnostic::do_not_recommend]
impl<E: Event> EventSet for E {
    const VARIANTS: &'static [EventVariant<Self>] =
        &[EventVariant { events: events_of_one::<E>, decode: decode_one::<E> }];
}

fn events_of_one<E: Event>() -> Vec<ConsumedEvent> {
    let own =
        ConsumedEvent { event_type: E::TYPE, event_version: E::VERSION, topic: E::TOPIC, upcast_to: None };
    let lower = E::UPCAST.into_iter().flat_map(|upcast| (upcast.events)());
    let lower = lower.map(|event| ConsumedEvent { upcast_to: Some(E::VERSION), ..event });
    std::iter::once(own).chain(lower).collect()
}

fn decode_one<E: Event>(event: &EncodedEvent<'_>) -> Option<Result<E, DecodeError>> {
    if (event.event_type, event.event_version) != (E::TYPE, E::VERSION) {
        return E::UPCAST.and_then(|upcast| (upcast.decode)(event));
    }
    Some(serde_json::from_str(event.payload).map_err(|source| DecodeError {
        event_type: E::TYPE,
        event_version: E::VERSION,
        source,
    }))
}

/// The events of the set `E`.
#[must_use]
pub fn events_of<E: EventSet>() -> Vec<ConsumedEvent> {
    E::events()
}

/// Decodes an event of the set `E` and puts it into a variant of the set `S`.
#[must_use]
pub fn decode_into<S, E: EventSet>(
    event: &EncodedEvent<'_>,
    variant: fn(E) -> S,
) -> Option<Result<S, DecodeError>> {
    E::decode(event).map(|decoded| decoded.map(variant))
}
