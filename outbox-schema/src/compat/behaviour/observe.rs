//! Feeds payloads to a type and notes what becomes of them.

mod taken;

use super::{Evidence, Schema, Witness, place, shrink};
use crate::contract::{MEMBERS, panic_text, text_without_members};
use crate::{EventDescriptor, RoundTripError};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Places of one payload that are put right one after the other, so that one refusal does not hide the next.
const REPAIRS_MAX: usize = 8;
/// Payloads with which texts of common forms are tried in one place.
const LURES_MAX: usize = 4;
/// Payloads that are remembered of a type that refuses none, to put others right with.
const ACCEPTED_KEPT: usize = 1;
/// Rounds in which refusals of whole objects are looked at again; each may show what the next one needs.
const LOOKS_MAX: usize = 2;

/// The kind of what is not there.
pub(super) const ABSENT: &str = "absent";

/// Texts of common forms, for a field that refuses plain ones: nothing in a schema says that a string is an address.
const TEXTS: &[&str] = &[
    "ada@example.com",
    "192.0.2.1",
    "192.0.2.1:80",
    "[2001:db8::1]:80",
    "example.com",
    "https://example.com/a",
    "2024-05-17T09:30:00Z",
    "2024-05-17T09:30:00",
    "2024-05-17 09:30:00",
    "2024-05-17",
    "09:30:00",
    "0190a6e4-7b1c-7000-8000-000000000001",
    "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "1",
    "1.5",
    "12.50",
    "1.2.3",
    "PT1H30M",
    "1h",
    "10s",
    "true",
    "EUR",
    "DE",
    "en",
    "en-US",
    "Europe/Berlin",
    "AAAA",
    "00ff",
    "#00ff00",
    "+491701234567",
    "[]",
    "{}",
    "null",
];

/// A place in the payloads of an event, with the kind of value that stands there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Spot {
    /// The JSON pointer, with `*` for positions in lists.
    pub(super) pointer: String,
    /// The JSON type; for a variant of an enum its name.
    pub(super) kind: String,
}

/// A payload that was refused.
#[derive(Debug, Clone)]
pub(super) struct Refusal {
    /// The payload as it travels.
    pub(super) payload: Value,
    /// What serde says.
    pub(super) error: String,
    /// The JSON pointer of what is refused, as far as it can be told.
    pub(super) at: String,
}

impl Refusal {
    pub(super) fn evidence(&self) -> Evidence {
        let (payload, error, pointer) = (self.payload.clone(), self.error.clone(), self.at.clone());
        Evidence::Refused(Witness { payload, error, pointer })
    }
}

/// What a type did with the payloads it was given.
#[derive(Debug)]
pub(super) struct Observation {
    event: &'static EventDescriptor,
    /// The words that tell the variants of an enum apart.
    tags: BTreeSet<String>,
    /// Payloads that were read, with the text that was written of each.
    accepted: Vec<(Value, Option<String>)>,
    /// For each place, the first payload that was refused for it.
    refused: BTreeMap<Spot, Refusal>,
    /// How often texts of common forms have been tried in a place.
    lured: BTreeMap<String, usize>,
}

impl Observation {
    pub(super) fn new(event: &'static EventDescriptor, schema: &Value) -> Self {
        let mut tags = BTreeSet::new();
        collect_tags(schema, &mut tags);
        let (accepted, refused, lured) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        Self { event, tags, accepted, refused, lured }
    }

    /// An observation of the same type that knows only what a payload must look like to be read.
    pub(super) fn start_again(&self) -> Self {
        let (accepted, refused, lured) = (self.accepted.clone(), BTreeMap::new(), self.lured.clone());
        Self { event: self.event, tags: self.tags.clone(), accepted, refused, lured }
    }

    /// What was written of the payloads that were read, as it travels.
    pub(super) fn written(&self) -> impl Iterator<Item = Value> {
        self.accepted.iter().filter_map(|(payload, written)| {
            let mut written: Value = serde_json::from_str(written.as_ref()?).ok()?;
            if let (Value::Object(written), Value::Object(payload)) = (&mut written, payload) {
                let members = MEMBERS.into_iter().filter_map(|member| payload.get_key_value(member));
                written.extend(members.map(|(name, member)| (name.clone(), member.clone())));
            }
            Some(written)
        })
    }

