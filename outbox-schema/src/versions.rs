//! Versions of one event type side by side: how an event is made from a lower version, and also written as one.

use crate::event_set::{self, DecodeError, EncodedEvent};
use crate::{ConsumedEvent, Event};
use std::fmt;

/// How an event is made from a lower version of its type; see `#[event(upcast_from = …)]`.
pub struct Upcast<E> {
    /// The lower version.
    pub from_version: u32,
    /// The lower version, and those that it is made from itself.
    pub events: fn() -> Vec<ConsumedEvent>,
    /// Decodes one of them and makes the event of it; `None` for other events.
    pub decode: fn(&EncodedEvent<'_>) -> Option<Result<E, DecodeError>>,
}

impl<E> fmt::Debug for Upcast<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upcast").field("from_version", &self.from_version).finish_non_exhaustive()
    }
}

/// A type that is made from the lower version `Old` of its event type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not made from `{Old}`",
    label = "an upcast needs `impl From<{Old}> for {Self}`"
)]
pub trait UpcastFrom<Old>: From<Old> {}

#[diagnostic::do_not_recommend]
impl<New: From<Old>, Old> UpcastFrom<Old> for New {}

/// The upcast from `Old` to `New`. Evaluated when the crate is compiled, where it fails unless one leads to the other.
#[must_use]
#[track_caller]
pub const fn upcast<Old: Event, New: Event + UpcastFrom<Old>>() -> Upcast<New> {
    let (old, new) = (Version::of::<Old>(), Version::of::<New>());
    if !old.is_stub() {
        assert!(
            old.has_type_of(&new),
            "this event is of another type; an upcast leads from a lower version of the same event type"
        );
        assert!(
            old.version < new.version,
            "the version of this event is not lower; an upcast leads from a lower version of the same event type"
        );
    }
    Upcast {
        from_version: Old::VERSION,
        events: event_set::events_of::<Old>,
        decode: |event| event_set::decode_into::<New, Old>(event, New::from),
    }
}

/// What decides whether two events can be versions of one type.
struct Version {
    event_type: &'static str,
    version: u32,
}

impl Version {
    const fn of<E: Event>() -> Self {
        Self { event_type: E::TYPE, version: E::VERSION }
    }

    /// Whether the derive found mistakes, which it has reported, and left only a stub.
    const fn is_stub(&self) -> bool {
        self.event_type.is_empty()
    }

    const fn has_type_of(&self, other: &Self) -> bool {
        let (left, right) = (self.event_type.as_bytes(), other.event_type.as_bytes());
        if left.len() != right.len() {
            return false;
        }
        let mut at = 0;
        while at < left.len() {
            if left[at] != right[at] {
                return false;
            }
            at += 1;
        }
        true
    }
}
