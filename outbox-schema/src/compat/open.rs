//! Open enums: where a reader takes values that no schema names, as by `#[serde(other)]`.
//!
//! No schema says so. The type is asked: a name that nobody has ever heard of is put into payloads of its contract.
//! What is found stands in the contract, and the reader is compared as what it is.

use crate::asked::About;
use crate::contract::{MEMBERS, text_without_members};
use crate::{Contract, EventDescriptor, RoundTripError, subschema};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A name that is in no enum.
const UNHEARD_OF: &str = "outbox-unheard-of";
const TRIES_MAX: usize = 6;
/// Steps through a schema at one place, as references may lead round.
pub(super) const NESTING_MAX: usize = 24;
const UNIONS: [&str; 2] = ["oneOf", "anyOf"];

/// Names by place.
pub(crate) type Names = BTreeMap<String, BTreeSet<String>>;

/// The places, as JSON pointers with `*` for positions in lists and names in maps, where the type of `event` takes any
/// name though `contract` has only some; `payloads` are made from it. The names that the type says it knows beside
/// them are put into `names`.
pub(crate) fn find(
    event: &EventDescriptor,
    contract: &Contract,
    payloads: &[Value],
    names: &mut Names,
) -> BTreeSet<String> {
    let mut tried: BTreeMap<String, (usize, bool)> = BTreeMap::new();
    let root = Root::new(&contract.reads);
    let nodes = in_place(&contract.reads, &contract.reads);
    for payload in payloads {
        let mut texts = Vec::new();
        root.collect_texts(&nodes, payload, None, &mut texts);
        for Text { place, pointer, nodes } in texts {
            let unheard_of = || with_unheard_of(payload, &pointer);
            if !tried.contains_key(&place) {
                let mut known = names_known(event, &unheard_of());
                nodes.iter().flat_map(|node| spelled_out(node)).for_each(|name| _ = known.remove(name));
                names.entry(place.clone()).or_default().extend(known);
            }
            let (count, all) = tried.entry(place).or_insert((0, true));
            if *count < TRIES_MAX && *all {
                *count += 1;
                *all = takes(event, &unheard_of());
            }
        }
    }
    tried.into_iter().filter(|(_, (_, all))| *all).map(|(place, _)| place).collect()
}

/// The payload with a name that nobody knows in that place.
fn with_unheard_of(payload: &Value, pointer: &str) -> Value {
    let mut payload = payload.clone();
    if let Some(text) = payload.pointer_mut(pointer) {
        *text = Value::from(UNHEARD_OF);
    }
    payload
}

/// The names that the type knows in the place of the one that nobody knows.
fn names_known(event: &EventDescriptor, payload: &Value) -> BTreeSet<String> {
    let asked = (event.asked)(payload).into_iter();
    let known = asked.filter(|asked| matches!(&asked.about, About::Name(name) if name == UNHEARD_OF));
    known.flat_map(|known| known.names).map(|&name| name.to_owned()).collect()
}

fn takes(event: &EventDescriptor, payload: &Value) -> bool {
    let text = text_without_members(payload);
    catch_unwind(AssertUnwindSafe(|| (event.round_trip)(&text)))
        .is_ok_and(|outcome| !matches!(outcome, Err(RoundTripError::Refused(_))))
}

/// A step into a payload. Most lead to no text in question, so their pointers are not written before it is known.
struct Step<'a> {
    around: Option<&'a Step<'a>>,
    /// The name, or `*` where it stands for any.
    general: &'a str,
    exact: Cow<'a, str>,
}

impl Step<'_> {
    /// The JSON pointers of the general place and the exact one.
    fn pointers(&self) -> (String, String) {
        let (place, pointer) = self.around.map(Step::pointers).unwrap_or_default();
        (format!("{place}/{}", escaped(self.general)), format!("{pointer}/{}", escaped(&self.exact)))
    }

    fn is_member_of_payload(&self) -> bool {
        self.around.is_none() && MEMBERS.contains(&&*self.exact)
    }
}

/// A text in a payload that is one of the names its schema spells out.
struct Text<'a> {
    place: String,
    pointer: String,
    nodes: Vec<&'a Value>,
}

/// A schema, and every name that is spelled out somewhere in it.
struct Root<'a> {
    schema: &'a Value,
    names: BTreeSet<&'a str>,
}

