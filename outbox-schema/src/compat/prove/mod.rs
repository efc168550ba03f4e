//! Decides whether some value satisfies one schema and not another, by taking both apart.
//!
//! The question "is every value of A also one of B?" is asked as "is there a value of A that is none of B?". A query
//! is a set of claims about one value. It is taken apart by kind of value, choices are tried one after the other, and
//! what is left are numbers, strings, arrays and objects whose parts are queries again.
//!
//! ```text
//! query ─▶ kinds ─▶ choices ─▶ facts of one kind ─▶ queries for items and fields
//!   └── Nothing: every choice contradicts itself        └── Value: built up from the parts
//! ```
//!
//! `Nothing` is a proof. It is sound because whatever can't be followed only widens the query. A query that comes up
//! inside itself is answered `Nothing` there: JSON values are finite, so the smallest value that satisfies a query
//! holds no value that satisfies the same query. Answers that rest on such an assumption are forgotten unless the
//! outer query turns out to be `Nothing` too. `Unknown` is given at the step limit and for what can't be followed.

mod array;
mod branch;
mod compile;
mod eval;
mod language;
mod node;
mod number;
mod object;
mod ratio;
mod text;

use super::formats::Formats;
use branch::Branch;
use node::{Arena, Kind, Literal, NodeId, no, yes};
use serde_json::Value;
use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};

/// Steps after which a question is given up.
const STEPS_MAX: u32 = 100_000;
/// Looks after which nothing more can be told of values in hand.
const LOOKS_MAX: u32 = 10_000_000;
/// Open choices from which on whole schemas are compared before options are.
const MANY_CHOICES: usize = 6;
/// Nesting of queries that is followed.
const DEPTH_MAX: usize = 120;

/// The answer to "is there such a value?".
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answer {
    /// No, and this is proven.
    Nothing,
    /// Yes, this one, as far as the prover understands the schemas.
    Value(Value),
    /// It can't be told.
    Unknown,
}

/// Looks for a value that satisfies `sub` and does not satisfy `sup`.
pub(super) fn difference(sub: &Value, sup: &Value, formats: Formats) -> Answer {
    let mut arena = Arena::new();
    let (sub, sup) = compile::compile_both(&mut arena, sub, sup, formats);
    Prover::new(arena).solve([yes(sub), no(sup)])
}

/// One schema as the prover reads it.
pub(super) struct Reading {
    prover: Prover,
    node: NodeId,
}

impl Reading {
    pub(super) fn new(schema: &Value, formats: Formats) -> Self {
        let mut arena = Arena::new();
        let (node, _) = compile::compile_both(&mut arena, schema, &Value::Bool(true), formats);
        Self { prover: Prover::new(arena), node }
    }

    /// Whether `value` is one of the schema; `None` where it can't be told.
    pub(super) fn accepts(&self, value: &Value) -> Option<bool> {
        self.prover.looks.set(0);
        self.prover.satisfies(value, [yes(self.node)])
    }
}

/// Claims about one value.
type Query = BTreeSet<Literal>;

/// A query that is being answered.
struct Open {
    query: Query,
    /// The place of the outermost query it has assumed something about; its own place if there is none.
    rests_on: usize,
    /// It asks about a part of the value that the query around it asks about, not about the same value.
    descends: bool,
}

struct Prover {
    arena: Arena,
    proven: HashMap<Query, Answer>,
    /// `Nothing` under the assumption that a query further out is `Nothing`, with the place of that query.
    provisional: HashMap<Query, usize>,
    open: Vec<Open>,
    regions: HashMap<String, NodeId>,
    steps: u32,
    /// How often a value in hand was held against a node.
    looks: Cell<u32>,
}

impl Prover {
    fn new(arena: Arena) -> Self {
        Self {
            arena,
            proven: HashMap::new(),
            provisional: HashMap::new(),
            open: Vec::new(),
            regions: HashMap::new(),
            steps: 0,
            looks: Cell::new(0),
        }
    }

    /// Answers whether one value makes all literals true; asked about a part of the value at hand.
    fn solve(&mut self, literals: impl IntoIterator<Item = Literal>) -> Answer {
        self.answer(literals, true)
    }

    /// The same, asked about the very value at hand.
    fn solve_beside(&mut self, literals: impl IntoIterator<Item = Literal>) -> Answer {
        self.answer(literals, false)
    }

    fn answer(&mut self, literals: impl IntoIterator<Item = Literal>, descends: bool) -> Answer {
        let trivial = [yes(node::TRUE), no(node::FALSE)];
        let query: Query = literals.into_iter().filter(|literal| !trivial.contains(literal)).collect();
        let contradicts = |literal: &Literal| {
            [node::TRUE, node::FALSE].contains(&literal.node)
                || literal.holds && query.contains(&no(literal.node))
        };
        if query.iter().any(contradicts) {
            return Answer::Nothing;
        }
        if let Some(answer) = self.proven.get(&query) {
            return answer.clone();
        }
        let assumed = self.open.iter().position(|open| open.query == query);
        if let Some(outer) = assumed.or_else(|| self.provisional.get(&query).copied()) {
            // Without a step down in between, the assumption would be the claim itself.
            if !descends && !self.open[outer + 1..].iter().any(|open| open.descends) {
                return Answer::Unknown;
            }
            if let Some(innermost) = self.open.last_mut() {
                innermost.rests_on = outer.min(innermost.rests_on);
            }
            return Answer::Nothing;
        }
        if self.open.len() >= DEPTH_MAX {
            return Answer::Unknown;
        }
        let place = self.open.len();
        self.open.push(Open { query: query.clone(), rests_on: place, descends });
        let answer = self.search_kinds(&query);
        self.close(place, &answer);
        answer
    }

