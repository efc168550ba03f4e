//! Builds an object from the queries of its fields, or shows that there is none.

use super::branch::{Branch, FieldClass};
use super::language::Pattern;
use super::node::{Assertion, Kind, Literal, NodeId, no, yes};
use super::{Answer, Prover};
use crate::compat::effort;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Patterns whose combinations are told apart; there are two to that power.
const PATTERNS_MAX: usize = 5;
/// Fields added to reach `minProperties`.
const FILL_MAX: u64 = 64;

/// The names that match exactly the first patterns and none of the others, and none that is declared.
struct Region {
    matching: Vec<Rc<Pattern>>,
    not_matching: Vec<Rc<Pattern>>,
}

/// An object in the making.
struct Draft<'a> {
    branch: &'a Branch,
    /// What each field must satisfy beside what its name asks for.
    wanted: BTreeMap<String, Vec<Literal>>,
    values: Map<String, Value>,
    room: effort::Room,
    /// Something could not be told, so that the object may not exist.
    doubtful: bool,
}

impl Prover {
    pub(super) fn object(&mut self, branch: &Branch) -> Answer {
        let facts = &branch.object;
        if facts.max.is_some_and(|max| max < facts.min.max(facts.required.len() as u64)) {
            return Answer::Nothing;
        }
        let mut draft = Draft::new(branch, BTreeMap::new());
        for name in &facts.required {
            draft.wanted.entry(name.to_string()).or_default();
        }
        let (named, open): (Vec<_>, Vec<_>) =
            facts.some.iter().partition(|(class, _)| matches!(class, FieldClass::Named(_)));
        for (class, literal) in named {
            if let FieldClass::Named(name) = class {
                draft.wanted.entry(name.clone()).or_default().push(*literal);
            }
        }
        for name in draft.wanted.keys().cloned().collect::<Vec<_>>() {
            match self.field(&draft, &name, None) {
                Answer::Nothing => return Answer::Nothing,
                Answer::Unknown => draft.doubtful = true,
                Answer::Value(value) => draft.insert(name, value),
            }
        }
        let forced = draft.wanted.clone();
        for (class, literal) in open {
            // Alone first: fields that were chosen for another literal must not decide that this one can't be met.
            let mut alone = Draft::new(branch, forced.clone());
            if self.some_field(&mut alone, class, *literal) == Answer::Nothing {
                return Answer::Nothing;
            }
            draft.doubtful |= !matches!(self.some_field(&mut draft, class, *literal), Answer::Value(_));
        }
        if draft.doubtful {
            return Answer::Unknown;
        }
        self.fill(draft)
    }

    /// Whether the field `name` can stand in the object, with one more literal to satisfy.
    fn field(&mut self, draft: &Draft<'_>, name: &str, more: Option<Literal>) -> Answer {
        let facts = &draft.branch.object;
        if facts.forbidden.contains(name) {
            return Answer::Nothing;
        }
        let own = draft.wanted.get(name).into_iter().flatten().copied().chain(more);
        let names = facts.names.iter().map(|&node| yes(node));
        let well_named = self.satisfies(&Value::from(name), names);
        if well_named == Some(false) {
            return Answer::Nothing;
        }
        let by_name: Option<Vec<Vec<NodeId>>> = facts.fields.iter().map(|fields| fields.at(name)).collect();
        let decided = by_name.is_some() && well_named.is_some();
        let by_name = by_name.unwrap_or_default().into_iter().flatten().map(yes);
        match self.solve(own.chain(by_name)) {
            Answer::Value(_) if !decided => Answer::Unknown,
            answer => answer,
        }
    }