    /// Keeps of the payloads only what later payloads are put right with, as a catalog has many events.
    pub(super) fn shrink(&mut self) {
        if self.refused.is_empty() {
            self.accepted.truncate(ACCEPTED_KEPT);
            self.accepted.iter_mut().for_each(|(_, written)| *written = None);
        }
        self.accepted.shrink_to_fit();
    }

    pub(super) fn refused(&self) -> impl Iterator<Item = (&Spot, &Refusal)> {
        self.refused.iter()
    }

    pub(super) fn forget_refusals(&mut self) {
        self.refused.clear();
    }

    /// Whether some payload with that kind of value in that place was read.
    pub(super) fn has_accepted(&self, spot: &Spot) -> bool {
        self.accepted.iter().any(|(payload, _)| self.kinds_at(payload, &spot.pointer).contains(&spot.kind))
    }

    /// Tries out payloads made from contracts; only those that `declared` takes count as refused.
    ///
    /// They differ from each other, and may well be among those that were read before.
    pub(super) fn try_all(&mut self, payloads: Vec<Value>, declared: &Schema<'_>) {
        let before = self.accepted.len();
        for payload in payloads {
            if !self.accepted[..before].iter().any(|(known, _)| *known == payload) {
                self.try_out(payload, declared);
            }
        }
    }

    /// Gives `payload` to the type. What is refused is noted and put right, so that the rest is tried too.
    pub(super) fn try_out(&mut self, mut payload: Value, declared: &Schema<'_>) {
        for _ in 0..REPAIRS_MAX {
            let refusal = match self.decode(&payload) {
                Ok(written) => return self.accepted.push((payload, written)),
                Err(refusal) => self.narrowed(refusal),
            };
            let (at, next) = self.repaired(&refusal, declared);
            // What today's schema refuses as well is for the three questions to tell.
            if declared.takes(&payload) {
                let spot = self.spot(&payload, &at);
                self.refused.entry(spot).or_insert(Refusal { at, ..refusal });
            }
            if next == payload {
                return;
            }
            payload = next;
        }
    }

    /// Looks again at what was refused as a whole, now that more payloads have been read.
    pub(super) fn look_again(&mut self, declared: &Schema<'_>) {
        let is_coarse = |_: &Spot, refusal: &mut Refusal| {
            refusal.payload.pointer(&refusal.at).is_some_and(|value| value.is_object() || value.is_array())
        };
        for _ in 0..LOOKS_MAX {
            let coarse: Vec<Refusal> =
                self.refused.extract_if(.., is_coarse).map(|(_, refusal)| refusal).collect();
            coarse.into_iter().for_each(|refusal| self.try_out(refusal.payload, declared));
        }
    }

    /// Why the type refuses `payload`.
    pub(super) fn refusal_of(&self, payload: &Value) -> Option<Refusal> {
        self.decode(payload).err().map(|refusal| self.narrowed(refusal))
    }

    /// What the type writes of `payload`; `None` where it reads the payload and can't write it.
    fn decode(&self, payload: &Value) -> Result<Option<String>, Refusal> {
        let text = text_without_members(payload);
        self.round_trip(&text).map_err(|(error, column)| {
            let at = column.map(|column| self.place_of(&text, &error, column)).unwrap_or_default();
            Refusal { payload: payload.clone(), error, at }
        })
    }

    /// What is written of `text`, or serde's words and the column where it stopped.
    fn round_trip(&self, text: &str) -> Result<Option<String>, (String, Option<usize>)> {
        match catch_unwind(AssertUnwindSafe(|| (self.event.round_trip)(text))) {
            Ok(Ok(written)) => Ok(Some(written)),
            // A variant that is only read is no fault.
            Ok(Err(RoundTripError::Unwritable(_))) => Ok(None),
            Ok(Err(RoundTripError::Refused(error))) => {
                // The position is that of a text nobody sees.
                let position = format!(" at line {} column {}", error.line(), error.column());
                let words = error.to_string();
                let words = words.strip_suffix(&position).map(str::to_owned).unwrap_or(words);
                Err((words, (error.line() == 1).then_some(error.column())))
            }
            Err(panic) => Err((format!("it panics: {}", panic_text(&*panic)), None)),
        }
    }

