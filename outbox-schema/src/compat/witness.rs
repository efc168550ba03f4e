//! Payloads that one side writes and the other refuses: judged by a validator, found by generation, then shrunk.

use super::effort::{self, Allowance};
use super::formats::{self, Formats};
use super::verdict::Witness;
use super::{prove, shrink};
use crate::subschema;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::{Map, Number, Value, json};
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap, HashSet, hash_map::RandomState};
use std::hash::BuildHasher;
use std::rc::Rc;

/// How many values an attack makes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Breadth {
    /// For one schema node.
    values: usize,
    /// For the outermost one.
    of_root: usize,
    /// Of each side, to be mixed with those of the other.
    mixed: usize,
}

impl Breadth {
    /// To decide what nothing else could.
    pub(super) const THOROUGH: Self = Self { values: 24, of_root: 600, mixed: 20 };
    /// To look over a proof that nothing speaks against.
    pub(super) const BRIEF: Self = Self { values: 6, of_root: 150, mixed: 6 };
}

/// Fields of all objects made for one schema node together.
const FIELDS_MAX: usize = 20_000;
/// Nesting that is followed; a recursive type ends here.
const DEPTH_MAX: usize = 5;

/// Both sides, as a validator and as the prover reads them. A payload counts only if the prover agrees with the
/// validator wherever it can tell, as each has limits of its own, such as floating-point division.
///
/// A payload that would take too long to judge proves nothing.
pub(super) struct Judge<'a> {
    writer: Side<'a>,
    reader: Side<'a>,
    allowance: Allowance<'a>,
}

struct Side<'a> {
    schema: &'a Value,
    formats: Formats,
    validator: Validator,
    /// Made once the validators are of the opinion that a payload breaks something, as most never do.
    reading: OnceCell<prove::Reading>,
}

impl<'a> Side<'a> {
    fn new(schema: &'a Value, formats: Formats) -> Option<Self> {
        let validator = formats::options(formats).build(schema).ok()?;
        Some(Self { schema, formats, validator, reading: OnceCell::new() })
    }

    fn reading(&self) -> &prove::Reading {
        self.reading.get_or_init(|| prove::Reading::new(self.schema, self.formats))
    }
}

impl<'a> Judge<'a> {
    pub(super) fn new(writer: &'a Value, reader: &'a Value, formats: Formats) -> Option<Self> {
        let allowance = Allowance::new([writer, reader]);
        Some(Self { writer: Side::new(writer, formats)?, reader: Side::new(reader, formats)?, allowance })
    }

    fn breaks(&self, payload: &Value) -> bool {
        let (writer, reader) = (&self.writer, &self.reader);
        self.allowance.covers(payload)
            && writer.validator.is_valid(payload)
            && !reader.validator.is_valid(payload)
            && writer.reading().accepts(payload) != Some(false)
            && reader.reading().accepts(payload) != Some(true)
    }

    /// The payload as a witness, as small as it gets; `None` if it proves nothing.
    pub(super) fn witness(&self, payload: &Value) -> Option<Witness> {
        if !self.breaks(payload) {
            return None;
        }
        let payload = shrink::smallest(payload.clone(), &|smaller| self.breaks(smaller));
        let (error, pointer) = refusal(&self.reader.validator, &payload)?;
        Some(Witness { payload, error, pointer })
    }
}

/// Why `payload` is refused, and the JSON pointer of the part that is.
pub(super) fn refusal(reader: &Validator, payload: &Value) -> Option<(String, String)> {
    deepest(reader.iter_errors(payload).collect::<Vec<_>>().iter())
}

/// The error that says most about where the trouble is: in a union, that of the branch which went furthest.
fn deepest<'e>(errors: impl Iterator<Item = &'e ValidationError<'e>>) -> Option<(String, String)> {
    let mut best: Option<(String, String)> = None;
    for error in errors {
        let mut pointer = error.instance_path().to_string();
        let inner = match error.kind() {
            ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
                let branches = context.iter().filter_map(|errors| {
                    // A branch whose tag is another one was never meant, and its tag is all there is to say of it.
                    let tag_differs = |error: &&ValidationError<'_>| {
                        matches!(error.kind(), ValidationErrorKind::Constant { .. })
                    };
                    if let Some(error) = errors.iter().find(tag_differs) {
                        return Some((false, (error.to_string(), error.instance_path().to_string())));
                    }
                    let found = deepest(&mut errors.iter() as &mut dyn Iterator<Item = _>)?;
                    Some((true, found))
                });
                let best = branches.max_by_key(|(is_meant, (_, at))| (*is_meant, at.matches('/').count()));
                best.map(|(_, found)| found)
            }
            ValidationErrorKind::Required { property } => {
                pointer = format!("{pointer}/{}", escaped(property.as_str().unwrap_or_default()));
                None
            }
            ValidationErrorKind::AdditionalProperties { unexpected } => {
                pointer = format!("{pointer}/{}", escaped(unexpected.first().map_or("", String::as_str)));
                None
            }
            _ => None,
        };
        let found = inner.filter(|(_, inner)| inner.len() > pointer.len());
        let found = found.unwrap_or_else(|| (error.to_string(), pointer));
        if best.as_ref().is_none_or(|(_, known)| known.matches('/').count() < found.1.matches('/').count()) {
            best = Some(found);
        }
    }
    best
}

