//! Schemas as the prover sees them: a node is a list of assertions that must all hold.

use super::{language::Pattern, ratio::Ratio};
use serde_json::Value;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The number of a node in its [`Arena`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct NodeId(pub(super) u32);

/// The node that every value satisfies.
pub(super) const TRUE: NodeId = NodeId(0);
/// The node that no value satisfies.
pub(super) const FALSE: NodeId = NodeId(1);

/// A claim about one value: it satisfies the node, or it does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Literal {
    pub(super) node: NodeId,
    pub(super) holds: bool,
}

pub(super) fn yes(node: NodeId) -> Literal {
    Literal { node, holds: true }
}

pub(super) fn no(node: NodeId) -> Literal {
    Literal { node, holds: false }
}

/// The seven disjoint kinds of JSON values; `1.0` is an integer, as JSON Schema has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    Null,
    Bool,
    Integer,
    Fraction,
    String,
    Array,
    Object,
}

impl Kind {
    pub(super) const ALL: [Self; 7] =
        [Self::Object, Self::Array, Self::String, Self::Integer, Self::Fraction, Self::Bool, Self::Null];

    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Bool,
            Value::Number(number) if Ratio::of(number).is_some_and(Ratio::is_integer) => Self::Integer,
            Value::Number(number) if number.as_f64().is_some_and(|float| float.fract() == 0.0) => {
                Self::Integer
            }
            Value::Number(_) => Self::Fraction,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }

    pub(super) fn is_number(self) -> bool {
        matches!(self, Self::Integer | Self::Fraction)
    }
}

/// One condition on a value; it holds for every value of a kind it says nothing about.
#[derive(Debug, Clone)]
pub(super) enum Assertion {
    Kinds(Vec<Kind>),
    OneOfValues(Vec<Value>),
    All(Vec<NodeId>),
    Any(Vec<NodeId>),
    ExactlyOne(Vec<NodeId>),
    Not(NodeId),
    If {
        condition: NodeId,
        then: NodeId,
        otherwise: NodeId,
    },
    Low {
        bound: Ratio,
        exclusive: bool,
    },
    High {
        bound: Ratio,
        exclusive: bool,
    },
    MultipleOf(Ratio),
    LengthMin(u64),
    LengthMax(u64),
    Matches(Rc<Pattern>),
    Format(Rc<str>),
    Items(Rc<Items>),
    ItemsMin(u64),
    ItemsMax(u64),
    Unique,
    Contains {
        node: NodeId,
        min: u64,
        max: Option<u64>,
    },
    Fields(Rc<Fields>),
    Required(Rc<str>),
    FieldsMin(u64),
    FieldsMax(u64),
    Names(NodeId),
    /// A keyword the prover can't follow, by its text: it contradicts its own negation and nothing else.
    Opaque(Rc<str>),
}

impl Assertion {
    /// Whether the assertion is made of claims about the same value.
    pub(super) fn is_composed(&self) -> bool {
        matches!(self, Self::All(_) | Self::Any(_) | Self::ExactlyOne(_) | Self::Not(_) | Self::If { .. })
    }

    /// Whether the assertion says anything about values of that kind.
    pub(super) fn concerns(&self, kind: Kind) -> bool {
        match self {
            Self::Low { .. } | Self::High { .. } | Self::MultipleOf(_) => kind.is_number(),
            Self::LengthMin(_) | Self::LengthMax(_) | Self::Matches(_) | Self::Format(_) => {
                kind == Kind::String
            }
            Self::Items(_) | Self::ItemsMin(_) | Self::ItemsMax(_) | Self::Unique | Self::Contains { .. } => {
                kind == Kind::Array
            }
            Self::Fields(_)
            | Self::Required(_)
            | Self::FieldsMin(_)
            | Self::FieldsMax(_)
            | Self::Names(_) => kind == Kind::Object,
            _ => true,
        }
    }
}

/// What each item of an array must satisfy, by position.
#[derive(Debug)]
pub(super) struct Items {
    pub(super) prefix: Vec<NodeId>,
    pub(super) rest: NodeId,
}

impl Items {
    pub(super) fn at(&self, index: usize) -> NodeId {
        self.prefix.get(index).copied().unwrap_or(self.rest)
    }
}

/// What each field of an object must satisfy, by name.
#[derive(Debug)]
pub(super) struct Fields {
    pub(super) named: BTreeMap<String, NodeId>,
    pub(super) patterns: Vec<(Rc<Pattern>, NodeId)>,
    pub(super) rest: NodeId,
}

impl Fields {
    /// The nodes that the value of the field `name` must satisfy; `None` if a pattern can't be decided.
    pub(super) fn at(&self, name: &str) -> Option<Vec<NodeId>> {
        let mut nodes: Vec<NodeId> = self.named.get(name).copied().into_iter().collect();
        for (pattern, node) in &self.patterns {
            if pattern.matches(name)? {
                nodes.push(*node);
            }
        }
        if nodes.is_empty() {
            nodes.push(self.rest);
        }
        Some(nodes)
    }

    /// Whether `name` is neither declared nor matched by a pattern; `None` if a pattern can't be decided.
    pub(super) fn is_rest(&self, name: &str) -> Option<bool> {
        if self.named.contains_key(name) {
            return Some(false);
        }
        for (pattern, _) in &self.patterns {
            if pattern.matches(name)? {
                return Some(false);
            }
        }
        Some(true)
    }
}

/// All nodes of one question.
#[derive(Debug)]
pub(super) struct Arena {
    nodes: Vec<Rc<[Assertion]>>,
}

impl Arena {
    pub(super) fn new() -> Self {
        Self { nodes: vec![Rc::from([]), Rc::from([Assertion::Kinds(Vec::new())])] }
    }

    pub(super) fn get(&self, node: NodeId) -> Rc<[Assertion]> {
        Rc::clone(&self.nodes[node.0 as usize])
    }

    pub(super) fn add(&mut self, assertions: Vec<Assertion>) -> NodeId {
        if assertions.is_empty() {
            return TRUE;
        }
        let node = self.reserve();
        self.fill(node, assertions);
        node
    }

    /// A node whose assertions are not known yet, as a reference may lead back to it.
    pub(super) fn reserve(&mut self) -> NodeId {
        self.nodes.push(Rc::from([]));
        NodeId(u32::try_from(self.nodes.len() - 1).expect("fewer than 2^32 nodes"))
    }

    pub(super) fn fill(&mut self, node: NodeId, assertions: Vec<Assertion>) {
        self.nodes[node.0 as usize] = assertions.into();
    }
}