    /// Gives the object a field of that class that makes `literal` true.
    fn some_field(&mut self, draft: &mut Draft<'_>, class: &FieldClass, literal: Literal) -> Answer {
        let facts = &draft.branch.object;
        let mut names: BTreeSet<String> = draft.wanted.keys().cloned().collect();
        names.extend(facts.fields.iter().flat_map(|fields| fields.named.keys().cloned()));
        names.extend(facts.forbidden.iter().map(ToString::to_string));
        if let FieldClass::Rest(fields) | FieldClass::Matching(fields, _) = class {
            names.extend(fields.named.keys().cloned());
        }
        let mut outcome = Answer::Nothing;
        for name in &names {
            match self.is_in_class(class, name) {
                Some(true) => {}
                Some(false) => continue,
                None => {
                    outcome = Answer::Unknown;
                    continue;
                }
            }
            match self.field(draft, name, Some(literal)) {
                Answer::Value(value) => return draft.put(name, literal, value),
                Answer::Unknown => outcome = Answer::Unknown,
                Answer::Nothing => {}
            }
        }
        match self.fresh_field(draft, class, literal, &names) {
            Answer::Nothing => outcome,
            other => other,
        }
    }

    fn is_in_class(&self, class: &FieldClass, name: &str) -> Option<bool> {
        match class {
            FieldClass::Named(own) => Some(own == name),
            FieldClass::Matching(fields, at) => fields.patterns[*at].0.matches(name),
            FieldClass::Rest(fields) => fields.is_rest(name),
            FieldClass::Misnamed(node) => self.satisfies(&Value::from(name), [no(*node)]),
        }
    }

    /// Tries names that nothing declares, one for each combination of patterns it may match.
    fn fresh_field(
        &mut self,
        draft: &mut Draft<'_>,
        class: &FieldClass,
        literal: Literal,
        declared: &BTreeSet<String>,
    ) -> Answer {
        let facts = &draft.branch.object;
        let mut region = Region { matching: Vec::new(), not_matching: Vec::new() };
        match class {
            FieldClass::Named(_) => return Answer::Nothing,
            FieldClass::Matching(fields, at) => region.matching.push(Rc::clone(&fields.patterns[*at].0)),
            FieldClass::Rest(fields) => {
                region.not_matching.extend(fields.patterns.iter().map(|(p, _)| Rc::clone(p)))
            }
            FieldClass::Misnamed(_) => {}
        }
        let mut open: Vec<Rc<Pattern>> = Vec::new();
        for (pattern, _) in facts.fields.iter().flat_map(|fields| &fields.patterns) {
            let known = region.matching.iter().chain(&region.not_matching).chain(&open);
            if !known.into_iter().any(|other| other.text == pattern.text) {
                open.push(Rc::clone(pattern));
            }
        }
        if open.len() > PATTERNS_MAX {
            return Answer::Unknown;
        }
        let mut outcome = Answer::Nothing;
        for combination in 0_u32..1 << open.len() {
            let mut names =
                Region { matching: region.matching.clone(), not_matching: region.not_matching.clone() };
            for (at, pattern) in open.iter().enumerate() {
                let side =
                    if combination >> at & 1 == 1 { &mut names.matching } else { &mut names.not_matching };
                side.push(Rc::clone(pattern));
            }
            match self.fresh_name(draft, class, &names, declared) {
                Answer::Nothing => {}
                Answer::Value(Value::String(name)) => match self.field(draft, &name, Some(literal)) {
                    Answer::Value(value) => return draft.put(&name, literal, value),
                    Answer::Unknown => outcome = Answer::Unknown,
                    Answer::Nothing => {}
                },
                _ => outcome = Answer::Unknown,
            }
        }
        outcome
    }