/// A name as a part of a JSON pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Looks for a witness among values made from both schemas.
pub(super) fn search(judge: &Judge<'_>, writer: &Value, reader: &Value, breadth: Breadth) -> Option<Witness> {
    let values = |root| {
        let generator = Generator { root, values_max: breadth.values, known: RefCell::default() };
        generator.values(root, DEPTH_MAX, breadth.of_root)
    };
    let (written, read) = (values(writer), values(reader));
    let of_both = written.iter().take(breadth.mixed);
    let mixed =
        of_both.flat_map(|left| read.iter().take(breadth.mixed).filter_map(|right| mixed(left, right)));
    let found = written.iter().chain(&read).find(|payload| judge.breaks(payload)).cloned();
    let found = found.or_else(|| mixed.into_iter().find(|payload| judge.breaks(payload)));
    found.and_then(|payload| judge.witness(&payload))
}

/// The fields of both, where both are objects and that is more than `left`.
fn mixed(left: &Value, right: &Value) -> Option<Value> {
    let (left, right) = (left.as_object()?, right.as_object()?);
    if right.keys().all(|name| left.contains_key(name)) {
        return None;
    }
    let mut fields = right.clone();
    fields.extend(left.clone());
    Some(Value::Object(fields))
}

/// The first different values, up to a number: what comes after them need not be made at all.
struct Kept {
    values: Vec<Value>,
    seen: HashSet<u64>,
    hasher: RandomState,
    max: usize,
}

impl Kept {
    fn new(max: usize) -> Self {
        Self { values: Vec::new(), seen: HashSet::new(), hasher: RandomState::new(), max }
    }

    fn is_full(&self) -> bool {
        self.values.len() >= self.max
    }

    /// Keeps what is new of `values`, which are made one after the other until there are enough.
    fn extend(&mut self, values: impl IntoIterator<Item = Value>) {
        let mut values = values.into_iter();
        while !self.is_full()
            && let Some(value) = values.next()
        {
            if self.seen.insert(self.hasher.hash_one(&value)) || !self.values.contains(&value) {
                self.values.push(value);
            }
        }
    }
}

/// The values of a definition, by how much nesting is left to follow.
type Known = HashMap<(*const Value, usize), Rc<Vec<Value>>>;

/// Makes values near the borders of what a schema allows; whether they are inside is for the validator to say.
struct Generator<'a> {
    root: &'a Value,
    values_max: usize,
    known: RefCell<Known>,
}

impl<'a> Generator<'a> {
    fn values(&self, schema: &Value, depth: usize, max: usize) -> Vec<Value> {
        let Value::Object(keywords) = schema else {
            return if schema == &Value::Bool(true) { anything() } else { Vec::new() };
        };
        if depth == 0 {
            return anything();
        }
        if let (Some(Value::String(reference)), 1) = (keywords.get("$ref"), keywords.len())
            && let Some(target @ Value::Object(_)) = subschema::resolve(self.root, reference)
        {
            return self.of_target(target, depth - 1).iter().take(max).cloned().collect();
        }
        let mut kept = Kept::new(max);
        kept.extend(keywords.get("const").cloned());
        kept.extend(keywords.get("enum").and_then(Value::as_array).into_iter().flatten().cloned());
        self.branches(keywords, depth, &mut kept);
        for kind in kinds(keywords) {
            match kind {
                _ if kept.is_full() => break,
                "null" => kept.extend([Value::Null]),
                "boolean" => kept.extend([json!(true), json!(false)]),
                "integer" => kept.extend(numbers(keywords, true)),
                "number" => kept.extend(numbers(keywords, false)),
                "string" => kept.extend(texts(keywords)),
                "array" => self.arrays(keywords, depth, &mut kept),
                "object" => self.objects(keywords, depth, &mut kept),
                _ => {}
            }
        }
        if kept.values.is_empty() {
            kept.extend(anything());
        }
        kept.values
    }

    /// Values of a definition, which may be referred to in many places.
    fn of_target(&self, target: &'a Value, depth: usize) -> Rc<Vec<Value>> {
        let key = (std::ptr::from_ref(target), depth);
        let known = self.known.borrow().get(&key).cloned();
        known.unwrap_or_else(|| {
            let values = Rc::new(self.values(target, depth, self.values_max));
            self.known.borrow_mut().insert(key, Rc::clone(&values));
            values
        })
    }

