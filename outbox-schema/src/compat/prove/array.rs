//! Builds an array from the queries of its items, or shows that there is none.

use super::branch::Branch;
use super::node::{Assertion, Literal, NodeId, no, yes};
use super::{Answer, Prover};
use crate::compat::effort;
use serde_json::Value;
use std::collections::BTreeMap;

/// Arrays longer than this are not built.
const LENGTH_MAX: usize = 256;

/// Items that were given more to satisfy than their position asks for.
type Placed = BTreeMap<usize, Vec<Literal>>;

impl Prover {
    pub(super) fn array(&mut self, branch: &Branch) -> Answer {
        let facts = &branch.array;
        if facts.max.is_some_and(|max| facts.min > max) {
            return Answer::Nothing;
        }
        let first_alike = facts.items.iter().map(|items| items.prefix.len()).max().unwrap_or(0);
        let first_alike = facts.some.iter().map(|&(index, ..)| index).chain([first_alike]).max().unwrap_or(0);
        if first_alike > LENGTH_MAX {
            return Answer::Unknown;
        }
        // Items at `first_alike` and later have the same to satisfy.
        let mut longest = facts.max;
        for index in 0..=first_alike {
            if self.solve(at(branch, index)) == Answer::Nothing {
                longest = Some(longest.map_or(index as u64, |max| max.min(index as u64)));
                break;
            }
        }
        if longest.is_some_and(|longest| facts.min > longest) {
            return Answer::Nothing;
        }
        let longest = longest.and_then(|longest| usize::try_from(longest).ok()).unwrap_or(usize::MAX);
        let mut placed = Placed::new();
        let mut wanted: Vec<(usize, bool, Literal)> = facts.some.clone();
        wanted.sort_by_key(|&(index, or_later, _)| (or_later, index));
        for (index, or_later, literal) in wanted {
            let positions =
                if or_later { positions(index, first_alike, placed.len()) } else { index..index + 1 };
            match self.place(branch, &mut placed, positions, literal, longest) {
                Answer::Value(_) => {}
                other => return other,
            }
        }
        for (&node, &(min, _)) in &facts.counts {
            if usize::try_from(min).is_ok_and(|min| min > longest) {
                return Answer::Nothing;
            }
            for _ in 0..min.min(LENGTH_MAX as u64) {
                let positions = positions(0, first_alike, placed.len());
                match self.place(branch, &mut placed, positions, yes(node), longest) {
                    Answer::Value(_) => {}
                    other => return other,
                }
            }
        }
        if facts.unique == Some(false) {
            match self.place_twins(branch, &mut placed, first_alike, longest) {
                Answer::Value(_) => {}
                other => return other,
            }
        }
        self.build_array(branch, &placed, longest)
    }

    /// Finds a position whose item can also make `literal` true, other than one that already does. `Nothing` only
    /// if no position can, whatever else was placed.
    fn place(
        &mut self,
        branch: &Branch,
        placed: &mut Placed,
        positions: std::ops::Range<usize>,
        literal: Literal,
        longest: usize,
    ) -> Answer {
        let mut possible = false;
        for index in positions.take_while(|&index| index < longest) {
            if self.solve(at(branch, index).chain([literal])) == Answer::Nothing {
                continue;
            }
            possible = true;
            let known = placed.get(&index).cloned().unwrap_or_default();
            if known.contains(&literal) {
                continue;
            }
            // An item that counts for nothing else leaves room under the limits of the others.
            let spare = |&(&node, &(_, max)): &(&NodeId, &(u64, Option<u64>))| {
                max.is_some() && yes(node) != literal && !known.contains(&yes(node))
            };
            let spared: Vec<Literal> =
                branch.array.counts.iter().filter(spare).map(|(&node, _)| no(node)).collect();
            let wanted: Vec<Literal> = at(branch, index).chain(known).collect();
            for spared in [&*spared, &[]] {
                let all = wanted.iter().chain(spared).copied().chain([literal]);
                if let found @ Answer::Value(_) = self.solve(all.collect::<Vec<_>>()) {
                    let place = placed.entry(index).or_default();
                    place.extend(spared);
                    place.push(literal);
                    return found;
                }
            }
        }
        if possible { Answer::Unknown } else { Answer::Nothing }
    }

    /// Finds two positions that can hold the same value.
    fn place_twins(
        &mut self,
        branch: &Branch,
        placed: &mut Placed,
        first_alike: usize,
        longest: usize,
    ) -> Answer {
        let mut possible = false;
        for second in 1..=(first_alike + 1).min(longest.saturating_sub(1)) {
            for first in 0..second {
                let both = at(branch, first).chain(at(branch, second));
                match self.solve(both.collect::<Vec<_>>()) {
                    Answer::Nothing => continue,
                    Answer::Unknown => possible = true,
                    found @ Answer::Value(_) => {
                        possible = true;
                        let Answer::Value(value) = &found else { continue };
                        let same = self.arena.add(vec![Assertion::OneOfValues(vec![value.clone()])]);
                        if !placed.contains_key(&first) && !placed.contains_key(&second) {
                            placed.entry(first).or_default().push(yes(same));
                            placed.entry(second).or_default().push(yes(same));
                            return found;
                        }
                    }
                }
            }
        }
        if possible { Answer::Unknown } else { Answer::Nothing }
    }

    fn build_array(&mut self, branch: &Branch, placed: &Placed, longest: usize) -> Answer {
        let facts = &branch.array;
        let least = placed.keys().next_back().map_or(0, |&last| last + 1);
        let length = least.max(usize::try_from(facts.min).unwrap_or(usize::MAX));
        if length > longest || length > LENGTH_MAX {
            return Answer::Unknown;
        }
        let scarce: Vec<Literal> =
            facts.counts.iter().filter(|(_, (_, max))| max.is_some()).map(|(&node, _)| no(node)).collect();
        let mut items: Vec<Value> = Vec::with_capacity(length);
        let mut room = effort::Room::new();
        for index in 0..length {
            let mut literals: Vec<Literal> = at(branch, index).collect();
            match placed.get(&index) {
                Some(known) => literals.extend(known),
                None => literals.extend(&scarce),
            }
            if facts.unique == Some(true) && !items.is_empty() {
                let other = self.arena.add(vec![Assertion::OneOfValues(items.clone())]);
                literals.push(no(other));
            }
            match self.solve(literals) {
                Answer::Value(value) if room.takes(&value) => items.push(value),
                _ => return Answer::Unknown,
            }
        }
        let array = Value::Array(items);
        if branch.allows(&array) { Answer::Value(array) } else { Answer::Unknown }
    }
}

/// The positions from `from` on: all that differ, and as many of the alike ones as may be taken.
fn positions(from: usize, first_alike: usize, taken: usize) -> std::ops::Range<usize> {
    from..from.max(first_alike) + taken.min(LENGTH_MAX) + 1
}

/// What the item at `index` must satisfy for its position alone.
fn at(branch: &Branch, index: usize) -> impl Iterator<Item = Literal> + use<> {
    let facts = &branch.array;
    let items = facts.items.iter().map(|items| yes(items.at(index)));
    let never = facts.counts.iter().filter(|(_, (_, max))| *max == Some(0)).map(|(&node, _)| no(node));
    items.chain(never).collect::<Vec<_>>().into_iter()
}
