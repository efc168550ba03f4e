//! What changed between two schemas, in the words of a struct: fields, types, values.
//!
//! Says what changed, never whether it breaks: that is for the verdict. Both schemas are walked side by side, so a
//! type that contains itself ends where a pair of nodes comes up again, and names of definitions play no part.

use crate::subschema;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// One change, at the path of field names and `*` for the items of a list or the values of a map.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Change {
    pub(crate) path: Vec<String>,
    pub(crate) kind: ChangeKind,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ChangeKind {
    Added {
        required: bool,
    },
    Removed,
    NowRequired,
    NowOptional,
    NowNull,
    NeverNull,
    Type {
        old: String,
        new: String,
    },
    Format {
        old: String,
        new: String,
    },
    ValuesAdded(Vec<String>),
    ValuesRemoved(Vec<String>),
    Default {
        old: String,
        new: String,
    },
    Limits {
        old: String,
        new: String,
    },
    /// The variants of an enum are told apart by other means.
    Representation {
        old: String,
        new: String,
    },
}

impl ChangeKind {
    /// Whether it is about a field being there at all, and not about its value.
    pub(crate) fn is_presence(&self) -> bool {
        matches!(self, Self::Added { .. } | Self::Removed | Self::NowRequired | Self::NowOptional)
    }
}

/// The changes from `old` to `new`, sorted by path.
pub(crate) fn changes(old: &Value, new: &Value) -> Vec<Change> {
    let mut walk = Walk { old, new, open: Vec::new(), looked_at: 0, found: BTreeSet::new() };
    walk.nodes(&[old], &[new], &mut Vec::new());
    walk.found.into_iter().collect()
}

/// Keywords that limit a value without naming its type.
const LIMITS: &[&str] = &[
    "exclusiveMaximum",
    "exclusiveMinimum",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "pattern",
    "uniqueItems",
];

/// Keywords about the parts of a value.
const INNER: &[&str] = &["additionalProperties", "items", "patternProperties", "prefixItems", "properties"];

/// Pairs of nodes that are looked at; a type used in very many places is not described in all of them.
const PAIRS_MAX: usize = 20_000;

/// What the schemas that apply to one value say about it, taken together.
#[derive(Default)]
struct Shape<'a> {
    types: BTreeSet<&'a str>,
    formats: BTreeSet<&'a str>,
    values: BTreeSet<String>,
    defaults: BTreeSet<String>,
    limits: BTreeSet<String>,
    fields: BTreeMap<&'a str, Vec<&'a Value>>,
    required: BTreeSet<&'a str>,
    items: Vec<&'a Value>,
    rest: Vec<&'a Value>,
    /// The nodes that have something inside.
    inner: BTreeSet<*const Value>,
    /// The variants of an enum, by the name that tells them apart.
    variants: BTreeMap<String, Vec<&'a Value>>,
    /// By what the variants are told apart.
    tags: BTreeSet<String>,
}

struct Walk<'a> {
    old: &'a Value,
    new: &'a Value,
    /// The pairs around the one being looked at; one that comes up again is a type that contains itself.
    open: Vec<[BTreeSet<*const Value>; 2]>,
    looked_at: usize,
    found: BTreeSet<Change>,
}

impl<'a> Walk<'a> {
    fn nodes(&mut self, old: &[&'a Value], new: &[&'a Value], path: &mut Vec<String>) {
        let (old, new) = (shape_of(self.old, old), shape_of(self.new, new));
        let pair = [old.inner.clone(), new.inner.clone()];
        self.looked_at += 1;
        let is_repeated = !pair[0].is_empty() && self.open.contains(&pair);
        if self.looked_at > PAIRS_MAX || is_repeated {
            return;
        }
        let retagged = retagged(&old, &new);
        if let Some(kind) = retagged.clone() {
            self.find(path, kind);
        }
        if old.is_untagged(&new) || new.is_untagged(&old) {
            return;
        }
        self.scalars(&old, &new, path);
        // A list that was a struct has other parts as a matter of course.
        if old.is_of_another_kind(&new) {
            return;
        }
        self.open.push(pair);
        self.fields(&old, &new, path);
        for (old, new) in [(&old.items, &new.items), (&old.rest, &new.rest)] {
            if !old.is_empty() && !new.is_empty() {
                path.push("*".to_owned());
                self.nodes(old, new, path);
                path.pop();
            }
        }
        for (name, old) in &old.variants {
            // With the tags all fields differ, which would hide what happened.
            if let Some(new) = new.variants.get(name).filter(|_| retagged.is_none()) {
                self.nodes(old, new, path);
            }
        }
        self.open.pop();
    }

