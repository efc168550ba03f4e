//! Follows every reference, and numbers what is referred to: names, anchors and addresses decide nothing.

use super::address;
use super::dialect::Dialect;
use crate::subschema;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Definitions of one document; dynamic references make several of one schema.
const DEFINITIONS_MAX: usize = 5_000;
/// Keywords whose schemas apply to the very value at hand.
const IN_PLACE: &[&str] =
    &["$ref", "allOf", "anyOf", "dependencies", "dependentSchemas", "else", "if", "not", "oneOf", "then"];

/// A schema in place: itself, the address that references in it start from, and where dynamic ones lead.
#[derive(Clone)]
struct Place<'a> {
    node: &'a Value,
    base: String,
    scope: Scope<'a>,
}

/// By the name of an anchor, the schema that a dynamic reference to it leads to: the first met on the way.
type Scope<'a> = BTreeMap<&'a str, &'a Value>;

/// What tells definitions apart.
type Key<'a> = (*const Value, Vec<(&'a str, *const Value)>);

/// Everything in a document that a reference can name.
struct Document<'a> {
    dialect: Dialect,
    resources: HashMap<String, &'a Value>,
    anchors: HashMap<(String, String), &'a Value>,
    /// The base of every schema that stands where a schema is expected, but for that of the document.
    bases: HashMap<*const Value, String>,
    /// The dynamic anchors of each base; that of a `$recursiveAnchor` has no name.
    dynamic: HashMap<String, Scope<'a>>,
}

/// `schema` with references to `#/$defs/0`, `#/$defs/1` and so on, and only with keywords that decide.
///
/// A reference out of the document stays as it is.
///
/// # Errors
/// The reason why a reference can't be followed.
pub(super) fn bundle(schema: &Value, dialect: Dialect) -> Result<Value, String> {
    let (resources, anchors, bases, dynamic) = Default::default();
    let mut document = Document { dialect, resources, anchors, bases, dynamic };
    document.resources.insert(String::new(), schema);
    document.index(schema, "");
    let mut bundler = Bundler { document: &document, numbers: HashMap::new(), waiting: Vec::new() };
    let mut root = bundler.emit(&document.enter(schema, "", &Scope::new()))?;
    let mut definitions = Map::new();
    let mut done = 0;
    while let Some(place) = bundler.waiting.get(done).cloned() {
        definitions.insert(done.to_string(), bundler.emit(&place)?);
        done += 1;
        if done > DEFINITIONS_MAX {
            return Err("there are too many references".to_owned());
        }
    }
    if let (Value::Object(keywords), false) = (&mut root, definitions.is_empty()) {
        keywords.insert("$defs".to_owned(), Value::Object(definitions));
    }
    if is_circular(&root) {
        return Err("a schema refers to itself without a step into the value".to_owned());
    }
    Ok(root)
}

impl<'a> Document<'a> {
    fn index(&mut self, node: &'a Value, around: &str) {
        let Value::Object(keywords) = node else { return };
        let (address, anchor) = self.dialect.identity(keywords);
        let base = address.map_or_else(|| around.to_owned(), |address| address::join(around, address));
        if !base.is_empty() {
            self.bases.insert(std::ptr::from_ref(node), base.clone());
        }
        if address.is_some() {
            self.resources.insert(base.clone(), node);
        }
        let dynamic = keywords.get("$dynamicAnchor").and_then(Value::as_str);
        for anchor in anchor.into_iter().chain(dynamic) {
            self.anchors.insert((base.clone(), anchor.to_owned()), node);
        }
        let recursive = (keywords.get("$recursiveAnchor") == Some(&Value::Bool(true))).then_some("");
        for anchor in dynamic.into_iter().chain(recursive) {
            self.dynamic.entry(base.clone()).or_default().insert(anchor, node);
        }
        subschema::for_each(keywords, &mut |child| self.index(child, &base));
    }

    /// `node` as met inside of a schema with the base `around`, on a way that has set `scope`.
    fn enter(&self, node: &'a Value, around: &str, scope: &Scope<'a>) -> Place<'a> {
        let base = self.bases.get(&std::ptr::from_ref(node)).cloned().unwrap_or_else(|| around.to_owned());
        let mut scope = scope.clone();
        for (&anchor, &target) in self.dynamic.get(&base).into_iter().flatten() {
            scope.entry(anchor).or_insert(target);
        }
        Place { node, base, scope }
    }

    /// What `reference` names, seen from `place`, and the base around it.
    fn resolve(&self, place: &Place<'a>, reference: &str) -> Option<(&'a Value, String)> {
        let (path, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let fragment = subschema::percent_decoded(fragment)?;
        let mut base = address::join(&place.base, path);
        let &(mut node) = self.resources.get(&base)?;
        if !fragment.is_empty() && !fragment.starts_with('/') {
            let key = (base, fragment);
            return Some((self.anchors.get(&key)?, key.0));
        }
        for part in fragment.split('/').skip(1) {
            let name = part.replace("~1", "/").replace("~0", "~");
            node = match node {
                Value::Object(members) => members.get(&name)?,
                Value::Array(items) => items.get(name.parse::<usize>().ok()?)?,
                _ => return None,
            };
            base = self.bases.get(&std::ptr::from_ref(node)).cloned().unwrap_or(base);
        }
        Some((node, base))
    }
}

