//! Payloads that a schema takes: a telling one for readers of the documents, and many for trying out a type.
//!
//! Every value of a part comes up in some payload, each branch of a union, each bound of a number, each optional field
//! there and absent. Fields take their next value together, so there are as many payloads as the field with the most
//! values has, not as many as combinations. A validator has the last word on each payload.

use super::close::join;
use super::effort::{self, Allowance};
use super::formats::{self, Formats};
use super::normalise::normalise;
use super::prove::{self, Answer};
use super::witness::kinds;
use crate::subschema;
use jsonschema::Validator;
use serde_json::{Map, Number, Value, json};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// Nesting after which only what is required is filled in, and twice which a value is given up: for readers, and for
/// trying out a type.
const DEPTH_SHOWN: usize = 4;
const DEPTH_TRIED: usize = 6;
/// Values of one part of a payload; a union has ten for each branch, up to the second number.
const VALUES_MAX: usize = 20;
const BRANCHES_MAX: usize = 64;
/// Items in a list that asks for many; the validator drops it where that is too few.
const ITEMS_MAX: u64 = 64;
/// References and parts joined into one schema; a type flattened into itself would never end.
const JOINS_MAX: usize = 16;

/// A value of `schema` with as many fields as make sense; `None` if none was found.
pub(crate) fn example(schema: &Value) -> Option<Value> {
    let normal = normalise(schema).ok()?;
    let validator = formats::options(Formats::Asserted).build(&normal).ok()?;
    generate(&normal, &validator, DEPTH_SHOWN, 1).into_iter().next()
}

/// At most `count_max` different values of `schema`, the fullest one first.
pub(super) fn payloads(schema: &Value, count_max: usize) -> Vec<Value> {
    let Ok(normal) = normalise(schema) else { return Vec::new() };
    let Ok(validator) = formats::options(Formats::Asserted).build(&normal) else { return Vec::new() };
    generate(&normal, &validator, DEPTH_TRIED, count_max)
}

fn generate(normal: &Value, validator: &Validator, depth_full: usize, count_max: usize) -> Vec<Value> {
    let made = Generator { root: normal, depth_full, known: RefCell::default() }.values(normal, 0);
    let allowance = Allowance::new([normal, &Value::Bool(true)]);
    let is_valid = |value: &Value| allowance.covers(value) && validator.is_valid(value);
    let mut found: Vec<Value> = Vec::new();
    for value in Rc::unwrap_or_clone(made) {
        if found.len() < count_max && !found.contains(&value) && is_valid(&value) {
            found.push(value);
        }
    }
    if !found.is_empty() {
        return found;
    }
    match prove::difference(normal, &Value::Bool(false), Formats::Asserted) {
        Answer::Value(least) if is_valid(&least) => vec![least],
        _ => Vec::new(),
    }
}

/// The values of a definition at one depth.
type Known = HashMap<(String, usize), Rc<Vec<Value>>>;

struct Generator<'a> {
    root: &'a Value,
    depth_full: usize,
    known: RefCell<Known>,
}

