//! Says `unevaluatedProperties` and `unevaluatedItems` with keywords that look at nothing but their own schema.
//!
//! What such a keyword leaves alone depends on which branches of its siblings hold. Each combination of branches is
//! one way: its branches hold, and whatever they do not evaluate satisfies the keyword. A schema holds if any of its
//! ways does. A way with fewer branches asks for more, so that ways need not exclude each other.

use crate::subschema;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Ways of one schema that are told apart; with more of them the keyword stays.
const WAYS_MAX: usize = 64;
/// References followed within one value.
const DEPTH_MAX: usize = 16;

const FIELDS: &str = "unevaluatedProperties";
const ITEMS: &str = "unevaluatedItems";

/// What is evaluated where some branches hold.
#[derive(Debug, Clone, Default, PartialEq)]
struct Way {
    conditions: Vec<Value>,
    fields: Seen,
    items: Seen,
}

#[derive(Debug, Clone, Default, PartialEq)]
struct Seen {
    everything: bool,
    names: BTreeSet<String>,
    patterns: BTreeSet<String>,
    first: usize,
    contained: Vec<Value>,
}

impl Seen {
    fn with(mut self, other: Self) -> Self {
        self.everything |= other.everything;
        self.names.extend(other.names);
        self.patterns.extend(other.patterns);
        self.first = self.first.max(other.first);
        self.contained.extend(other.contained);
        self
    }
}

impl Way {
    fn sees_nothing(&self) -> bool {
        self.fields == Seen::default() && self.items == Seen::default()
    }
}

/// Whether `node` or a schema in it has one of the two keywords.
pub(super) fn is_mentioned(node: &Value) -> bool {
    let Value::Object(keywords) = node else { return false };
    let mut found = keywords.contains_key(FIELDS) || keywords.contains_key(ITEMS);
    subschema::for_each(keywords, &mut |child| found = found || is_mentioned(child));
    found
}

/// The root and how its draft reads `contains`.
pub(super) struct Rewriter<'a> {
    pub(super) root: &'a Value,
    pub(super) contains_evaluates: bool,
}