/// The anchor that makes a reference by `keyword` a dynamic one, if `target` sets it.
fn dynamic_anchor<'r>(keyword: &str, reference: &'r str, target: &Value) -> Option<&'r str> {
    match keyword {
        "$recursiveRef" => (target.get("$recursiveAnchor") == Some(&Value::Bool(true))).then_some(""),
        "$dynamicRef" => {
            let (_, named) = reference.split_once('#')?;
            (target.get("$dynamicAnchor").and_then(Value::as_str) == Some(named)).then_some(named)
        }
        _ => None,
    }
}

struct Bundler<'d, 'a> {
    document: &'d Document<'a>,
    numbers: HashMap<Key<'a>, usize>,
    waiting: Vec<Place<'a>>,
}

impl<'a> Bundler<'_, 'a> {
    fn emit(&mut self, place: &Place<'a>) -> Result<Value, String> {
        let Value::Object(keywords) = place.node else { return Ok(place.node.clone()) };
        let dialect = self.document.dialect;
        let mut kept = Map::new();
        let mut targets = BTreeSet::new();
        for (keyword, value) in keywords.iter().filter(|(keyword, _)| dialect.decides(keyword)) {
            match (keyword.as_str(), value) {
                ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(reference)) => {
                    targets.insert(self.reference(place, keyword, reference)?);
                }
                _ => {
                    let inner = subschema::map(keyword, value, &mut |child| {
                        self.emit(&self.document.enter(child, &place.base, &place.scope))
                    })?;
                    kept.insert(keyword.clone(), inner);
                }
            }
        }
        let mut references = targets.into_iter().map(|to| json!({ "$ref": to }));
        if dialect.has_lone_references() && keywords.contains_key("$ref") {
            return Ok(references.next().unwrap_or(Value::Bool(true)));
        }
        if let Some(Value::Object(first)) = references.next() {
            kept.extend(first);
        }
        for more in references {
            kept.entry("allOf")
                .or_insert_with(|| json!([]))
                .as_array_mut()
                .into_iter()
                .for_each(|all| all.push(more.clone()));
        }
        Ok(Value::Object(kept))
    }

    /// The number of the definition that a reference names, as a reference.
    fn reference(&mut self, place: &Place<'a>, keyword: &str, reference: &str) -> Result<String, String> {
        let Some((mut target, mut base)) = self.document.resolve(place, reference) else {
            let (path, _) = reference.split_once('#').unwrap_or((reference, ""));
            let outside = address::join(&place.base, path);
            return if path.is_empty() || !outside.contains(':') {
                Err(format!("`{keyword}: {reference}` leads nowhere"))
            } else {
                Ok(format!("{outside}{}", &reference[path.len()..]))
            };
        };
        if let Some(&first) =
            dynamic_anchor(keyword, reference, target).and_then(|anchor| place.scope.get(anchor))
        {
            (target, base) = (first, String::new());
        }
        let place = self.document.enter(target, &base, &place.scope);
        let scope = place.scope.iter().map(|(&anchor, &node)| (anchor, std::ptr::from_ref(node))).collect();
        let next = self.numbers.len();
        let number = *self.numbers.entry((std::ptr::from_ref(target), scope)).or_insert(next);
        if number == next {
            self.waiting.push(place);
        }
        Ok(format!("#/$defs/{number}"))
    }
}

/// Whether some schema refers to itself with no step into the value in between, which says nothing.
fn is_circular(root: &Value) -> bool {
    let Some(definitions) = root.get("$defs").and_then(Value::as_object) else { return false };
    let mut reached: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (number, definition) in definitions {
        collect_references_in_place(definition, reached.entry(number).or_default());
    }
    // Whatever leads to no further reference is harmless; what is left when no such is found goes round.
    loop {
        let before = reached.len();
        let open: BTreeSet<&str> = reached.keys().copied().collect();
        reached.retain(|_, targets| targets.iter().any(|target| open.contains(target)));
        if reached.len() == before {
            return before > 0;
        }
    }
}

fn collect_references_in_place<'a>(node: &'a Value, found: &mut BTreeSet<&'a str>) {
    let Value::Object(keywords) = node else { return };
    for (keyword, value) in keywords.iter().filter(|(keyword, _)| IN_PLACE.contains(&keyword.as_str())) {
        if keyword == "$ref" {
            found.extend(value.as_str().and_then(|target| target.strip_prefix("#/$defs/")));
        }
        subschema::for_each_in(keyword, value, &mut |child| collect_references_in_place(child, found));
    }
}
