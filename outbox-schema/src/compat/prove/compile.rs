//! Reads a normalised JSON Schema into nodes.

use super::language::Pattern;
use super::node::{Arena, Assertion, FALSE, Fields, Items, Kind, NodeId, TRUE};
use super::ratio::Ratio;
use crate::compat::formats::{self, Formats};
use crate::contract::{in_order, sorted};
use crate::subschema;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Schemas nested deeper than this are not followed.
const DEPTH_MAX: usize = 200;

pub(super) struct Compiler<'a> {
    arena: &'a mut Arena,
    /// Nodes of schemas without references, by text: the same text on both sides is the same node.
    by_text: HashMap<String, NodeId>,
    patterns: HashMap<String, Rc<Pattern>>,
    formats: Formats,
    root: &'a Value,
    by_reference: HashMap<String, NodeId>,
    depth: usize,
}

/// Reads both schemas of a question.
pub(super) fn compile_both(
    arena: &mut Arena,
    sub: &Value,
    sup: &Value,
    formats: Formats,
) -> (NodeId, NodeId) {
    let (by_text, patterns, by_reference) = Default::default();
    let mut compiler = Compiler { arena, by_text, patterns, formats, root: sub, by_reference, depth: 0 };
    let left = compiler.node(sub);
    compiler.root = sup;
    compiler.by_reference.clear();
    let right = compiler.node(sup);
    (left, right)
}

