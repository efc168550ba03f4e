//! What a type takes in the places where it refuses something, up to the last value before it does.
//!
//! No schema says how far a conversion goes. These values stand in the contract, so that one which goes less far later
//! is found. A border is found by bisection between a value that is read and one that is refused; where a type reads
//! values beyond it too, it is one of several borders.

use super::{Observation, Refusal, Schema, Spot, place, replaced};
use serde_json::Value;
use std::collections::BTreeMap;

/// Values kept of one place, and bytes of the JSON text of one.
const VALUES_MAX: usize = 8;
const TEXT_MAX: usize = 1_000;
/// Characters of a text, or items of a list, that are tried.
const SIZE_MAX: i128 = 300;

impl Observation {
    /// For each place in which something is refused, values that are read there.
    pub(in super::super) fn taken(&self, declared: &Schema<'_>) -> BTreeMap<String, Vec<Value>> {
        let mut taken: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for Spot { pointer, .. } in self.refused.keys() {
            if taken.contains_key(pointer) {
                continue;
            }
            let frames: Vec<Frame<'_>> = self.frames(pointer).collect();
            let borders = frames.iter().flat_map(|frame| self.borders(frame, declared));
            let mut values = Vec::new();
            for value in borders.chain(frames.iter().map(|frame| frame.value.clone())) {
                let is_kept = values.contains(&value) || value.to_string().len() > TEXT_MAX;
                values.extend((!is_kept).then_some(value));
                if values.len() == VALUES_MAX {
                    break;
                }
            }
            taken.insert(pointer.clone(), values);
        }
        taken.retain(|_, values| !values.is_empty());
        taken
    }

    /// Which of `values`, each of them taken somewhere at `pointer` before, is refused there now although `declared`
    /// allows it. The places of a tuple and those of variants share a pointer: one that reads the value is enough.
    pub(in super::super) fn refused_of(
        &self,
        pointer: &str,
        values: &[Value],
        declared: &Schema<'_>,
    ) -> Option<(Spot, Refusal)> {
        values.iter().find_map(|value| {
            let mut refused = None;
            for frame in self.frames(pointer) {
                let payload = frame.with(value);
                match self.decode(&payload) {
                    Ok(_) => return None,
                    Err(refusal) if refused.is_none() && declared.takes(&payload) => {
                        let spot = self.spot(&payload, &frame.at);
                        refused = Some((spot, Refusal { at: frame.at, ..refusal }));
                    }
                    Err(_) => {}
                }
            }
            refused
        })
    }

    /// Every value that was read at `pointer`.
    fn frames(&self, pointer: &str) -> impl Iterator<Item = Frame<'_>> {
        let parts: Vec<String> = place::parts(pointer).collect();
        self.accepted.iter().flat_map(move |(payload, _)| {
            let mut found = Vec::new();
            collect(payload, String::new(), &parts, &mut found);
            found.into_iter().map(move |(at, value)| Frame { payload, at, value })
        })
    }

    /// The last values that are read on the way to the largest and to the smallest that `declared` allows, where those
    /// are refused.
    fn borders(&self, frame: &Frame<'_>, declared: &Schema<'_>) -> Vec<Value> {
        let Some(scale) = Scale::of(frame.value) else { return Vec::new() };
        let with = |at: i128| scale.value(at).map(|value| frame.with(&value));
        let is_declared = |at: i128| with(at).is_some_and(|payload| declared.takes(&payload));
        let is_read = |at: i128| with(at).is_some_and(|payload| self.decode(&payload).is_ok());
        let border = |far: i128| {
            let limit = last(scale.at(), far, &is_declared);
            let border = last(scale.at(), limit, &is_read);
            scale.value(border).filter(|_| border != limit)
        };
        scale.ends().into_iter().filter_map(border).collect()
    }
}

/// A payload that is read, and a value in it.
struct Frame<'a> {
    payload: &'a Value,
    at: String,
    value: &'a Value,
}

impl Frame<'_> {
    /// The payload with another value in that place.
    fn with(&self, value: &Value) -> Value {
        replaced(self.payload, &self.at, Some(value))
    }
}

/// Every value of `value` at `parts`, where `*` is each item of a list, with its pointer.
fn collect<'v>(value: &'v Value, at: String, parts: &[String], found: &mut Vec<(String, &'v Value)>) {
    let Some((part, rest)) = parts.split_first() else { return found.push((at, value)) };
    match value {
        Value::Array(items) if part == "*" => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, item)| collect(item, format!("{at}/{index}"), rest, found));
        }
        Value::Object(members) => members
            .get(part)
            .into_iter()
            .for_each(|member| collect(member, format!("{at}/{}", place::escaped(part)), rest, found)),
        _ => {}
    }
}

/// Values in a row with one that is known, each at a whole number.
enum Scale<'v> {
    Whole(i128),
    /// In the order of their bits, which is that of the numbers.
    Real(i64),
    /// Shortened, or with its last part repeated.
    Size(&'v Value),
}

impl<'v> Scale<'v> {
    fn of(value: &'v Value) -> Option<Self> {
        match value {
            Value::Number(number) if number.is_f64() => {
                number.as_f64().map(|real| Self::Real(in_order(real)))
            }
            Value::Number(number) => number.as_i128().map(Self::Whole),
            Value::String(_) | Value::Array(_) => Some(Self::Size(value)),
            _ => None,
        }
    }

    /// Where the known value is.
    fn at(&self) -> i128 {
        match self {
            Self::Whole(at) => *at,
            Self::Real(at) => (*at).into(),
            Self::Size(Value::Array(items)) => items.len() as i128,
            Self::Size(text) => text.as_str().map_or(0, |text| text.chars().count() as i128),
        }
    }

    /// The first and the last place.
    fn ends(&self) -> [i128; 2] {
        match self {
            Self::Whole(_) => [i64::MIN.into(), u64::MAX.into()],
            Self::Real(_) => [f64::MIN, f64::MAX].map(|real| in_order(real).into()),
            Self::Size(_) => [0, SIZE_MAX],
        }
    }

    fn value(&self, at: i128) -> Option<Value> {
        match self {
            Self::Whole(_) => {
                i64::try_from(at).map(Value::from).or_else(|_| u64::try_from(at).map(Value::from)).ok()
            }
            Self::Real(_) => i64::try_from(at).ok().map(|at| Value::from(out_of_order(at))),
            Self::Size(known) => {
                let size = usize::try_from(at).ok()?;
                Some(match known {
                    Value::Array(items) => {
                        let last = items.last().into_iter().cycle();
                        items.iter().chain(last).take(size).cloned().collect()
                    }
                    text => {
                        let text = text.as_str()?;
                        let last = text.chars().last().unwrap_or('a');
                        Value::from(
                            text.chars().chain(std::iter::repeat(last)).take(size).collect::<String>(),
                        )
                    }
                })
            }
        }
    }
}

/// The bits of a number as one that is larger for a larger number (as `f64::total_cmp` has it), and back.
fn in_order(real: f64) -> i64 {
    flipped(real.to_bits().cast_signed())
}

fn out_of_order(at: i64) -> f64 {
    f64::from_bits(flipped(at).cast_unsigned())
}

fn flipped(bits: i64) -> i64 {
    bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
}

/// The last place on the way from `near`, where it `holds`, to `far`, before one where it does not.
fn last(mut near: i128, mut far: i128, holds: &dyn Fn(i128) -> bool) -> i128 {
    if holds(far) {
        return far;
    }
    while near.abs_diff(far) > 1 {
        let middle = near + (far - near) / 2;
        if holds(middle) { near = middle } else { far = middle }
    }
    near
}
