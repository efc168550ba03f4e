//! The type itself, beside its schema: what it reads, what it writes of that, and whether a witness is true of it.
//!
//! A schema can be stricter than serde, which also reads a list in the place of a struct, or one value where a whole
//! flattened struct would be. Nobody is promised that, so it breaks nothing to lose it; but a payload that is shown as
//! a proof has to fail in the program of the reader, or say that it does not.

use super::formats::{self, Formats};
use super::gate::path_of;
use super::normalise::normalise;
use super::{Witness, payloads_of, shrink, witness};
use crate::contract::{MEMBERS, text_without_members};
use crate::{EventDescriptor, RoundTripError};
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What the type writes of `payload`, in an order of its own, if it can be written; `None` if it is not even read.
#[expect(clippy::option_option, reason = "two questions: is it read, and can it be written")]
pub(super) fn written(event: &EventDescriptor, payload: &Value) -> Option<Option<Value>> {
    let text = text_without_members(payload);
    match catch_unwind(AssertUnwindSafe(|| (event.round_trip)(&text))).ok()? {
        Ok(written) => Some(serde_json::from_str(&written).ok().map(unordered)),
        Err(RoundTripError::Unwritable(_)) => Some(None),
        Err(RoundTripError::Refused(_)) => None,
    }
}

/// The payload without the members of every payload.
pub(super) fn own(payload: &Value) -> Value {
    let mut own = payload.clone();
    if let Value::Object(own) = &mut own {
        MEMBERS.iter().for_each(|&member| drop(own.remove(member)));
    }
    own
}

/// The value with all lists sorted: a set of hashes has another order each time.
fn unordered(value: Value) -> Value {
    match value {
        Value::Array(items) => {
            let mut items: Vec<Value> = items.into_iter().map(unordered).collect();
            items.sort_by_cached_key(Value::to_string);
            Value::Array(items)
        }
        Value::Object(members) => {
            members.into_iter().map(|(name, member)| (name, unordered(member))).collect()
        }
        other => other,
    }
}

/// The side of a question on which the type is at hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// It is said to refuse the payload.
    Reader,
    /// It is said to write the payload.
    Writer,
}

impl Side {
    fn shows(self, event: &EventDescriptor, payload: &Value) -> bool {
        match self {
            Self::Reader => written(event, payload).is_none(),
            Self::Writer => written(event, payload) == Some(Some(unordered(own(payload)))),
        }
    }
}

/// A witness of the same break that the type of `event` bears out: `witness` itself, or another payload that `writer`
/// allows and `reader` refuses in the same place. Where none is found, its words say so.
pub(super) fn borne_out(
    event: &EventDescriptor,
    side: Side,
    witness: Witness,
    writer: &Value,
    reader: &Value,
) -> Witness {
    if side.shows(event, &witness.payload) {
        return witness;
    }
    another(event, side, &witness, writer, reader).unwrap_or_else(|| {
        let what = match side {
            Side::Reader => "though by its schema alone: the type itself reads this payload",
            Side::Writer => {
                "though the type itself was not seen to write such a payload, which its schema allows"
            }
        };
        Witness { error: format!("{}, {what}", witness.error), ..witness }
    })
}

fn another(
    event: &EventDescriptor,
    side: Side,
    witness: &Witness,
    writer: &Value,
    reader: &Value,
) -> Option<Witness> {
    let validator = |schema: &Value| formats::options(Formats::Asserted).build(&normalise(schema).ok()?).ok();
    let (allowed, taken) = (validator(writer)?, validator(reader)?);
    let refusal = |payload: &Value| {
        let (error, pointer) = witness::refusal(&taken, payload)?;
        (path_of(&pointer) == path_of(&witness.pointer)).then_some((error, pointer))
    };
    let shows = |payload: &Value| {
        allowed.is_valid(payload) && refusal(payload).is_some() && side.shows(event, payload)
    };
    let found = payloads_of(writer).into_iter().find(shows)?;
    let payload = shrink::smallest(found, &shows);
    let (error, pointer) = refusal(&payload)?;
    Some(Witness { payload, error, pointer })
}