impl Generator<'_> {
    /// Values of `schema`, the most telling one first; none where it is nested too deeply.
    fn values(&self, schema: &Value, depth: usize) -> Rc<Vec<Value>> {
        let Value::Object(keywords) = schema else {
            return Rc::new(if schema == &Value::Bool(true) { anything() } else { Vec::new() });
        };
        if depth > 2 * self.depth_full {
            return Rc::default();
        }
        let reference = keywords.get("$ref").and_then(Value::as_str).filter(|_| keywords.len() == 1);
        let key = reference.map(|reference| (reference.to_owned(), depth));
        if let Some(known) = key.as_ref().and_then(|key| self.known.borrow().get(key).cloned()) {
            return known;
        }
        let joined = self.joined(keywords);
        let unions =
            ["enum", "oneOf", "anyOf"].into_iter().filter_map(|keyword| joined.get(keyword)?.as_array());
        let branches = unions.map(Vec::len).max().unwrap_or(0);
        // The payload as a whole has to go through the values of its largest part.
        let max = if depth == 0 { BRANCHES_MAX } else { (10 * branches).clamp(VALUES_MAX, BRANCHES_MAX) };
        let values = self.of_joined(&joined, depth, max);
        self.known.borrow_mut().extend(key.map(|key| (key, Rc::clone(&values))));
        values
    }

    /// The schema as one, with what it refers to and all its parts.
    fn joined<'k>(&self, mut keywords: &'k Map<String, Value>) -> Cow<'k, Map<String, Value>>
    where
        Self: 'k,
    {
        // Most are a plain schema, or a reference to one.
        for _ in 0..JOINS_MAX {
            let target = keywords.get("$ref").and_then(Value::as_str).filter(|_| keywords.len() == 1);
            match target.and_then(|to| subschema::resolve(self.root, to)?.as_object()) {
                Some(target) => keywords = target,
                None => break,
            }
        }
        if !["$ref", "allOf"].iter().any(|&keyword| keywords.contains_key(keyword)) {
            return Cow::Borrowed(keywords);
        }
        let mut joined = keywords.clone();
        for _ in 0..JOINS_MAX {
            let parts = match (joined.remove("$ref"), joined.remove("allOf")) {
                (None, None) => break,
                (Some(Value::String(to)), parts) => {
                    joined.extend(parts.map(|parts| ("allOf".to_owned(), parts)));
                    subschema::resolve(self.root, &to).cloned().into_iter().collect()
                }
                (_, Some(Value::Array(parts))) => parts,
                _ => Vec::new(),
            };
            joined =
                parts.iter().filter_map(Value::as_object).fold(joined, |joined, part| join(&joined, part));
        }
        Cow::Owned(joined)
    }

    /// At most `max` values; to make more and cut them off would take most of the time.
    fn of_joined(&self, keywords: &Map<String, Value>, depth: usize, max: usize) -> Rc<Vec<Value>> {
        if let Some(only) = keywords.get("const") {
            return Rc::new(vec![only.clone()]);
        }
        if let Some(Value::Array(values)) = keywords.get("enum") {
            return Rc::new(values.iter().take(max).cloned().collect());
        }
        for keyword in ["oneOf", "anyOf"] {
            if let Some(Value::Array(branches)) = keywords.get(keyword) {
                return self.of_branches(keywords, keyword, branches, depth, max);
            }
        }
        let kinds = kinds(keywords);
        if kinds.is_empty() {
            return Rc::new(anything());
        }
        let of_kind = |kind| {
            Rc::new(match kind {
                "boolean" => vec![json!(true), json!(false)],
                "integer" => integers(keywords),
                "number" => numbers(keywords),
                "string" => texts(keywords),
                "array" => self.arrays(keywords, depth, max),
                "object" => self.objects(keywords, depth, max),
                _ => vec![Value::Null],
            })
        };
        in_turns(kinds.into_iter().map(of_kind).collect(), depth < self.depth_full, max)
    }

    fn of_branches(
        &self,
        keywords: &Map<String, Value>,
        union: &str,
        branches: &[Value],
        depth: usize,
        max: usize,
    ) -> Rc<Vec<Value>> {
        // Definitions are found from the root.
        let beside = keywords.iter().filter(|(keyword, _)| *keyword != union && *keyword != "$defs");
        let rest: Map<String, Value> =
            beside.map(|(keyword, value)| (keyword.clone(), value.clone())).collect();
        let of_branch = |branch: &Value| match branch {
            Value::Object(_) if rest.is_empty() => self.values(branch, depth + 1),
            Value::Object(branch) => self.values(&Value::Object(join(&rest, branch)), depth + 1),
            Value::Bool(true) => self.values(&Value::Object(rest.clone()), depth + 1),
            _ => Rc::default(),
        };
        in_turns(branches.iter().map(of_branch).collect(), depth < self.depth_full, max)
    }

    fn arrays(&self, keywords: &Map<String, Value>, depth: usize, values_max: usize) -> Vec<Value> {
        let prefix = keywords.get("prefixItems").and_then(Value::as_array).into_iter().flatten();
        let prefix: Vec<Rc<Vec<Value>>> = prefix.map(|schema| self.values(schema, depth + 1)).collect();
        let rest = match keywords.get("items") {
            Some(schema) => self.values(schema, depth + 1),
            None => Rc::new(anything()),
        };
        let min = keywords.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        let max =
            keywords.get("maxItems").and_then(Value::as_u64).unwrap_or(u64::MAX).min(min.max(ITEMS_MAX));
        let list = |length: u64, turn: usize| -> Option<Value> {
            let item = |at: u64| {
                let at = usize::try_from(at).ok()?;
                let choices = prefix.get(at).unwrap_or(&rest);
                // Only the first list has the first value in every place.
                let step = if turn == 0 { 0 } else { at + turn };
                choices.get(step % choices.len().max(1))
            };
            let items: Vec<&Value> = (0..length.min(min.max(ITEMS_MAX))).map(item).collect::<Option<_>>()?;
            effort::fits(items.iter().copied()).then(|| Value::Array(items.into_iter().cloned().collect()))
        };
        let own = prefix.len() as u64;
        // Nested deeply, the shortest list is the way out of a recursive type.
        let usual = if depth < self.depth_full || own > 0 { own.max(1) } else { 0 };
        let usual = usual.clamp(min.min(max), max);
        let turns = prefix.iter().chain([&rest]).map(|values| values.len()).max().unwrap_or(0);
        let mut all: Vec<Option<Value>> = vec![list(usual, 0), list(min, 0)];
        all.extend((1..=turns.min(values_max)).map(|turn| list(usual, turn)));
        all.extend([2, 3].map(|length| list((own + length).clamp(min.min(max), max), 0)));
        all.into_iter().flatten().collect()
    }

    fn objects(&self, keywords: &Map<String, Value>, depth: usize, values_max: usize) -> Vec<Value> {
        let named = |keyword: &str| keywords.get(keyword).and_then(Value::as_object).into_iter().flatten();
        let required: BTreeSet<&str> = keywords
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut fields = Vec::new();
        for (name, schema) in named("properties") {
            let is_required = required.contains(name.as_str());
            let values = self.values(schema, depth + 1);
            if values.is_empty() && is_required {
                return Vec::new();
            }
            if !values.is_empty() && (is_required || depth < self.depth_full) {
                fields.push(Field { name: name.clone(), is_required, values });
            }
        }
        let is_lone = fields.is_empty();
        for (pattern, schema) in named("patternProperties") {
            let name = jsonschema_regex::pattern_witness(pattern).filter(|_| depth < self.depth_full);
            let values = self.values(schema, depth + 1);
            fields.extend(name.filter(|_| !values.is_empty()).map(|name| Field {
                name,
                is_required: false,
                values,
            }));
        }
        // The entries of a map; beside fields of its own, an object only sometimes has more.
        let rest = keywords
            .get("additionalProperties")
            .filter(|rest| **rest != Value::Bool(false) && depth < self.depth_full);
        let rest = rest.map(|schema| self.values(schema, depth + 1)).unwrap_or_default();
        let least = object(fields.iter().filter(|field| field.is_required).map(Field::first));
        let entry = rest.first().filter(|_| is_lone).map(|value| ("key", value));
        let full = object(fields.iter().map(Field::first).chain(entry));
        let turns = fields.iter().map(Field::turns).chain([rest.len() + 1]).max().unwrap_or(0);
        let row = |turn: usize| {
            // Fields of one kind do not all take the same value, nor are they all absent together.
            let own = fields.iter().enumerate().filter_map(|(at, field)| field.in_turn(turn + at));
            let entries = ["key", "other"].into_iter().enumerate();
            let entries = entries.filter_map(|(at, name)| Some((name, rest.get(turn.checked_sub(at)?)?)));
            object(own.chain(entries))
        };
        [full, least].into_iter().chain((0..turns).map(row)).flatten().take(values_max).collect()
    }
}