    /// Values of each schema that is applied to the same value, beside what this one says itself.
    fn branches(&self, keywords: &Map<String, Value>, depth: usize, kept: &mut Kept) {
        let lists =
            ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|keyword| keywords.get(keyword)?.as_array());
        let single = ["not", "if", "then", "else"].into_iter().filter_map(|keyword| keywords.get(keyword));
        let target = keywords.get("$ref").and_then(Value::as_str);
        let target = target.and_then(|reference| subschema::resolve(self.root, reference));
        let shared = ["properties", "required", "type", "additionalProperties"];
        let shared: Map<String, Value> = shared
            .into_iter()
            .filter_map(|keyword| Some((keyword.to_owned(), keywords.get(keyword)?.clone())))
            .collect();
        for branch in lists.flatten().chain(single).chain(target) {
            if kept.is_full() {
                break;
            }
            let mut joined = shared.clone();
            if let Value::Object(branch) = branch {
                for (keyword, value) in branch {
                    match (joined.get_mut(keyword), value) {
                        (Some(Value::Object(known)), Value::Object(more)) => known.extend(more.clone()),
                        (Some(Value::Array(known)), Value::Array(more)) => known.extend(more.iter().cloned()),
                        _ => drop(joined.insert(keyword.clone(), value.clone())),
                    }
                }
            }
            kept.extend(self.values(&Value::Object(joined), depth - 1, self.values_max));
        }
    }

    fn arrays(&self, keywords: &Map<String, Value>, depth: usize, kept: &mut Kept) {
        let prefix = keywords.get("prefixItems").and_then(Value::as_array).into_iter().flatten();
        let prefix: Vec<Vec<Value>> = prefix.map(|schema| self.values(schema, depth - 1, 6)).collect();
        let always = Value::Bool(true);
        let mut rest = self.values(keywords.get("items").unwrap_or(&always), depth - 1, 8);
        if let Some(schema) = keywords.get("contains") {
            rest.splice(0..0, self.values(schema, depth - 1, 4));
        }
        let limits = ["minItems", "maxItems", "minContains", "maxContains"];
        let limits = limits.into_iter().filter_map(|keyword| keywords.get(keyword)?.as_u64());
        let mut lengths: BTreeSet<u64> =
            limits.flat_map(|limit| [limit.saturating_sub(1), limit, limit + 1]).collect();
        lengths.extend([0, 1, 2, 3, prefix.len() as u64, prefix.len() as u64 + 1]);
        let list = |length: u64, turn: usize| {
            let item = |index: u64| {
                let index = usize::try_from(index).ok()?;
                let choices = prefix.get(index).unwrap_or(&rest);
                let step = if turn.is_multiple_of(2) { turn } else { index + turn };
                choices.get(step % choices.len().max(1))
            };
            let items: Vec<&Value> = (0..length).map(item).collect::<Option<_>>()?;
            effort::fits(items.iter().copied()).then(|| items.into_iter().cloned().collect())
        };
        let turns = rest.len().max(3);
        let lengths = lengths.into_iter().filter(|&length| length < 40);
        kept.extend(lengths.flat_map(|length| (0..turns).filter_map(move |turn| list(length, turn))));
    }

    fn objects(&self, keywords: &Map<String, Value>, depth: usize, kept: &mut Kept) {
        let named = |keyword: &str| keywords.get(keyword).and_then(Value::as_object).into_iter().flatten();
        let mut fields: Vec<(String, Vec<Value>)> = named("properties")
            .map(|(name, schema)| (name.clone(), self.values(schema, depth - 1, self.values_max)))
            .collect();
        for (pattern, schema) in named("patternProperties") {
            let name = jsonschema_regex::pattern_witness(pattern).unwrap_or_else(|| "1".to_owned());
            fields.push((name, self.values(schema, depth - 1, 6)));
        }
        let always = Value::Bool(true);
        let rest = keywords.get("additionalProperties").or_else(|| keywords.get("unevaluatedProperties"));
        let rest = self.values(rest.unwrap_or(&always), depth - 1, 6);
        let required = keywords.get("required").and_then(Value::as_array).into_iter().flatten();
        let required: Vec<String> = required.filter_map(Value::as_str).map(str::to_owned).collect();
        for name in &required {
            if !fields.iter().any(|(known, _)| known == name) {
                fields.push((name.clone(), rest.clone()));
            }
        }
        let mut room = effort::Room::new();
        let first = |(name, values): &(String, Vec<Value>)| {
            let value = values.first().filter(|value| room.takes(value))?;
            Some((name.clone(), value.clone()))
        };
        let full: Map<String, Value> = fields.iter().filter_map(first).collect();
        let mut base = full.clone();
        base.retain(|name, _| required.contains(name));
        let without = |object: &Map<String, Value>, name: &str| {
            let mut object = object.clone();
            object.remove(name);
            Value::Object(object)
        };
        let with = |name: &str, value: &Value| {
            let mut object = base.clone();
            object.insert(name.to_owned(), value.clone());
            Value::Object(object)
        };
        let own = fields.iter().flat_map(|(name, values)| {
            let absent = [&base, &full].into_iter().map(|object| without(object, name));
            absent.chain(values.iter().map(|value| with(name, value)))
        });
        let named =
            named("dependentRequired").chain(named("dependentSchemas")).map(|(name, _)| name.as_str());
        let named = named.chain(["undeclared", "a", "0"]);
        let more = named.flat_map(|name| rest.iter().take(4).map(|value| with(name, value)));
        let many = (1..6).map(|count| {
            let name = |index: usize| Some((format!("p{index}"), rest.first()?.clone()));
            Value::Object((0..count).filter_map(name).chain(base.clone()).collect())
        });
        let whole = [&base, &full].into_iter().cloned().map(Value::Object);
        let all = whole.chain(own).chain(more).chain(many);
        kept.extend(all.take(FIELDS_MAX / full.len().max(1)));
    }
}