    /// serde_json names the end of an object also when it is the last member that is refused. Without that end, the
    /// same error comes again, and now behind the member.
    fn place_of(&self, text: &str, error: &str, mut column: usize) -> String {
        while matches!(text.as_bytes().get(column.wrapping_sub(1)), Some(b'}' | b']')) {
            match text.get(..column - 1).map(|text| self.round_trip(text)) {
                Some(Err((same, Some(before)))) if same == error && before < column => column = before,
                _ => break,
            }
        }
        place::at_column(text, column)
    }

    /// The same refusal at the smallest part that is to blame: alone among parts that are read, it is refused as well.
    fn narrowed(&self, mut refusal: Refusal) -> Refusal {
        loop {
            let Some(own) = refusal.payload.pointer(&refusal.at) else { return refusal };
            let Some(good) = self.good(&refusal, true) else { return refusal };
            let frame = replaced(&refusal.payload, &refusal.at, Some(good));
            if self.is_refused_in(&frame, &refusal.at) {
                return refusal;
            }
            let parts = parts_of(own, good).into_iter();
            // The name of another variant says nothing about this one.
            let parts = parts.filter(|(_, part)| !self.is_tag(*part));
            let mut places =
                parts.map(|(name, part)| (format!("{}/{}", refusal.at, place::escaped(&name)), part));
            let is_refused = |at: &str, part| self.is_refused_in(&replaced(&frame, at, part), &refusal.at);
            let Some((at, _)) = places.find(|(at, part)| is_refused(at, *part)) else { return refusal };
            refusal.at = at;
        }
    }

    /// Whether something in that place is refused. Where serde goes on to refuse another place, this one was read.
    fn is_refused_in(&self, payload: &Value, at: &str) -> bool {
        self.decode(payload).is_err_and(|refusal| refusal.at.starts_with(at))
    }

    /// A value that was read in the place of the refused one.
    fn good(&self, refusal: &Refusal, of_same_kind: bool) -> Option<&Value> {
        let own = refusal.payload.pointer(&refusal.at);
        let (general, kind) = (place::general(&refusal.at), self.kind(own));
        let read = self.accepted.iter().flat_map(|(payload, _)| values_at(payload, &general)).flatten();
        let mut fitting = read.filter(|value| !of_same_kind || self.kind(Some(value)) == kind);
        fitting.find(|value| Some(*value) != own)
    }

    /// The place that is to blame, and the payload with something in it that is read, as far as that is known.
    fn repaired(&mut self, refusal: &Refusal, declared: &Schema<'_>) -> (String, Value) {
        let at = refusal.at.clone();
        let with = |good: &Value| replaced(&refusal.payload, &refusal.at, Some(good));
        if let Some(payload) = self.good(refusal, true).map(with) {
            return (at, payload);
        }
        let lured = self.lured(refusal, declared);
        let any = || (at, self.good(refusal, false).map_or_else(|| refusal.payload.clone(), with));
        lured.unwrap_or_else(any)
    }

    /// Tries texts of common forms in place of each text that may be the reason.
    fn lured(&mut self, refusal: &Refusal, declared: &Schema<'_>) -> Option<(String, Value)> {
        let mut texts = Vec::new();
        collect_texts(refusal.payload.pointer(&refusal.at)?, &refusal.at, &mut texts);
        for at in texts {
            let tried = self.lured.entry(place::general(&at)).or_default();
            *tried += 1;
            if *tried > LURES_MAX {
                continue;
            }
            for &text in TEXTS {
                let lured = replaced(&refusal.payload, &at, Some(&Value::from(text)));
                let is_read = !self.is_refused_in(&lured, &refusal.at);
                if is_read && declared.takes(&lured) {
                    return Some((at, lured));
                }
            }
        }
        None
    }

    /// The same refusal of a payload that is as small as it gets.
    pub(super) fn shrunk(&self, spot: &Spot, refusal: &Refusal, declared: &Schema<'_>) -> Refusal {
        let shows = |payload: &Value| {
            self.decode(payload).is_err_and(|next| next.error == refusal.error)
                && self.spot(payload, &refusal.at) == *spot
                && declared.takes(payload)
        };
        let payload = shrink::smallest(refusal.payload.clone(), &shows);
        let shrunk = self.decode(&payload).err();
        shrunk.map_or_else(|| refusal.clone(), |shrunk| Refusal { at: refusal.at.clone(), ..shrunk })
    }

