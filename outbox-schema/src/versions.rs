//! Versions of one event type side by side: how an event is made from a lower version, and also written as one.

use crate::event_set::{self, DecodeError, EncodedEvent};
use crate::{ConsumedEvent, Event, OnPoison, OrderingMode};
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
    refuse_unless_lower::<Old, New>();
    Upcast {
        from_version: Old::VERSION,
        events: event_set::events_of::<Old>,
        decode: |event| event_set::decode_into::<New, Old>(event, New::from),
    }
}

/// How an event is written as a lower version of its type too; see `#[event(also_as = …)]`.
pub struct AlsoAs<E> {
    /// The lower version.
    pub version: u32,
    /// Its poison policy.
    pub on_poison: OnPoison,
    /// Makes the lower version of an event and writes it.
    pub write: fn(&E) -> Lower,
}

/// The lower version of one event.
#[derive(Debug)]
pub struct Lower {
    /// Its partition key, which must be that of the event.
    pub partition_key: Option<String>,
    /// What serde writes of it.
    pub json: serde_json::Result<Vec<u8>>,
}

impl<E> fmt::Debug for AlsoAs<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AlsoAs").field("version", &self.version).finish_non_exhaustive()
    }
}

/// A type that is made from the higher version `New` of its event type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not made from `&{New}`",
    label = "to write this version too needs `impl From<&{New}> for {Self}`"
)]
pub trait LowerOf<New: 'static>: for<'a> From<&'a New> {}

#[diagnostic::do_not_recommend]
impl<Old: for<'a> From<&'a New>, New: 'static> LowerOf<New> for Old {}

/// How `New` is written as `Old` too. Evaluated when the crate is compiled, where it fails unless both can be a pair.
#[must_use]
#[track_caller]
pub const fn also_as<Old: Event + LowerOf<New>, New: Event>() -> AlsoAs<New> {
    refuse_unless_lower::<Old, New>();
    if !is_stub::<Old>() {
        // The pair shares a key's order and one entry of the inbox, so it must share the place where both apply.
        assert!(
            is_same(Old::TOPIC, New::TOPIC),
            "this event is of another topic; both versions of a pair travel on the same one"
        );
        assert!(
            is_keyed(Old::ORDERING) == is_keyed(New::ORDERING),
            "one of the two versions is keyed and the other unordered; give both the same key, or none"
        );
        assert!(
            Old::ALSO_AS.is_none(),
            "this version is itself written as a lower one too, and a pair is of two; end that cutover first"
        );
    }
    AlsoAs { version: Old::VERSION, on_poison: Old::ON_POISON, write: |event| write(&Old::from(event)) }
}

fn write<Old: Event>(event: &Old) -> Lower {
    Lower { partition_key: event.partition_key(), json: serde_json::to_vec(event) }
}

/// Fails to compile unless `Old` is a lower version of the type of `New`. A stub is let through: the mistakes of its item
/// are reported already.
#[track_caller]
const fn refuse_unless_lower<Old: Event, New: Event>() {
    if is_stub::<Old>() {
        return;
    }
    assert!(
        is_same(Old::TYPE, New::TYPE),
        "this event is of another type; name a lower version of the same event type"
    );
    assert!(
        Old::VERSION < New::VERSION,
        "the version of this event is not lower; name a lower version of the same event type"
    );
}

/// Whether the derive found mistakes and left only a stub.
const fn is_stub<E: Event>() -> bool {
    E::TYPE.is_empty()
}

const fn is_keyed(ordering: OrderingMode) -> bool {
    matches!(ordering, OrderingMode::Keyed)
}

const fn is_same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
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