fn anything() -> Vec<Value> {
    vec![json!(1), json!("a"), Value::Null, json!(true), json!({}), json!([]), json!(1.5)]
}

/// The kinds a schema speaks of, by `type` or by the keywords that only apply to one kind.
pub(super) fn kinds(keywords: &Map<String, Value>) -> Vec<&str> {
    match keywords.get("type") {
        Some(Value::String(name)) => return vec![name],
        Some(Value::Array(names)) => return names.iter().filter_map(Value::as_str).collect(),
        _ => {}
    }
    let hints: &[(&str, &[&str])] = &[
        (
            "object",
            &[
                "properties",
                "required",
                "additionalProperties",
                "patternProperties",
                "propertyNames",
                "minProperties",
                "maxProperties",
                "dependentRequired",
                "dependentSchemas",
            ],
        ),
        ("array", &["items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"]),
        ("number", &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
        ("string", &["minLength", "maxLength", "pattern", "format"]),
    ];
    let hinted = hints.iter().filter(|(_, hints)| hints.iter().any(|&hint| keywords.contains_key(hint)));
    hinted.map(|&(kind, _)| kind).collect()
}

fn numbers(keywords: &Map<String, Value>, integers: bool) -> Vec<Value> {
    let limits = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
    let limits: Vec<&Number> =
        limits.into_iter().filter_map(|keyword| keywords.get(keyword)?.as_number()).collect();
    let mut all = vec![json!(0), json!(1), json!(-1)];
    for limit in limits {
        if let Some(limit) = limit.as_i128() {
            for away in [0, 1, -1, limit] {
                let near = limit.saturating_add(away);
                all.extend(
                    i64::try_from(near).map(Value::from).or_else(|_| u64::try_from(near).map(Value::from)),
                );
            }
        } else if let Some(limit) = limit.as_f64() {
            all.extend(
                [limit, limit + 1.0, limit - 1.0, limit * 2.0, limit.floor(), limit.ceil()].map(Value::from),
            );
        }
    }
    all.extend([
        json!(1_i64 << 31),
        json!(-(1_i64 << 31) - 1),
        json!(1_i64 << 32),
        json!(i64::MIN),
        json!(u64::MAX),
    ]);
    all.extend([7, 10, 100, 256, -129, 65536].map(Value::from));
    if !integers {
        all.extend([0.5, 1.5, -0.5, 1e300].map(Value::from));
    }
    all
}

fn texts(keywords: &Map<String, Value>) -> Vec<Value> {
    let mut all: Vec<String> = ["a", "", "text", "0", "a1", "A", "!", "é"].map(str::to_owned).to_vec();
    if let Some(format) = keywords.get("format").and_then(Value::as_str) {
        all.splice(0..0, formats::samples(format).iter().map(|&text| text.to_owned()));
    }
    if let Some(pattern) = keywords.get("pattern").and_then(Value::as_str) {
        all.splice(0..0, jsonschema_regex::pattern_witness(pattern));
    }
    for limit in ["minLength", "maxLength"].into_iter().filter_map(|keyword| keywords.get(keyword)?.as_u64())
    {
        let lengths = [limit.saturating_sub(1), limit, limit + 1].into_iter().filter(|&length| length < 1000);
        all.extend(
            lengths.filter_map(|length| usize::try_from(length).ok()).map(|length| "a".repeat(length)),
        );
    }
    all.into_iter().map(Value::from).collect()
}