    fn spot(&self, payload: &Value, at: &str) -> Spot {
        Spot { pointer: place::general(at), kind: self.kind(payload.pointer(at)) }
    }

    fn kind(&self, value: Option<&Value>) -> String {
        let kind = match value {
            None => ABSENT,
            Some(Value::Null) => "null",
            Some(Value::Bool(_)) => "boolean",
            Some(Value::Number(_)) => "number",
            Some(Value::String(_)) => "string",
            Some(Value::Array(_)) => "list",
            Some(Value::Object(members)) => {
                let mut own = members.iter().filter(|(name, _)| !MEMBERS.contains(&name.as_str()));
                let tag = own.find(|&(_, member)| self.is_tag(Some(member)));
                tag.and_then(|(_, tag)| tag.as_str()).unwrap_or("object")
            }
        };
        kind.to_owned()
    }

    fn is_tag(&self, value: Option<&Value>) -> bool {
        value.and_then(Value::as_str).is_some_and(|text| self.tags.contains(text))
    }

    /// The kinds of all values in a place; a list has many.
    fn kinds_at(&self, payload: &Value, general: &str) -> BTreeSet<String> {
        values_at(payload, general).into_iter().map(|value| self.kind(value)).collect()
    }
}

/// What stands in a place; `None` for a member that its object lacks.
fn values_at<'v>(payload: &'v Value, general: &str) -> Vec<Option<&'v Value>> {
    let mut found: Vec<Option<&Value>> = vec![Some(payload)];
    for part in place::parts(general) {
        let inner = |value: &'v Value| match value {
            Value::Array(items) if part == "*" => items.iter().map(Some).collect(),
            Value::Object(members) if part == "*" => {
                let at = members.iter().filter(|(name, _)| name.parse::<usize>().is_ok());
                at.map(|(_, member)| Some(member)).collect()
            }
            Value::Object(members) => vec![members.get(&part)],
            _ => Vec::new(),
        };
        found = found.into_iter().flatten().flat_map(inner).collect();
    }
    found
}

/// The members of an object or the items of a list, each with its name in a pointer; `None` for what only `other` has.
fn parts_of<'v>(value: &'v Value, other: &Value) -> Vec<(String, Option<&'v Value>)> {
    match (value, other) {
        (Value::Object(members), Value::Object(other)) => {
            let names: BTreeSet<&String> = members.keys().chain(other.keys()).collect();
            names.into_iter().map(|name| (name.clone(), members.get(name))).collect()
        }
        (Value::Array(items), Value::Array(_)) => {
            items.iter().enumerate().map(|(index, item)| (index.to_string(), Some(item))).collect()
        }
        _ => Vec::new(),
    }
}

/// The payload with another value in that place, or none.
fn replaced(payload: &Value, at: &str, value: Option<&Value>) -> Value {
    let mut changed = payload.clone();
    if let (Some(place), Some(value)) = (changed.pointer_mut(at), value) {
        *place = value.clone();
        return changed;
    }
    let Some((parent, name)) = at.rsplit_once('/') else { return changed };
    if let (Some(Value::Object(members)), Some(name)) =
        (changed.pointer_mut(parent), place::parts(&format!("/{name}")).next())
    {
        match value {
            Some(value) => drop(members.insert(name, value.clone())),
            None => drop(members.remove(&name)),
        }
    }
    changed
}

fn collect_texts(value: &Value, at: &str, texts: &mut Vec<String>) {
    match value {
        Value::String(_) => texts.push(at.to_owned()),
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, item)| collect_texts(item, &format!("{at}/{index}"), texts));
        }
        Value::Object(members) => members.iter().for_each(|(name, member)| {
            collect_texts(member, &format!("{at}/{}", place::escaped(name)), texts)
        }),
        _ => {}
    }
}

fn collect_tags(schema: &Value, tags: &mut BTreeSet<String>) {
    match schema {
        Value::Object(keywords) => {
            tags.extend(keywords.get("const").and_then(Value::as_str).map(str::to_owned));
            keywords.values().for_each(|value| collect_tags(value, tags));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_tags(item, tags)),
        _ => {}
    }
}