impl Rewriter<'_> {
    /// `node` and everything in it without the two keywords, wherever there are not too many ways.
    pub(super) fn rewrite(&self, node: &Value) -> Value {
        let Value::Object(keywords) = node else { return node.clone() };
        let mut rewritten = Map::new();
        for (keyword, value) in keywords {
            let inner = subschema::map(keyword, value, &mut |child| Ok::<_, ()>(self.rewrite(child)));
            rewritten.insert(keyword.clone(), inner.unwrap_or_else(|()| value.clone()));
        }
        for keyword in [FIELDS, ITEMS] {
            let Some(rest) = rewritten.get(keyword).cloned() else { continue };
            let mut siblings = keywords.clone();
            siblings.remove(FIELDS);
            siblings.remove(ITEMS);
            let Some(ways) = self.ways(&Value::Object(siblings), DEPTH_MAX) else { continue };
            rewritten.remove(keyword);
            let met: Vec<Value> = ways.iter().map(|way| self.met(way, keyword, &rest)).collect();
            if !met.contains(&Value::Bool(true)) {
                let all = rewritten.entry("allOf").or_insert_with(|| json!([]));
                all.as_array_mut().into_iter().for_each(|all| all.push(joined("anyOf", met.clone())));
            }
        }
        Value::Object(rewritten)
    }

    /// That the branches of `way` hold, and `rest` for what they leave.
    fn met(&self, way: &Way, keyword: &str, rest: &Value) -> Value {
        let mut all: Vec<Value> = way.conditions.iter().map(|condition| self.rewrite(condition)).collect();
        let always = |_: &String| Value::Bool(true);
        if keyword == FIELDS && !way.fields.everything {
            let named: Map<_, _> = way.fields.names.iter().map(|name| (name.clone(), always(name))).collect();
            let matched: Map<_, _> =
                way.fields.patterns.iter().map(|text| (text.clone(), always(text))).collect();
            let matched =
                if matched.is_empty() { json!({}) } else { json!({ "patternProperties": matched }) };
            let mut fields = json!({ "properties": named, "additionalProperties": rest });
            fields
                .as_object_mut()
                .into_iter()
                .for_each(|fields| fields.extend(matched.as_object().cloned().unwrap_or_default()));
            all.push(fields);
        } else if keyword == ITEMS && !way.items.everything {
            let contained = way.items.contained.iter().map(|schema| self.rewrite(schema));
            let rest = joined("anyOf", contained.chain([rest.clone()]).collect());
            let mut items = json!({ "items": rest });
            if way.items.first > 0 {
                items["prefixItems"] = Value::from(vec![true; way.items.first]);
            }
            all.push(items);
        }
        if all.is_empty() { Value::Bool(true) } else { joined("allOf", all) }
    }

    /// The ways in which `node` evaluates; `None` if there are too many.
    fn ways(&self, node: &Value, depth: usize) -> Option<Vec<Way>> {
        let depth = depth.checked_sub(1)?;
        let Value::Object(keywords) = node else { return Some(vec![Way::default()]) };
        let mut ways = vec![Way {
            conditions: Vec::new(),
            fields: own_fields(keywords),
            items: self.own_items(keywords),
        }];
        let list = |keyword: &str| keywords.get(keyword).and_then(Value::as_array).into_iter().flatten();
        let target = keywords.get("$ref").and_then(Value::as_str);
        let target = target.and_then(|reference| subschema::resolve(self.root, reference));
        for part in list("allOf").chain(target) {
            ways = both(ways, self.ways(part, depth)?)?;
        }
        for branch in list("anyOf") {
            ways = both(ways, self.perhaps(branch, branch.clone(), depth)?)?;
        }
        let mut either = vec![Way::default()];
        for branch in list("oneOf") {
            either.extend(self.perhaps(branch, branch.clone(), depth)?.into_iter().skip(1));
        }
        ways = both(ways, either)?;
        if let Some(condition) = keywords.get("if") {
            let mut either = vec![Way::default()];
            let then = keywords.get("then").map_or_else(|| json!({}), Value::clone);
            let met = both(self.ways(condition, depth)?, self.ways(&then, depth)?)?;
            either.extend(met.into_iter().map(|way| under(way, condition.clone())));
            if let Some(otherwise) = keywords.get("else") {
                either
                    .extend(self.perhaps(otherwise, json!({ "not": condition }), depth)?.into_iter().skip(1));
            }
            ways = both(ways, either)?;
        }
        for (name, schema) in
            keywords.get("dependentSchemas").and_then(Value::as_object).into_iter().flatten()
        {
            let has = json!({ "type": "object", "required": [name] });
            ways = both(ways, self.perhaps(schema, has, depth)?)?;
        }
        Some(ways)
    }

    /// Nothing, or what `branch` evaluates where `condition` holds.
    fn perhaps(&self, branch: &Value, condition: Value, depth: usize) -> Option<Vec<Way>> {
        let ways = self.ways(branch, depth)?.into_iter().filter(|way| !way.sees_nothing());
        let ways = ways.map(|way| under(way, condition.clone()));
        Some(std::iter::once(Way::default()).chain(ways).collect())
    }

    fn own_items(&self, keywords: &Map<String, Value>) -> Seen {
        let first = keywords.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
        let contained = keywords.get("contains").filter(|_| self.contains_evaluates);
        let everything = keywords.contains_key("items") || keywords.contains_key(ITEMS);
        Seen { everything, first, contained: contained.cloned().into_iter().collect(), ..Seen::default() }
    }
}

/// One schema of several.
fn joined(keyword: &str, mut schemas: Vec<Value>) -> Value {
    if schemas.len() == 1 { schemas.remove(0) } else { json!({ keyword: schemas }) }
}

fn own_fields(keywords: &Map<String, Value>) -> Seen {
    let names = |keyword: &str| {
        keywords
            .get(keyword)
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(|named| named.keys().cloned())
            .collect()
    };
    let everything = keywords.contains_key("additionalProperties") || keywords.contains_key(FIELDS);
    Seen { everything, names: names("properties"), patterns: names("patternProperties"), ..Seen::default() }
}

fn under(mut way: Way, condition: Value) -> Way {
    way.conditions.push(condition);
    way
}

/// Every way of the left together with every way of the right.
fn both(left: Vec<Way>, right: Vec<Way>) -> Option<Vec<Way>> {
    let mut all: Vec<Way> = Vec::new();
    for way in &left {
        for other in &right {
            let conditions = way.conditions.iter().chain(&other.conditions).cloned().collect();
            let fields = way.fields.clone().with(other.fields.clone());
            let both = Way { conditions, fields, items: way.items.clone().with(other.items.clone()) };
            if !all.contains(&both) {
                all.push(both);
            }
        }
        if all.len() > WAYS_MAX {
            return None;
        }
    }
    Some(all)
}