    fn scalars(&mut self, old: &Shape<'_>, new: &Shape<'_>, path: &[String]) {
        if old.types != new.types {
            let kind = match nullness(&old.types, &new.types) {
                Some(kind) => kind,
                None => ChangeKind::Type { old: type_text(old), new: type_text(new) },
            };
            self.find(path, kind);
        }
        if without_null(&old.types) == without_null(&new.types) && old.formats != new.formats {
            let (old, new) = (joined(&old.formats), joined(&new.formats));
            self.find(path, ChangeKind::Format { old, new });
        }
        let added: Vec<String> = new.values.difference(&old.values).cloned().collect();
        let removed: Vec<String> = old.values.difference(&new.values).cloned().collect();
        if !added.is_empty() {
            self.find(path, ChangeKind::ValuesAdded(added));
        }
        if !removed.is_empty() {
            self.find(path, ChangeKind::ValuesRemoved(removed));
        }
        if old.defaults != new.defaults && !old.defaults.is_empty() && !new.defaults.is_empty() {
            self.find(path, ChangeKind::Default { old: listed(&old.defaults), new: listed(&new.defaults) });
        }
        // Another type or format has other limits as a matter of course.
        if old.limits != new.limits
            && without_null(&old.types) == without_null(&new.types)
            && old.formats == new.formats
        {
            self.find(path, ChangeKind::Limits { old: listed(&old.limits), new: listed(&new.limits) });
        }
    }

    fn fields(&mut self, old: &Shape<'a>, new: &Shape<'a>, path: &mut Vec<String>) {
        for (&name, schemas) in &old.fields {
            path.push(name.to_owned());
            match new.fields.get(name) {
                Some(others) => {
                    match (old.required.contains(name), new.required.contains(name)) {
                        (false, true) => self.find(path, ChangeKind::NowRequired),
                        (true, false) => self.find(path, ChangeKind::NowOptional),
                        _ => {}
                    }
                    self.nodes(schemas, others, path);
                }
                // A map that takes any name takes this one as well.
                None if !new.rest.is_empty() => self.nodes(schemas, &new.rest, path),
                None => self.find(path, ChangeKind::Removed),
            }
            path.pop();
        }
        for &name in new.fields.keys().filter(|name| !old.fields.contains_key(*name) && old.rest.is_empty()) {
            path.push(name.to_owned());
            self.find(path, ChangeKind::Added { required: new.required.contains(name) });
            path.pop();
        }
    }

    fn find(&mut self, path: &[String], kind: ChangeKind) {
        self.found.insert(Change { path: path.to_vec(), kind });
    }
}

fn without_null<'a>(types: &BTreeSet<&'a str>) -> BTreeSet<&'a str> {
    types.iter().copied().filter(|&name| name != "null").collect()
}

/// The change if the types differ in nothing but `null`.
fn nullness(old: &BTreeSet<&str>, new: &BTreeSet<&str>) -> Option<ChangeKind> {
    let rest = without_null(old);
    if rest.is_empty() || rest != without_null(new) {
        return None;
    }
    Some(if new.contains("null") { ChangeKind::NowNull } else { ChangeKind::NeverNull })
}

impl Shape<'_> {
    /// Whether this is an enum that lost the names of its variants: their fields are those of the value itself.
    fn is_untagged(&self, tagged: &Shape<'_>) -> bool {
        let is_enum = !tagged.variants.is_empty() && tagged.fields.is_empty();
        is_enum && self.variants.is_empty() && !self.fields.is_empty()
    }

    /// Whether no value can be of both types.
    fn is_of_another_kind(&self, other: &Self) -> bool {
        let types = [self, other].map(|shape| without_null(&shape.types));
        types.iter().all(|types| !types.is_empty()) && types[0].is_disjoint(&types[1])
    }

    fn tag_text(&self) -> String {
        if self.tags.is_empty() { "no tag".to_owned() } else { listed(&self.tags) }
    }
}

/// The change if both are enums with fields that tell their variants apart by other means.
fn retagged(old: &Shape<'_>, new: &Shape<'_>) -> Option<ChangeKind> {
    let shared = old.variants.keys().any(|name| new.variants.contains_key(name));
    let changed = shared && old.tags != new.tags || old.is_untagged(new) || new.is_untagged(old);
    changed.then(|| ChangeKind::Representation { old: old.tag_text(), new: new.tag_text() })
}

/// The schemas of the field at `path`, in whichever variant it is; empty if there is none.
pub(super) fn at<'a>(root: &'a Value, path: &[String]) -> Vec<&'a Value> {
    let mut nodes = vec![root];
    for part in path {
        let mut inner = Vec::new();
        let mut shapes = vec![shape_of(root, &nodes)];
        while let Some(shape) = shapes.pop() {
            shapes.extend(shape.variants.values().map(|variant| shape_of(root, variant)));
            match part.as_str() {
                "*" => inner.extend(shape.items.into_iter().chain(shape.rest)),
                name => inner.extend(shape.fields.get(name).into_iter().flatten()),
            }
        }
        inner.dedup_by(|left, right| std::ptr::eq(*left, *right));
        nodes = inner;
    }
    nodes
}