    /// Remembers the answer to the innermost open query as far as it may be trusted.
    fn close(&mut self, place: usize, answer: &Answer) {
        let Open { query, rests_on, .. } = self.open.pop().expect("the query that is closed is open");
        if *answer != Answer::Nothing {
            // Whatever assumed that this query is `Nothing` was wrong to do so.
            self.provisional.clear();
        } else if rests_on < place {
            self.provisional.values_mut().filter(|at| **at >= place).for_each(|at| *at = rests_on);
            self.provisional.insert(query, rests_on);
            if let Some(outer) = self.open.last_mut() {
                outer.rests_on = rests_on.min(outer.rests_on);
            }
            return;
        } else {
            let stands = |_: &Query, at: &mut usize| *at >= place;
            self.proven
                .extend(self.provisional.extract_if(stands).map(|(inner, _)| (inner, Answer::Nothing)));
        }
        self.proven.insert(query, answer.clone());
    }

    fn search_kinds(&mut self, query: &Query) -> Answer {
        let mut outcome = Answer::Nothing;
        for kind in Kind::ALL {
            let Some(branch) = Branch::start(&self.arena, kind, query) else { continue };
            match self.search(branch, query) {
                Answer::Nothing => {}
                Answer::Value(value) if self.satisfies(&value, query.iter().copied()) != Some(false) => {
                    return Answer::Value(value);
                }
                Answer::Value(_) | Answer::Unknown => outcome = Answer::Unknown,
            }
        }
        outcome
    }

    /// Follows the choices of one branch.
    fn search(&mut self, mut branch: Branch, query: &Query) -> Answer {
        self.steps += 1;
        if self.steps > STEPS_MAX {
            return Answer::Unknown;
        }
        loop {
            if let Some(values) = branch.only() {
                return self.first_of(values, query);
            }
            // The members of a large union are told apart at less cost than their options are looked at.
            if branch.choice_count() >= MANY_CHOICES {
                self.drop_what_is_met(&mut branch);
            }
            if !branch.settle(&self.arena, &mut self.steps) {
                return Answer::Nothing;
            }
            if branch.only().is_some() {
                continue;
            }
            if !self.drop_what_is_met(&mut branch) {
                break;
            }
        }
        let Some(options) = branch.take_choice() else { return self.leaf(&branch) };
        let mut outcome = Answer::Nothing;
        for option in options {
            let mut next = branch.clone();
            if !next.assume(&self.arena, option) {
                continue;
            }
            match self.search(next, query) {
                Answer::Nothing => {}
                found @ Answer::Value(_) => return found,
                Answer::Unknown => outcome = Answer::Unknown,
            }
        }
        outcome
    }

    /// Among finitely many values, each is simply tried.
    fn first_of(&self, values: &[Value], query: &Query) -> Answer {
        let mut outcome = Answer::Nothing;
        for value in values {
            match self.satisfies(value, query.iter().copied()) {
                Some(true) => return Answer::Value(value.clone()),
                None => outcome = Answer::Unknown,
                Some(false) => {}
            }
        }
        outcome
    }

    /// Drops "is none of N" where no value of this branch could be one of N, which keeps unions from multiplying.
    /// Returns whether anything changed.
    fn drop_what_is_met(&mut self, branch: &mut Branch) -> bool {
        let mut changed = false;
        let known = branch.positive(&self.arena);
        for members in branch.take_not_one() {
            let mut live = Vec::new();
            for member in members {
                if self.solve_beside(known.iter().copied().chain([yes(member)])) != Answer::Nothing {
                    live.push(member);
                }
            }
            changed = true;
            branch.add_not_one(&live);
        }
        if branch.choice_count() < 2 {
            return changed;
        }
        for negated in branch.negated() {
            if self.solve_beside(known.iter().copied().chain([yes(negated)])) == Answer::Nothing {
                branch.drop_negated(negated);
                changed = true;
            }
        }
        changed
    }

    fn leaf(&mut self, branch: &Branch) -> Answer {
        match branch.kind {
            Kind::Null => branch.first_allowed([Value::Null]),
            Kind::Bool => branch.first_allowed([Value::Bool(true), Value::Bool(false)]),
            Kind::Integer => number::integer(branch),
            Kind::Fraction => number::fraction(branch),
            Kind::String => text::text(branch),
            Kind::Array => self.array(branch),
            Kind::Object => self.object(branch),
        }
    }
}

#[cfg(test)]
mod tests;
