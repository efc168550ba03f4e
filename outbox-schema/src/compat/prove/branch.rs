//! One way in which a query could be met: facts that hold, and choices that are still open.

use super::node::{Arena, Assertion, Fields, Items, Kind, Literal, NodeId, TRUE, no, yes};
use super::number::Range;
use super::text::Text;
use super::{Answer, Query, eval};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// What a branch takes on.
#[derive(Debug, Clone)]
pub(super) enum Goal {
    Node(Literal),
    /// The assertion at that place of a node holds, or does not.
    Part(Rc<[Assertion]>, usize, bool),
    SomeField(FieldClass, Literal),
    SomeItem {
        index: usize,
        or_later: bool,
        literal: Literal,
    },
    ItemCount {
        node: NodeId,
        min: u64,
        max: Option<u64>,
    },
}

/// The fields among which one must make a literal true.
#[derive(Debug, Clone)]
pub(super) enum FieldClass {
    Named(String),
    /// Those that the pattern at that place matches.
    Matching(Rc<Fields>, usize),
    /// Those that are neither declared nor matched.
    Rest(Rc<Fields>),
    /// Those whose name does not satisfy the node.
    Misnamed(NodeId),
}

/// The negation of a node: one of its assertions fails.
#[derive(Debug, Clone)]
struct Choice {
    options: Vec<Vec<Goal>>,
    negated: Option<NodeId>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct ArrayFacts {
    pub(super) items: Vec<Rc<Items>>,
    pub(super) min: u64,
    pub(super) max: Option<u64>,
    pub(super) unique: Option<bool>,
    pub(super) some: Vec<(usize, bool, Literal)>,
    /// How many items must, and may, satisfy the node.
    pub(super) counts: BTreeMap<NodeId, (u64, Option<u64>)>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct ObjectFacts {
    pub(super) required: BTreeSet<Rc<str>>,
    pub(super) forbidden: BTreeSet<Rc<str>>,
    pub(super) fields: Vec<Rc<Fields>>,
    pub(super) names: Vec<NodeId>,
    pub(super) min: u64,
    pub(super) max: Option<u64>,
    pub(super) some: Vec<(FieldClass, Literal)>,
}

#[derive(Debug, Clone)]
pub(super) struct Branch {
    pub(super) kind: Kind,
    only: Option<Vec<Value>>,
    except: Vec<Value>,
    pub(super) range: Range,
    pub(super) text: Text,
    pub(super) array: ArrayFacts,
    pub(super) object: ObjectFacts,
    seen: BTreeSet<Literal>,
    opaque: BTreeMap<Rc<str>, bool>,
    choices: Vec<Choice>,
    not_one: Vec<Vec<NodeId>>,
}

impl Branch {
    /// The branch for values of that kind; `None` if the query allows none.
    pub(super) fn start(arena: &Arena, kind: Kind, query: &Query) -> Option<Self> {
        let mut branch = Self {
            kind,
            only: None,
            except: Vec::new(),
            range: Range::default(),
            text: Text::default(),
            array: ArrayFacts::default(),
            object: ObjectFacts::default(),
            seen: BTreeSet::new(),
            opaque: BTreeMap::new(),
            choices: Vec::new(),
            not_one: Vec::new(),
        };
        branch.assume(arena, query.iter().map(|&literal| Goal::Node(literal)).collect()).then_some(branch)
    }

    /// Takes on all goals; false if they contradict what is known.
    pub(super) fn assume(&mut self, arena: &Arena, mut goals: Vec<Goal>) -> bool {
        while let Some(goal) = goals.pop() {
            let agrees = match goal {
                Goal::Node(literal) => self.take_node(arena, literal, &mut goals),
                Goal::Part(assertions, index, true) => self.take_positive(&assertions[index], &mut goals),
                Goal::Part(assertions, index, false) => self.take_negative(&assertions[index], &mut goals),
                Goal::SomeField(class, literal) => {
                    self.object.some.push((class, literal));
                    true
                }
                Goal::SomeItem { index, or_later, literal } => {
                    self.array.some.push((index, or_later, literal));
                    true
                }
                Goal::ItemCount { node, min, max } => self.count_items(node, min, max),
            };
            if !agrees || self.only.as_ref().is_some_and(Vec::is_empty) {
                return false;
            }
        }
        true
    }

    fn take_node(&mut self, arena: &Arena, literal: Literal, goals: &mut Vec<Goal>) -> bool {
        let opposite = Literal { holds: !literal.holds, ..literal };
        if self.seen.contains(&opposite) {
            return false;
        }
        if !self.seen.insert(literal) {
            return true;
        }
        let assertions = arena.get(literal.node);
        let concerning = (0..assertions.len()).filter(|&index| assertions[index].concerns(self.kind));
        let parts = concerning.map(|index| (Rc::clone(&assertions), index));
        if literal.holds {
            goals.extend(parts.map(|(assertions, index)| Goal::Part(assertions, index, true)));
            return true;
        }
        let options: Vec<Vec<Goal>> =
            parts.flat_map(|(assertions, index)| failures(&assertions, index)).collect();
        self.choose(options, Some(literal.node))
    }

    fn choose(&mut self, options: Vec<Vec<Goal>>, negated: Option<NodeId>) -> bool {
        let possible = !options.is_empty();
        self.choices.push(Choice { options, negated });
        possible
    }

    fn take_positive(&mut self, assertion: &Assertion, goals: &mut Vec<Goal>) -> bool {
        match assertion {
            Assertion::Kinds(kinds) => return kinds.contains(&self.kind),
            Assertion::OneOfValues(values) => {
                let known = self.only.take();
                let mut values: Vec<Value> =
                    values.iter().filter(|value| Kind::of(value) == self.kind).cloned().collect();
                if let Some(known) = known {
                    values.retain(|value| known.iter().any(|other| eval::equal(value, other)));
                }
                self.only = Some(values);
            }
            Assertion::All(nodes) => goals.extend(nodes.iter().map(|&node| Goal::Node(yes(node)))),
            Assertion::Any(nodes) => {
                return self.choose(nodes.iter().map(|&node| vec![Goal::Node(yes(node))]).collect(), None);
            }
            Assertion::ExactlyOne(nodes) => {
                let option = |chosen: usize| {
                    let literal = |(index, &node)| Literal { node, holds: index == chosen };
                    nodes.iter().enumerate().map(literal).map(Goal::Node).collect()
                };
                return self.choose((0..nodes.len()).map(option).collect(), None);
            }
            Assertion::Not(node) => goals.push(Goal::Node(no(*node))),
            Assertion::If { condition, then, otherwise } => {
                let met = vec![Goal::Node(yes(*condition)), Goal::Node(yes(*then))];
                let unmet = vec![Goal::Node(no(*condition)), Goal::Node(yes(*otherwise))];
                return self.choose(vec![met, unmet], None);
            }
            Assertion::Opaque(text) => return *self.opaque.entry(Rc::clone(text)).or_insert(true),
            Assertion::Low { .. } | Assertion::High { .. } | Assertion::MultipleOf(_) => {
                self.range.take(assertion, true)
            }
            Assertion::LengthMin(_)
            | Assertion::LengthMax(_)
            | Assertion::Matches(_)
            | Assertion::Format(_) => {
                return self.text.take(assertion, true);
            }
            _ => return self.take_shape(assertion),
        }
        true
    }

    /// Takes on what says something about the items of an array or the fields of an object.
    fn take_shape(&mut self, assertion: &Assertion) -> bool {
        match assertion {
            Assertion::Items(items) => self.array.items.push(Rc::clone(items)),
            Assertion::ItemsMin(min) => self.array.min = self.array.min.max(*min),
            Assertion::ItemsMax(max) => self.array.max = lower(self.array.max, *max),
            Assertion::Unique => return *self.array.unique.get_or_insert(true),
            Assertion::Contains { node, min, max } => return self.count_items(*node, *min, *max),
            Assertion::Fields(fields) => self.object.fields.push(Rc::clone(fields)),
            Assertion::Required(name) => {
                self.object.required.insert(Rc::clone(name));
                return !self.object.forbidden.contains(name);
            }
            Assertion::FieldsMin(min) => self.object.min = self.object.min.max(*min),
            Assertion::FieldsMax(max) => self.object.max = lower(self.object.max, *max),
            Assertion::Names(node) => self.object.names.push(*node),
            _ => unreachable!("composed assertions and those of scalars are taken on by the caller"),
        }
        true
    }

    fn take_negative(&mut self, assertion: &Assertion, goals: &mut Vec<Goal>) -> bool {
        match assertion {
            Assertion::Kinds(kinds) => return !kinds.contains(&self.kind),
            Assertion::OneOfValues(values) => {
                self.except.extend(values.iter().filter(|value| Kind::of(value) == self.kind).cloned());
            }
            Assertion::Any(nodes) => goals.extend(nodes.iter().map(|&node| Goal::Node(no(node)))),
            Assertion::ExactlyOne(nodes) => self.not_one.push(nodes.clone()),
            Assertion::Not(node) => goals.push(Goal::Node(yes(*node))),
            Assertion::Opaque(text) => return !*self.opaque.entry(Rc::clone(text)).or_insert(false),
            Assertion::Low { .. } | Assertion::High { .. } | Assertion::MultipleOf(_) => {
                self.range.take(assertion, false)
            }
            Assertion::LengthMin(_)
            | Assertion::LengthMax(_)
            | Assertion::Matches(_)
            | Assertion::Format(_) => {
                return self.text.take(assertion, false);
            }
            Assertion::ItemsMin(min) => match min.checked_sub(1) {
                Some(max) => self.array.max = lower(self.array.max, max),
                None => return false,
            },
            Assertion::ItemsMax(max) => self.array.min = self.array.min.max(max + 1),
            Assertion::Unique => return !*self.array.unique.get_or_insert(false),
            Assertion::Required(name) => {
                self.object.forbidden.insert(Rc::clone(name));
                return !self.object.required.contains(name);
            }
            Assertion::FieldsMin(min) => match min.checked_sub(1) {
                Some(max) => self.object.max = lower(self.object.max, max),
                None => return false,
            },
            Assertion::FieldsMax(max) => self.object.min = self.object.min.max(max + 1),
            Assertion::Names(node) => self.object.some.push((FieldClass::Misnamed(*node), yes(TRUE))),
            // Each of these fails in several ways, so `failures` has turned them into choices.
            Assertion::All(_)
            | Assertion::If { .. }
            | Assertion::Items(_)
            | Assertion::Contains { .. }
            | Assertion::Fields(_) => unreachable!("split into choices before"),
        }
        true
    }

    fn count_items(&mut self, node: NodeId, min: u64, max: Option<u64>) -> bool {
        if node == TRUE {
            self.array.min = self.array.min.max(min);
            self.array.max = max.map_or(self.array.max, |max| lower(self.array.max, max));
            return true;
        }
        let (known_min, known_max) = self.array.counts.entry(node).or_insert((0, None));
        *known_min = min.max(*known_min);
        *known_max = max.map_or(*known_max, |max| lower(*known_max, max));
        known_max.is_none_or(|max| *known_min <= max)
    }

    /// Removes options that contradict the facts and takes on what has no alternative; false at a contradiction.
    /// Counts every look at an option as a step.
    pub(super) fn settle(&mut self, arena: &Arena, steps: &mut u32) -> bool {
        loop {
            let mut choices = std::mem::take(&mut self.choices);
            let mut forced = None;
            for (index, choice) in choices.iter_mut().enumerate() {
                *steps += u32::try_from(choice.options.len()).unwrap_or(u32::MAX / 2);
                choice.options.retain(|option| self.clone().assume(arena, option.clone()));
                match choice.options.len() {
                    0 => return false,
                    1 => forced = Some(index),
                    _ => {}
                }
                if forced.is_some() {
                    break;
                }
            }
            let Some(index) = forced else {
                self.choices = choices;
                return true;
            };
            let option = choices.swap_remove(index).options.remove(0);
            self.choices = choices;
            if !self.assume(arena, option) {
                return false;
            }
        }
    }

    /// The finitely many values that are left, if the facts name them.
    pub(super) fn only(&self) -> Option<&[Value]> {
        self.only.as_deref()
    }

    /// The first of `values` that no fact excludes.
    pub(super) fn first_allowed(&self, values: impl IntoIterator<Item = Value>) -> Answer {
        values.into_iter().find(|value| self.allows(value)).map_or(Answer::Nothing, Answer::Value)
    }

    /// Whether `value` is none of the values that are excluded one by one.
    pub(super) fn allows(&self, value: &Value) -> bool {
        !self.except.iter().any(|other| eval::equal(other, value))
    }

    pub(super) fn except(&self) -> &[Value] {
        &self.except
    }

    /// What is known to hold, without negations, and without what is composed: its parts are known themselves.
    pub(super) fn positive(&self, arena: &Arena) -> Vec<Literal> {
        let plain = |literal: &&Literal| !arena.get(literal.node).iter().any(Assertion::is_composed);
        self.seen.iter().filter(|literal| literal.holds).filter(plain).copied().collect()
    }

    pub(super) fn choice_count(&self) -> usize {
        self.choices.len()
    }

    pub(super) fn negated(&self) -> Vec<NodeId> {
        self.choices.iter().filter_map(|choice| choice.negated).collect()
    }

    pub(super) fn drop_negated(&mut self, node: NodeId) {
        self.choices.retain(|choice| choice.negated != Some(node));
    }

    /// The choice with the fewest options; what must hold goes before what must fail.
    pub(super) fn take_choice(&mut self) -> Option<Vec<Vec<Goal>>> {
        let order = |choice: &Choice| (choice.negated.is_some(), choice.options.len());
        let (index, _) = self.choices.iter().enumerate().min_by_key(|(_, choice)| order(choice))?;
        Some(self.choices.swap_remove(index).options)
    }

    /// The unions of which not exactly one member may hold, once all that must hold is chosen: only then few members
    /// are left to be paired with each other.
    pub(super) fn take_not_one(&mut self) -> Vec<Vec<NodeId>> {
        let undecided = self.choices.iter().any(|choice| choice.negated.is_none());
        if undecided { Vec::new() } else { std::mem::take(&mut self.not_one) }
    }

    /// Not exactly one of `nodes` holds: none does, or two of them do.
    pub(super) fn add_not_one(&mut self, nodes: &[NodeId]) {
        let mut options = vec![nodes.iter().map(|&node| Goal::Node(no(node))).collect::<Vec<_>>()];
        for (index, &first) in nodes.iter().enumerate() {
            for &second in &nodes[index + 1..] {
                options.push(vec![Goal::Node(yes(first)), Goal::Node(yes(second))]);
            }
        }
        self.choices.push(Choice { options, negated: None });
    }
}

/// The ways in which one assertion of a node fails.
fn failures(assertions: &Rc<[Assertion]>, index: usize) -> Vec<Vec<Goal>> {
    match &assertions[index] {
        Assertion::All(nodes) => nodes.iter().map(|&node| vec![Goal::Node(no(node))]).collect(),
        Assertion::If { condition, then, otherwise } => vec![
            vec![Goal::Node(yes(*condition)), Goal::Node(no(*then))],
            vec![Goal::Node(no(*condition)), Goal::Node(no(*otherwise))],
        ],
        Assertion::Items(items) => {
            let exact = items.prefix.iter().enumerate().map(|(index, &node)| (index, false, node));
            let tail = std::iter::once((items.prefix.len(), true, items.rest));
            let goal = |(index, or_later, node)| vec![Goal::SomeItem { index, or_later, literal: no(node) }];
            exact.chain(tail).filter(|&(.., node)| node != TRUE).map(goal).collect()
        }
        Assertion::Contains { node, min, max } => {
            let fewer =
                min.checked_sub(1).map(|most| Goal::ItemCount { node: *node, min: 0, max: Some(most) });
            let more = max.map(|max| Goal::ItemCount { node: *node, min: max + 1, max: None });
            fewer.into_iter().chain(more).map(|goal| vec![goal]).collect()
        }
        Assertion::Fields(fields) => {
            let named = fields.named.iter().map(|(name, &node)| (FieldClass::Named(name.clone()), node));
            let matching = fields.patterns.iter().enumerate();
            let matching =
                matching.map(|(at, &(_, node))| (FieldClass::Matching(Rc::clone(fields), at), node));
            let rest = std::iter::once((FieldClass::Rest(Rc::clone(fields)), fields.rest));
            let classes = named.chain(matching).chain(rest).filter(|&(_, node)| node != TRUE);
            classes.map(|(class, node)| vec![Goal::SomeField(class, no(node))]).collect()
        }
        _ => vec![vec![Goal::Part(Rc::clone(assertions), index, false)]],
    }
}

fn lower(known: Option<u64>, max: u64) -> Option<u64> {
    Some(known.map_or(max, |known| known.min(max)))
}