/// The object with these members; `None` where it would be too large.
fn object<'v>(members: impl Iterator<Item = (&'v str, &'v Value)>) -> Option<Value> {
    let mut room = effort::Room::new();
    members
        .map(|(name, value)| room.takes(value).then(|| (name.to_owned(), value.clone())))
        .collect::<Option<_>>()
        .map(Value::Object)
}

struct Field {
    name: String,
    is_required: bool,
    values: Rc<Vec<Value>>,
}

impl Field {
    fn first(&self) -> (&str, &Value) {
        (&self.name, &self.values[0])
    }

    /// An optional field is also absent once.
    fn turns(&self) -> usize {
        self.values.len() + usize::from(!self.is_required)
    }

    fn in_turn(&self, turn: usize) -> Option<(&str, &Value)> {
        self.values.get(turn % self.turns()).map(|value| (self.name.as_str(), value))
    }
}

/// The first of each list, then the second of each, so that what is cut off later are never all values of one list.
/// `null` comes last, and first where it is the way out of a recursive type.
fn in_turns(mut lists: Vec<Rc<Vec<Value>>>, null_last: bool, max: usize) -> Rc<Vec<Value>> {
    if let [list] = &lists[..]
        && list.len() <= max
    {
        return Rc::clone(list);
    }
    let is_null = |list: &Rc<Vec<Value>>| list.first().is_some_and(Value::is_null);
    lists.sort_by_key(|list| is_null(list) == null_last);
    let longest = lists.iter().map(|list| list.len()).max().unwrap_or(0);
    let all = (0..longest).flat_map(|at| lists.iter().filter_map(move |list| list.get(at)));
    Rc::new(all.take(max).cloned().collect())
}