impl<'a> Root<'a> {
    fn new(schema: &'a Value) -> Self {
        fn collect<'a>(node: &'a Value, names: &mut BTreeSet<&'a str>) {
            let Value::Object(keywords) = node else { return };
            names.extend(spelled_out(node));
            subschema::for_each(keywords, &mut |child| collect(child, names));
        }
        let mut names = BTreeSet::new();
        collect(schema, &mut names);
        Self { schema, names }
    }

    /// Whether one of the names may be in `value`. Few parts of a payload hold any, and the schemas of the others need
    /// no looking up.
    fn may_hold_name(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.names.contains(text.as_str()),
            Value::Array(items) => items.iter().any(|item| self.may_hold_name(item)),
            Value::Object(fields) => fields.values().any(|field| self.may_hold_name(field)),
            _ => false,
        }
    }

    /// Every text in `value`, whose schema is in `nodes`, that is one of its own names.
    fn collect_texts(
        &self,
        nodes: &[&'a Value],
        value: &Value,
        at: Option<&Step<'_>>,
        found: &mut Vec<Text<'a>>,
    ) {
        match value {
            Value::String(text) => {
                let step = at.filter(|at| !at.is_member_of_payload());
                let is_name = || nodes.iter().any(|node| spelled_out(node).any(|name| name == text));
                found.extend(step.filter(|_| is_name()).map(|step| {
                    let (place, pointer) = step.pointers();
                    Text { place, pointer, nodes: nodes.to_vec() }
                }));
            }
            Value::Array(items) => {
                let nodes = inner(self.schema, nodes, "*");
                for (index, item) in items.iter().enumerate().filter(|(_, item)| self.may_hold_name(item)) {
                    let step = Step { around: at, general: "*", exact: index.to_string().into() };
                    self.collect_texts(&nodes, item, Some(&step), found);
                }
            }
            Value::Object(fields) => {
                for (name, field) in fields.iter().filter(|(_, field)| self.may_hold_name(field)) {
                    let is_declared =
                        |node: &&Value| node.get("properties").is_some_and(|own| own.get(name).is_some());
                    let general = if nodes.iter().any(is_declared) { name } else { "*" };
                    let step = Step { around: at, general, exact: name.into() };
                    self.collect_texts(&inner(self.schema, nodes, name), field, Some(&step), found);
                }
            }
            _ => {}
        }
    }
}

pub(super) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The names that a node allows alone.
pub(super) fn spelled_out(node: &Value) -> impl Iterator<Item = &str> {
    let several = node.get("enum").and_then(Value::as_array).into_iter().flatten();
    node.get("const").into_iter().chain(several).filter_map(Value::as_str)
}

/// The nodes for the member `name` of what `nodes` describe, with everything that applies in place.
pub(super) fn inner<'a>(root: &'a Value, nodes: &[&'a Value], name: &str) -> Vec<&'a Value> {
    let mut found = Vec::new();
    for node in nodes {
        let named = node.get("properties").and_then(|fields| fields.get(name));
        let rest = ["additionalProperties", "items"].into_iter().filter_map(|keyword| node.get(keyword));
        let listed = node.get("prefixItems").and_then(Value::as_array).into_iter().flatten();
        match named {
            Some(named) => found.push(named),
            None if name == "*" => found.extend(rest.chain(listed)),
            None => found.extend(node.get("additionalProperties")),
        }
    }
    found.into_iter().flat_map(|node| in_place(root, node)).collect()
}

/// `node` and every schema that applies to the same value.
pub(super) fn in_place<'a>(root: &'a Value, node: &'a Value) -> Vec<&'a Value> {
    let mut all = Vec::new();
    collect_in_place(root, node, NESTING_MAX, &mut all);
    all
}

fn collect_in_place<'a>(root: &'a Value, node: &'a Value, nesting: usize, all: &mut Vec<&'a Value>) {
    all.push(node);
    let Some(nesting) = nesting.checked_sub(1) else { return };
    let lists = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|keyword| node.get(keyword)?.as_array());
    let target = node.get("$ref").and_then(Value::as_str).and_then(|to| subschema::resolve(root, to));
    lists.flatten().chain(target).for_each(|part| collect_in_place(root, part, nesting, all));
}