    /// A name of the region that nothing declares and that every condition on names allows.
    fn fresh_name(
        &mut self,
        draft: &Draft<'_>,
        class: &FieldClass,
        region: &Region,
        declared: &BTreeSet<String>,
    ) -> Answer {
        let texts = |patterns: &[Rc<Pattern>]| {
            patterns.iter().map(|pattern| pattern.text.clone()).collect::<Vec<_>>()
        };
        let key = format!("{:?} {:?} {declared:?}", texts(&region.matching), texts(&region.not_matching));
        let node = match self.regions.get(&key) {
            Some(&node) => node,
            None => {
                let excluded = declared.iter().map(|name| Value::from(name.as_str())).collect();
                let mut outside = vec![self.arena.add(vec![Assertion::OneOfValues(excluded)])];
                for pattern in &region.not_matching {
                    outside.push(self.arena.add(vec![
                        Assertion::Kinds(vec![Kind::String]),
                        Assertion::Matches(Rc::clone(pattern)),
                    ]));
                }
                let mut assertions = vec![Assertion::Kinds(vec![Kind::String])];
                assertions
                    .extend(region.matching.iter().map(|pattern| Assertion::Matches(Rc::clone(pattern))));
                assertions.extend(outside.into_iter().map(Assertion::Not));
                let node = self.arena.add(assertions);
                self.regions.insert(key, node);
                node
            }
        };
        let misnamed = if let FieldClass::Misnamed(node) = class { Some(no(*node)) } else { None };
        let names = draft.branch.object.names.iter().map(|&node| yes(node));
        self.solve(names.chain(misnamed).chain([yes(node)]))
    }

    /// Adds fields until there are enough of them.
    fn fill(&mut self, mut draft: Draft<'_>) -> Answer {
        let facts = &draft.branch.object;
        let optional: BTreeSet<String> =
            facts.fields.iter().flat_map(|fields| fields.named.keys().cloned()).collect();
        let mut optional = optional.into_iter();
        let mut doubtful = false;
        while (draft.values.len() as u64) < facts.min {
            if facts.min > FILL_MAX {
                return Answer::Unknown;
            }
            if let Some(name) = optional.next() {
                if !draft.values.contains_key(&name) {
                    match self.field(&draft, &name, None) {
                        Answer::Value(value) => draft.insert(name, value),
                        Answer::Unknown => doubtful = true,
                        Answer::Nothing => {}
                    }
                }
                continue;
            }
            let before = draft.values.len();
            let any = FieldClass::Misnamed(super::node::FALSE);
            let mut taken: BTreeSet<String> = draft.values.keys().cloned().collect();
            taken.extend(facts.fields.iter().flat_map(|fields| fields.named.keys().cloned()));
            taken.extend(facts.forbidden.iter().map(ToString::to_string));
            let added = self.fresh_field(&mut draft, &any, yes(super::node::TRUE), &taken);
            let declared_only = draft.values.keys().all(|name| taken.contains(name));
            match added {
                Answer::Value(_) if draft.values.len() > before => {}
                // Names used up by this object are no proof that there are too few of them.
                Answer::Nothing if !doubtful && declared_only && draft.only_declared() => {
                    return Answer::Nothing;
                }
                _ => return Answer::Unknown,
            }
        }
        if facts.max.is_some_and(|max| draft.values.len() as u64 > max) {
            return Answer::Unknown;
        }
        if draft.doubtful {
            return Answer::Unknown;
        }
        let object = Value::Object(draft.values);
        if draft.branch.allows(&object) { Answer::Value(object) } else { Answer::Unknown }
    }
}

impl<'a> Draft<'a> {
    fn new(branch: &'a Branch, wanted: BTreeMap<String, Vec<Literal>>) -> Self {
        Self { branch, wanted, values: Map::new(), room: effort::Room::new(), doubtful: false }
    }

    /// A field that there is no room for leaves in doubt whether there is such an object.
    fn insert(&mut self, name: String, value: Value) {
        if self.room.takes(&value) {
            self.values.insert(name, value);
        } else {
            self.doubtful = true;
        }
    }

    fn put(&mut self, name: &str, literal: Literal, value: Value) -> Answer {
        self.wanted.entry(name.to_owned()).or_default().push(literal);
        self.insert(name.to_owned(), value.clone());
        Answer::Value(value)
    }

    /// Whether every field so far is declared or required by name.
    fn only_declared(&self) -> bool {
        let facts = &self.branch.object;
        self.values.keys().all(|name| {
            facts.required.contains(name.as_str())
                || facts.fields.iter().any(|fields| fields.named.contains_key(name))
        })
    }
}
