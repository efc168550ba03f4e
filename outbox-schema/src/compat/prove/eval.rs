//! Whether one given value satisfies a node, as the prover reads it.

use super::node::{Assertion, Kind, Literal, NodeId, yes};
use super::ratio::Ratio;
use super::{LOOKS_MAX, Prover};
use crate::compat::formats;
use serde_json::{Number, Value};
use std::cmp::Ordering;

/// Nesting of references that is followed for one value.
const DEPTH_MAX: usize = 64;

/// Three-valued: `None` is "can't tell".
type Maybe = Option<bool>;

fn every(answers: impl Iterator<Item = Maybe>) -> Maybe {
    let mut all = Some(true);
    for answer in answers {
        match answer {
            Some(false) => return Some(false),
            None => all = None,
            Some(true) => {}
        }
    }
    all
}

fn invert(answer: Maybe) -> Maybe {
    answer.map(|answer| !answer)
}

fn some(answers: impl Iterator<Item = Maybe>) -> Maybe {
    invert(every(answers.map(invert)))
}

impl Prover {
    /// Whether `value` makes every literal true.
    pub(super) fn satisfies(&self, value: &Value, literals: impl IntoIterator<Item = Literal>) -> Maybe {
        every(literals.into_iter().map(|literal| self.check(value, literal, DEPTH_MAX)))
    }

    fn check(&self, value: &Value, literal: Literal, depth: usize) -> Maybe {
        let depth = depth.checked_sub(1)?;
        self.looks.set(self.looks.get().checked_add(1).filter(|&looks| looks <= LOOKS_MAX)?);
        let assertions = self.arena.get(literal.node);
        let holds = every(assertions.iter().map(|assertion| self.holds(value, assertion, depth)));
        if literal.holds { holds } else { invert(holds) }
    }

    fn holds(&self, value: &Value, assertion: &Assertion, depth: usize) -> Maybe {
        if !assertion.concerns(Kind::of(value)) {
            return Some(true);
        }
        let check = |node: NodeId, value: &Value| self.check(value, yes(node), depth);
        match assertion {
            Assertion::Kinds(kinds) => Some(kinds.contains(&Kind::of(value))),
            Assertion::OneOfValues(values) => Some(values.iter().any(|known| equal(known, value))),
            Assertion::All(nodes) => every(nodes.iter().map(|&node| check(node, value))),
            Assertion::Any(nodes) => some(nodes.iter().map(|&node| check(node, value))),
            Assertion::ExactlyOne(nodes) => {
                let answers: Option<Vec<bool>> = nodes.iter().map(|&node| check(node, value)).collect();
                answers.map(|answers| answers.into_iter().filter(|&holds| holds).count() == 1)
            }
            Assertion::Not(node) => invert(check(*node, value)),
            Assertion::If { condition, then, otherwise } => match check(*condition, value) {
                Some(true) => check(*then, value),
                Some(false) => check(*otherwise, value),
                None => None,
            },
            Assertion::Opaque(_) => None,
            _ => match value {
                Value::Number(number) => number_holds(number, assertion),
                Value::String(text) => text_holds(text, assertion),
                Value::Array(items) => self.array_holds(items, assertion, depth),
                Value::Object(fields) => self.object_holds(fields, assertion, depth),
                Value::Null | Value::Bool(_) => Some(true),
            },
        }
    }

    fn array_holds(&self, items: &[Value], assertion: &Assertion, depth: usize) -> Maybe {
        let length = items.len() as u64;
        match assertion {
            Assertion::Items(each) => every(
                items.iter().enumerate().map(|(index, item)| self.check(item, yes(each.at(index)), depth)),
            ),
            Assertion::ItemsMin(min) => Some(length >= *min),
            Assertion::ItemsMax(max) => Some(length <= *max),
            Assertion::Unique => {
                let repeated =
                    |(index, item): (usize, &Value)| items[..index].iter().any(|other| equal(other, item));
                Some(!items.iter().enumerate().any(repeated))
            }
            Assertion::Contains { node, min, max } => {
                let answers: Option<Vec<bool>> =
                    items.iter().map(|item| self.check(item, yes(*node), depth)).collect();
                let found = answers?.into_iter().filter(|&holds| holds).count() as u64;
                Some(found >= *min && max.is_none_or(|max| found <= max))
            }
            _ => Some(true),
        }
    }

    fn object_holds(
        &self,
        fields: &serde_json::Map<String, Value>,
        assertion: &Assertion,
        depth: usize,
    ) -> Maybe {
        match assertion {
            Assertion::Fields(each) => every(fields.iter().map(|(name, value)| {
                every(each.at(name)?.into_iter().map(|node| self.check(value, yes(node), depth)))
            })),
            Assertion::Required(name) => Some(fields.contains_key(&**name)),
            Assertion::FieldsMin(min) => Some(fields.len() as u64 >= *min),
            Assertion::FieldsMax(max) => Some(fields.len() as u64 <= *max),
            Assertion::Names(node) => {
                every(fields.keys().map(|name| self.check(&Value::from(name.as_str()), yes(*node), depth)))
            }
            _ => Some(true),
        }
    }
}

fn number_holds(number: &Number, assertion: &Assertion) -> Maybe {
    let value = Ratio::of(number)?;
    match assertion {
        Assertion::Low { bound, exclusive } => match value.compare(*bound)? {
            Ordering::Equal => Some(!exclusive),
            order => Some(order == Ordering::Greater),
        },
        Assertion::High { bound, exclusive } => match value.compare(*bound)? {
            Ordering::Equal => Some(!exclusive),
            order => Some(order == Ordering::Less),
        },
        Assertion::MultipleOf(step) => value.is_multiple_of(*step),
        _ => Some(true),
    }
}

fn text_holds(text: &str, assertion: &Assertion) -> Maybe {
    let length = text.chars().count() as u64;
    match assertion {
        Assertion::LengthMin(min) => Some(length >= *min),
        Assertion::LengthMax(max) => Some(length <= *max),
        Assertion::Matches(pattern) => pattern.matches(text),
        Assertion::Format(name) => formats::accepts(name, text),
        _ => Some(true),
    }
}

/// Equality as JSON Schema has it: by number, not by the way it is written.
pub(super) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right || Ratio::of(left).zip(Ratio::of(right)).is_some_and(|(left, right)| left == right)
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(name, value)| right.get(name).is_some_and(|other| equal(value, other)))
        }
        _ => left == right,
    }
}