fn anything() -> Vec<Value> {
    vec![json!("anything"), Value::Null, json!(7), json!({ "a": [true] }), json!([])]
}

fn integers(keywords: &Map<String, Value>) -> Vec<Value> {
    let bound = |keyword: &str, exclusive: &str, step: i128| {
        let own = keywords.get(keyword).and_then(Value::as_number).and_then(whole);
        own.or_else(|| keywords.get(exclusive).and_then(Value::as_number).and_then(whole)?.checked_add(step))
    };
    // What serde_json reads without further features.
    let (least, most) = (i128::from(i64::MIN), i128::from(u64::MAX));
    let low = bound("minimum", "exclusiveMinimum", 1).unwrap_or(i64::MIN.into()).max(least);
    let high = bound("maximum", "exclusiveMaximum", -1).unwrap_or(i64::MAX.into()).min(most);
    if low > high {
        return Vec::new();
    }
    let step = keywords.get("multipleOf").and_then(Value::as_number).and_then(whole).unwrap_or(1).max(1);
    let near = [42, 0, 1, -1].map(|wanted: i128| wanted.clamp(low, high) / step * step);
    let far = [low + (step - low.rem_euclid(step)) % step, high - high.rem_euclid(step)];
    let mut all: Vec<i128> = Vec::new();
    for number in near.into_iter().chain(far).filter(|number| (low..=high).contains(number)) {
        if !all.contains(&number) {
            all.push(number);
        }
    }
    let json =
        |number| i64::try_from(number).map(Value::from).or_else(|_| u64::try_from(number).map(Value::from));
    all.into_iter().filter_map(|number| json(number).ok()).collect()
}

fn whole(number: &Number) -> Option<i128> {
    #[expect(clippy::cast_possible_truncation, reason = "a fraction is no bound of integers anyway")]
    number.as_i128().or_else(|| number.as_f64().map(|number| number as i128))
}

fn numbers(keywords: &Map<String, Value>) -> Vec<Value> {
    let bound = |keyword: &str| keywords.get(keyword).and_then(Value::as_f64);
    let low = bound("minimum").or(bound("exclusiveMinimum").map(|low| low + 1.0));
    let high = bound("maximum").or(bound("exclusiveMaximum").map(|high| high - 1.0));
    let most = if keywords.get("format").is_some_and(|format| format == "float") { 3.0e38 } else { 1.0e300 };
    let (low, high) = (low.unwrap_or(-most), high.unwrap_or(most));
    if low > high {
        return Vec::new();
    }
    let near = [9.5, 0.0, 1.0, -1.5, 1.0e-7].map(|wanted: f64| wanted.clamp(low, high));
    let mut all: Vec<Value> = near.into_iter().chain([low, high]).map(Value::from).collect();
    let mut seen = BTreeSet::new();
    all.retain(|number| seen.insert(number.to_string()));
    all
}

fn texts(keywords: &Map<String, Value>) -> Vec<Value> {
    let known = keywords.get("format").and_then(Value::as_str).map_or(&[][..], formats::samples);
    if !known.is_empty() {
        return known.iter().map(|&text| Value::from(text)).collect();
    }
    if let Some(pattern) = keywords.get("pattern").and_then(Value::as_str) {
        return jsonschema_regex::pattern_witness(pattern).map(Value::from).into_iter().collect();
    }
    let length = |keyword: &str| {
        keywords.get(keyword).and_then(Value::as_u64).and_then(|length| usize::try_from(length).ok())
    };
    let (min, max) = (length("minLength").unwrap_or(0), length("maxLength").unwrap_or(usize::MAX));
    let long = "é\"\\\n\u{1f4e6} ".repeat(8);
    let mut all = Vec::new();
    for wanted in ["text", "", "a", "0", &long] {
        let filled: String =
            wanted.chars().chain("text".chars().cycle()).take(min.max(wanted.chars().count())).collect();
        let text = Value::from(filled.chars().take(max).collect::<String>());
        if !all.contains(&text) {
            all.push(text);
        }
    }
    all
}

#[cfg(test)]
mod tests;