fn shape_of<'a>(root: &'a Value, nodes: &[&'a Value]) -> Shape<'a> {
    let mut shape = Shape::default();
    let mut seen = BTreeSet::new();
    for node in nodes {
        gather(root, node, &mut seen, &mut shape);
    }
    shape
}

fn gather<'a>(root: &'a Value, node: &'a Value, seen: &mut BTreeSet<*const Value>, shape: &mut Shape<'a>) {
    let Value::Object(keywords) = node else { return };
    if !seen.insert(std::ptr::from_ref(node)) {
        return;
    }
    if INNER.iter().any(|&keyword| keywords.contains_key(keyword)) {
        shape.inner.insert(std::ptr::from_ref(node));
    }
    shape.types.extend(texts(keywords.get("type")));
    shape.formats.extend(texts(keywords.get("format")));
    shape.required.extend(texts(keywords.get("required")));
    shape.values.extend(keywords.get("const").map(plain));
    shape.values.extend(keywords.get("enum").and_then(Value::as_array).into_iter().flatten().map(plain));
    shape.defaults.extend(keywords.get("default").map(plain));
    shape
        .limits
        .extend(LIMITS.iter().filter_map(|&keyword| Some(format!("{keyword} {}", keywords.get(keyword)?))));
    for (name, field) in keywords.get("properties").and_then(Value::as_object).into_iter().flatten() {
        shape.fields.entry(name).or_default().push(field);
    }
    shape.items.extend(keywords.get("items"));
    shape.items.extend(keywords.get("prefixItems").and_then(Value::as_array).into_iter().flatten());
    shape.rest.extend(keywords.get("additionalProperties").filter(|rest| **rest != Value::Bool(false)));
    shape.rest.extend(
        keywords.get("patternProperties").and_then(Value::as_object).into_iter().flat_map(Map::values),
    );
    if let Some(target) =
        keywords.get("$ref").and_then(Value::as_str).and_then(|to| subschema::resolve(root, to))
    {
        gather(root, target, seen, shape);
    }
    for part in keywords.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        gather(root, part, seen, shape);
    }
    for keyword in ["anyOf", "oneOf"] {
        for branch in keywords.get(keyword).and_then(Value::as_array).into_iter().flatten() {
            match variant_name(root, branch) {
                Some(name) => {
                    shape.tags.insert(tag_text(root, branch));
                    shape.values.insert(name.clone());
                    shape.variants.entry(name).or_default().push(branch);
                }
                None => gather(root, branch, seen, shape),
            }
        }
    }
}

/// The name of an enum's variant: its tag, or its only field where a variant is written as one.
pub(crate) fn variant_name(root: &Value, branch: &Value) -> Option<String> {
    let fields = fields_of(root, branch)?;
    if let Some((_, tag)) = tag_of(fields) {
        return Some(plain(tag));
    }
    let alone = fields.len() == 1 && branch.get("additionalProperties") == Some(&Value::Bool(false));
    alone.then(|| fields.keys().next().cloned()).flatten()
}

fn fields_of<'a>(root: &'a Value, branch: &'a Value) -> Option<&'a Map<String, Value>> {
    let target = branch.get("$ref").and_then(Value::as_str).and_then(|to| subschema::resolve(root, to));
    branch.get("properties").or_else(|| target?.get("properties"))?.as_object()
}

/// The field that names the variant, and its value.
fn tag_of(fields: &Map<String, Value>) -> Option<(&String, &Value)> {
    fields.iter().find_map(|(name, field)| Some((name, field.get("const").filter(|tag| tag.is_string())?)))
}

/// By what a variant that has a name is told from others.
fn tag_text(root: &Value, branch: &Value) -> String {
    let tag = fields_of(root, branch).and_then(tag_of);
    tag.map_or_else(|| "a field named after the variant".to_owned(), |(name, _)| format!("the tag `{name}`"))
}

fn texts(value: Option<&Value>) -> impl Iterator<Item = &str> {
    let one = value.and_then(Value::as_str);
    one.into_iter().chain(value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn listed(texts: &BTreeSet<String>) -> String {
    texts.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

fn joined(names: &BTreeSet<&str>) -> String {
    if names.is_empty() { "none".to_owned() } else { names.iter().copied().collect::<Vec<_>>().join(" or ") }
}

fn type_text(shape: &Shape<'_>) -> String {
    let types = if shape.types.is_empty() { "anything".to_owned() } else { joined(&shape.types) };
    let types =
        types.strip_prefix("null or ").map_or_else(|| types.clone(), |rest| format!("{rest} or null"));
    if shape.formats.is_empty() { types } else { format!("{types} ({})", joined(&shape.formats)) }
}

#[cfg(test)]
mod tests;
