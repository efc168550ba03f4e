//! Bounds on what a payload may cost: how large it may be to be made, and how often judging it may look at something.
//!
//! A validator has no limit of its own. It looks at each part of a payload once for every schema that may apply there, and
//! unions within unions multiply: fifty branches, four deep, are millions of looks at one part.

use crate::subschema;
use serde_json::{Map, Value};
use std::cell::Cell;
use std::collections::HashMap;

/// Members and items, at any depth, of a payload that is made.
const PARTS_MAX: usize = 5_000;
/// Looks that one payload may take, and all of one question together.
const LOOKS_MAX: u64 = 1_000_000;
const LOOKS_MAX_OF_ALL: u64 = 1_000_000_000;
/// Schemas that apply to one value one inside of the other; references may lead round.
const NESTING_MAX: usize = 24;

/// What is left of the size of a payload in the making.
#[derive(Debug)]
pub(super) struct Room(usize);

impl Room {
    pub(super) fn new() -> Self {
        Self(PARTS_MAX)
    }

    /// Makes room for `value`; false if there is none.
    pub(super) fn takes(&mut self, value: &Value) -> bool {
        let Some(rest) = self.0.checked_sub(1) else { return false };
        self.0 = rest;
        match value {
            Value::Array(items) => items.iter().all(|item| self.takes(item)),
            Value::Object(members) => members.values().all(|member| self.takes(member)),
            _ => true,
        }
    }

    fn taken(&self) -> u64 {
        (PARTS_MAX - self.0) as u64
    }
}

/// Whether a list or an object of these values is still of a size to be made.
pub(super) fn fits<'v>(values: impl IntoIterator<Item = &'v Value>) -> bool {
    let mut room = Room::new();
    values.into_iter().all(|value| room.takes(value))
}

/// How much a question may still cost.
pub(super) struct Allowance<'a> {
    schemas: [&'a Value; 2],
    /// Looks at each part of a payload, by how deep the payload goes.
    per_part: Cell<HashMap<usize, u64>>,
    left: Cell<u64>,
}

impl<'a> Allowance<'a> {
    pub(super) fn new(schemas: [&'a Value; 2]) -> Self {
        Self { schemas, per_part: Cell::default(), left: Cell::new(LOOKS_MAX_OF_ALL) }
    }

    /// Takes from the allowance what judging `payload` may cost; false if that is too much.
    pub(super) fn covers(&self, payload: &Value) -> bool {
        let mut room = Room::new();
        if !room.takes(payload) {
            return false;
        }
        let depth = depth(payload);
        let mut per_part = self.per_part.take();
        let looks = *per_part.entry(depth).or_insert_with(|| {
            self.schemas.iter().map(|schema| looks(schema, depth)).fold(0, u64::saturating_add)
        });
        self.per_part.set(per_part);
        let looks = looks.saturating_mul(room.taken());
        let rest = self.left.get().checked_sub(looks).filter(|_| looks <= LOOKS_MAX);
        rest.map(|rest| self.left.set(rest)).is_some()
    }
}

/// Steps down to the deepest part.
fn depth(value: &Value) -> usize {
    let inner = match value {
        Value::Array(items) => items.iter().map(depth).max(),
        Value::Object(members) => members.values().map(depth).max(),
        _ => None,
    };
    inner.map_or(0, |inner| inner + 1)
}

/// How many looks at one part of a value that goes `depth` deep `schema` asks for at most.
pub(super) fn looks(schema: &Value, depth: usize) -> u64 {
    Count { root: schema, known: HashMap::new() }.at(schema, depth, NESTING_MAX)
}

struct Count<'a> {
    root: &'a Value,
    known: HashMap<(*const Value, usize, usize), u64>,
}

impl<'a> Count<'a> {
    fn at(&mut self, schema: &'a Value, depth: usize, nesting: usize) -> u64 {
        let Value::Object(keywords) = schema else { return 1 };
        let Some(nesting) = nesting.checked_sub(1) else { return u64::MAX };
        let key = (std::ptr::from_ref(schema), depth, nesting);
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let looks = self.of(keywords, depth, nesting);
        self.known.insert(key, looks);
        looks
    }

    /// Its own, those of all that applies to the same value, and those of what applies to one part.
    fn of(&mut self, keywords: &'a Map<String, Value>, depth: usize, nesting: usize) -> u64 {
        let (mut same, mut named, mut others) = (1, 0, 0);
        for (keyword, value) in keywords {
            let mut inner = Vec::new();
            subschema::for_each_in(keyword, value, &mut |child| inner.push(child));
            match keyword.as_str() {
                "$defs" | "definitions" => {}
                "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else" | "dependentSchemas" => {
                    let looks = inner.into_iter().map(|child| self.at(child, depth, nesting));
                    same = looks.fold(same, u64::saturating_add);
                }
                _ if depth == 0 => {}
                // A member has one name.
                "properties" => {
                    named = inner
                        .into_iter()
                        .map(|child| self.at(child, depth - 1, NESTING_MAX))
                        .max()
                        .unwrap_or(0);
                }
                _ => {
                    let looks = inner.into_iter().map(|child| self.at(child, depth - 1, NESTING_MAX));
                    others = looks.fold(others, u64::saturating_add);
                }
            }
        }
        let target = keywords.get("$ref").and_then(Value::as_str);
        if let Some(target) = target.and_then(|target| subschema::resolve(self.root, target)) {
            same = same.saturating_add(self.at(target, depth, nesting));
        }
        same.saturating_add(named).saturating_add(others)
    }
}

#[cfg(test)]
mod tests;