/// `reads` as the type really reads: any name at each of the open `places`, but those that `other` gives a meaning to.
pub(super) fn opened(reads: Value, places: &BTreeSet<String>, other: &Value) -> Value {
    if places.is_empty() {
        return reads;
    }
    let mut opened = reads.clone();
    for place in places {
        let parts: Vec<String> =
            place.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~")).collect();
        let mut found = Found { root: &reads, openings: BTreeMap::new() };
        found.collect(String::new(), &parts, NESTING_MAX, &BTreeSet::new());
        let mut nodes = in_place(other, other);
        parts.iter().for_each(|part| nodes = inner(other, &nodes, part));
        let meant: BTreeSet<String> =
            nodes.iter().flat_map(|node| spelled_out(node)).map(str::to_owned).collect();
        for (pointer, opening) in found.openings {
            if let Some(Value::Object(keywords)) = opened.pointer_mut(&pointer) {
                match opening {
                    Opening::Tag(tag, known) => take_any_tag(keywords, &tag, &known.union(&meant).collect()),
                    Opening::Name(not) => take_any_name(keywords, &not),
                }
            }
        }
    }
    opened
}

/// How a node takes any name.
enum Opening {
    /// It is one of the names, or any that is none of these: they name variants with content.
    Name(BTreeSet<String>),
    /// It is a union, told apart by a tag; one of these is known.
    Tag(String, BTreeSet<String>),
}

/// The nodes to be opened, by their JSON pointer.
struct Found<'a> {
    root: &'a Value,
    openings: BTreeMap<String, Opening>,
}

impl Found<'_> {
    fn collect(&mut self, pointer: String, parts: &[String], nesting: usize, variants: &BTreeSet<String>) {
        let (Some(node), Some(nesting)) = (self.root.pointer(&pointer), nesting.checked_sub(1)) else {
            return;
        };
        if let ([tag], Some(branches)) = (parts, union_of(node)) {
            let known: BTreeSet<String> =
                branches.iter().flat_map(|branch| tags_of(self.root, branch, tag)).collect();
            if !known.is_empty() {
                self.openings.insert(pointer, Opening::Tag(tag.clone(), known));
                return;
            }
        }
        if parts.is_empty() && spelled_out(node).next().is_some() {
            self.openings.insert(pointer, Opening::Name(variants.clone()));
            return;
        }
        let variants: BTreeSet<String> = variants.iter().cloned().chain(variants_of(node)).collect();
        let reference = node.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
        if let Some(target) = reference {
            self.collect(target.to_owned(), parts, nesting, &variants);
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            for index in 0..node.get(keyword).and_then(Value::as_array).map_or(0, Vec::len) {
                self.collect(format!("{pointer}/{keyword}/{index}"), parts, nesting, &variants);
            }
        }
        let [part, rest @ ..] = parts else { return };
        let mut children = Vec::new();
        if node.get("properties").is_some_and(|fields| fields.get(part).is_some()) {
            children.push(format!("properties/{}", escaped(part)));
        } else if node.get("additionalProperties").is_some() {
            children.push("additionalProperties".to_owned());
        }
        if part == "*" {
            children.push("items".to_owned());
            let listed = node.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
            children.extend((0..listed).map(|index| format!("prefixItems/{index}")));
        }
        for child in children {
            self.collect(format!("{pointer}/{child}"), rest, NESTING_MAX, &BTreeSet::new());
        }
    }
}

/// The variants of a union that are written as an object with their name as its only field.
fn variants_of(node: &Value) -> impl Iterator<Item = String> {
    let fields =
        union_of(node).into_iter().flatten().filter_map(|branch| branch.get("properties")?.as_object());
    fields.filter(|fields| fields.len() == 1).flat_map(|fields| fields.keys().cloned().collect::<Vec<_>>())
}

fn union_of(node: &Value) -> Option<&Vec<Value>> {
    UNIONS.into_iter().find_map(|keyword| node.get(keyword)?.as_array())
}

/// The names by which `tag` tells this branch from the others.
fn tags_of(root: &Value, branch: &Value, tag: &str) -> Vec<String> {
    let nodes = in_place(root, branch).into_iter();
    let tags = nodes.filter_map(|node| node.get("properties")?.get(tag)).flat_map(spelled_out);
    tags.map(str::to_owned).collect()
}

fn take_any_name(keywords: &mut Map<String, Value>, not: &BTreeSet<String>) {
    keywords.remove("enum");
    keywords.remove("const");
    keywords.insert("type".to_owned(), Value::from("string"));
    if !not.is_empty() {
        keywords.insert("not".to_owned(), json!({ "enum": not }));
    }
}

fn take_any_tag(keywords: &mut Map<String, Value>, tag: &str, known: &BTreeSet<&String>) {
    let other = json!({
        "type": "object",
        "properties": { tag: { "type": "string", "not": { "enum": known } } },
        "required": [tag],
    });
    for keyword in UNIONS {
        if let Some(Value::Array(branches)) = keywords.get_mut(keyword) {
            branches.push(other);
            return;
        }
    }
}

#[cfg(test)]
mod tests;