impl Compiler<'_> {
    fn node(&mut self, schema: &Value) -> NodeId {
        let keywords = match schema {
            Value::Bool(true) => return TRUE,
            Value::Object(keywords) => keywords,
            _ => return FALSE,
        };
        if self.depth >= DEPTH_MAX {
            return self.opaque("deeper than the prover follows", schema);
        }
        self.depth += 1;
        let text = in_order(schema).to_string();
        // A text with `$ref` or `$dynamicRef` may mean something else in the other document.
        let shared = !text.contains("ef\"");
        let node = match self.by_text.get(&text) {
            Some(&node) if shared => node,
            _ => {
                let mut assertions = self.assertions(keywords);
                if assertions.len() > 1 {
                    // A part of its own for each union, so that the rest can be known without it.
                    for assertion in assertions.iter_mut().filter(|assertion| assertion.is_composed()) {
                        let part = self.arena.add(vec![assertion.clone()]);
                        *assertion = Assertion::All(vec![part]);
                    }
                }
                let node = self.arena.add(assertions);
                if shared {
                    self.by_text.insert(text, node);
                }
                node
            }
        };
        self.depth -= 1;
        node
    }

    fn opaque(&mut self, why: &str, schema: &Value) -> NodeId {
        let text = format!("{why}: {schema} in {}", self.root);
        self.arena.add(vec![Assertion::Opaque(text.into())])
    }

    fn assertions(&mut self, keywords: &Map<String, Value>) -> Vec<Assertion> {
        let mut all = Vec::new();
        for (keyword, value) in keywords {
            self.keyword(keyword, value, &mut all);
        }
        self.items(keywords, &mut all);
        self.fields(keywords, &mut all);
        // Left by `normalise` where too many branches would have to be told apart.
        if ["unevaluatedItems", "unevaluatedProperties"].iter().any(|&keyword| keywords.contains_key(keyword))
        {
            let whole = sorted(Value::Object(keywords.clone()));
            all.push(Assertion::All(vec![self.opaque("unfollowed", &whole)]));
        }
        if keywords.contains_key("if") {
            let part =
                |compiler: &mut Self, name| keywords.get(name).map_or(TRUE, |schema| compiler.node(schema));
            let condition = part(self, "if");
            let then = part(self, "then");
            let otherwise = part(self, "else");
            all.push(Assertion::If { condition, then, otherwise });
        }
        if let Some(schema) = keywords.get("contains") {
            let min = keywords.get("minContains").and_then(count).unwrap_or(1);
            let max = keywords.get("maxContains").and_then(count);
            let node = self.node(schema);
            if min > 0 || max.is_some() {
                all.push(Assertion::Contains { node, min, max });
            }
        }
        all
    }

    fn keyword(&mut self, keyword: &str, value: &Value, all: &mut Vec<Assertion>) {
        let number = value.as_number();
        match keyword {
            "type" => all.push(Assertion::Kinds(kinds(value))),
            "const" => all.push(Assertion::OneOfValues(vec![value.clone()])),
            "enum" => all.push(Assertion::OneOfValues(value.as_array().cloned().unwrap_or_default())),
            "$ref" => {
                let target = self.reference(value.as_str().unwrap_or_default());
                all.push(Assertion::All(vec![target]));
            }
            "allOf" => all.push(Assertion::All(self.nodes(value))),
            "anyOf" => all.push(Assertion::Any(self.nodes(value))),
            "oneOf" => all.push(Assertion::ExactlyOne(self.nodes(value))),
            "not" => all.push(Assertion::Not(self.node(value))),
            "minimum" | "exclusiveMinimum" | "maximum" | "exclusiveMaximum" | "multipleOf" => {
                all.push(match (number.and_then(Ratio::of), keyword) {
                    (Some(bound), "minimum") => Assertion::Low { bound, exclusive: false },
                    (Some(bound), "exclusiveMinimum") => Assertion::Low { bound, exclusive: true },
                    (Some(bound), "maximum") => Assertion::High { bound, exclusive: false },
                    (Some(bound), "exclusiveMaximum") => Assertion::High { bound, exclusive: true },
                    (Some(step), _) => Assertion::MultipleOf(step),
                    (None, _) => Assertion::Opaque(format!("{keyword} {value}").into()),
                });
            }
            "minLength" => all.extend(count(value).map(Assertion::LengthMin)),
            "maxLength" => all.extend(count(value).map(Assertion::LengthMax)),
            "pattern" => all.push(Assertion::Matches(self.pattern(value.as_str().unwrap_or_default()))),
            "format" if self.formats == Formats::Asserted => {
                let name = value.as_str().unwrap_or_default();
                if !formats::is_numeric(name) {
                    all.push(Assertion::Format(name.into()));
                } else if let Some((low, high)) = formats::integer_range(name) {
                    all.push(Assertion::Low { bound: Ratio::integer(low), exclusive: false });
                    all.push(Assertion::High { bound: Ratio::integer(high), exclusive: false });
                }
            }
            "minItems" => all.extend(count(value).map(Assertion::ItemsMin)),
            "maxItems" => all.extend(count(value).map(Assertion::ItemsMax)),
            "uniqueItems" if value.as_bool() == Some(true) => all.push(Assertion::Unique),
            "minProperties" => all.extend(count(value).map(Assertion::FieldsMin)),
            "maxProperties" => all.extend(count(value).map(Assertion::FieldsMax)),
            "required" => all.extend(strings(value).map(|name| Assertion::Required(name.into()))),
            "propertyNames" => all.push(Assertion::Names(self.node(value))),
            "dependentRequired" | "dependentSchemas" => self.dependencies(value, all),
            _ => {}
        }
    }

    fn nodes(&mut self, list: &Value) -> Vec<NodeId> {
        list.as_array().into_iter().flatten().map(|schema| self.node(schema)).collect()
    }

    fn pattern(&mut self, text: &str) -> Rc<Pattern> {
        let new = || Rc::new(Pattern::new(text));
        Rc::clone(self.patterns.entry(text.to_owned()).or_insert_with(new))
    }

    fn reference(&mut self, reference: &str) -> NodeId {
        if let Some(&node) = self.by_reference.get(reference) {
            return node;
        }
        let Some(target) = subschema::resolve(self.root, reference).cloned() else {
            // An address out of the document, which names one schema wherever it is used.
            return self.arena.add(vec![Assertion::Opaque(reference.into())]);
        };
        let node = self.arena.reserve();
        self.by_reference.insert(reference.to_owned(), node);
        let inner = self.node(&target);
        self.arena.fill(node, vec![Assertion::All(vec![inner])]);
        node
    }

    /// A condition on an object that has a field, as a choice: it lacks the field, or it meets the condition.
    fn dependencies(&mut self, value: &Value, all: &mut Vec<Assertion>) {
        for (name, condition) in value.as_object().into_iter().flatten() {
            let has = self
                .arena
                .add(vec![Assertion::Kinds(vec![Kind::Object]), Assertion::Required(name.as_str().into())]);
            let lacks = self.arena.add(vec![Assertion::Not(has)]);
            let meets = match condition {
                Value::Array(_) => {
                    let names = strings(condition).map(|name| Assertion::Required(name.into())).collect();
                    self.arena.add(names)
                }
                schema => self.node(schema),
            };
            all.push(Assertion::Any(vec![lacks, meets]));
        }
    }

    fn items(&mut self, keywords: &Map<String, Value>, all: &mut Vec<Assertion>) {
        let prefix = keywords.get("prefixItems").map(|list| self.nodes(list)).unwrap_or_default();
        let rest = keywords.get("items").map_or(TRUE, |schema| self.node(schema));
        if rest != TRUE || prefix.iter().any(|&node| node != TRUE) {
            all.push(Assertion::Items(Rc::new(Items { prefix, rest })));
        }
    }

    fn fields(&mut self, keywords: &Map<String, Value>, all: &mut Vec<Assertion>) {
        let named = |keyword: &str| keywords.get(keyword).and_then(Value::as_object).into_iter().flatten();
        let by_name: BTreeMap<_, _> =
            named("properties").map(|(name, schema)| (name.clone(), self.node(schema))).collect();
        let mut patterns = Vec::new();
        for (text, schema) in named("patternProperties") {
            let pattern = self.pattern(text);
            patterns.push((pattern, self.node(schema)));
        }
        let rest = keywords.get("additionalProperties").map_or(TRUE, |schema| self.node(schema));
        if rest != TRUE || !by_name.is_empty() || !patterns.is_empty() {
            all.push(Assertion::Fields(Rc::new(Fields { named: by_name, patterns, rest })));
        }
    }
}

fn count(value: &Value) -> Option<u64> {
    let float = value.as_f64().filter(|float| *float >= 0.0 && float.fract() == 0.0 && *float < 1e15);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole, positive and below 2^53"
    )]
    value.as_u64().or(float.map(|float| float as u64))
}

fn strings(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str)
}

fn kinds(value: &Value) -> Vec<Kind> {
    let names: Vec<&str> = value.as_str().into_iter().chain(strings(value)).collect();
    let mut kinds = Vec::new();
    for name in names {
        kinds.extend_from_slice(match name {
            "null" => &[Kind::Null],
            "boolean" => &[Kind::Bool],
            "integer" => &[Kind::Integer],
            "number" => &[Kind::Integer, Kind::Fraction],
            "string" => &[Kind::String],
            "array" => &[Kind::Array],
            "object" => &[Kind::Object],
            _ => &[],
        });
    }
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}
