//! Finds aliases by trying: a payload is read as the same event with another name in the place of one that is known.
//!
//! Which names to try is told by the type (see `asked`), by recorded payloads, and by what was released before. A field
//! that serde reads from a buffer, as of a flattened struct, tells nobody its aliases: there the latter two must.

use super::super::Sample;
use super::super::open::{Names, escaped, in_place, inner, spelled_out};
use super::super::real::written;
use super::places::nodes_at;
use super::{Aliases, all, names_at};
use crate::asked::About;
use crate::contract::MEMBERS;
use crate::{Contract, EventDescriptor};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The aliases inside of the types of `event`; `payloads` are made from its contract, and `names` may be among them.
pub(crate) fn find(
    event: &EventDescriptor,
    contract: &Contract,
    payloads: &[Value],
    samples: &[Sample],
    mut names: Names,
) -> Aliases {
    ask(event, contract, payloads, &mut names);
    for sample in samples {
        for spot in spots(&contract.reads, &sample.payload) {
            let members = spot.value.as_object().into_iter().flat_map(Map::keys);
            names.entry(spot.place).or_default().extend(members.cloned());
        }
    }
    try_out(event, contract, payloads, names)
}

/// Puts into `contract` what [`find`] could not know: aliases that have to do with `before`, a contract of the same event.
pub(crate) fn find_again(event: &EventDescriptor, contract: &mut Contract, before: &Contract) {
    let is_same = before.reads == contract.reads && before.writes == contract.writes;
    if is_same && before.nested_aliases == contract.nested_aliases {
        return;
    }
    let payloads = super::super::payloads_of(&contract.reads);
    let mut names = Names::new();
    for spot in payloads.iter().flat_map(|payload| spots(&contract.reads, payload)) {
        let known = names.entry(spot.place.clone()).or_default();
        let places = super::spellings(contract, &spot.place);
        for schema in [&before.writes, &before.reads] {
            let named = places.iter().flat_map(|place| names_at(schema, place));
            known.extend(named.flatten().map(str::to_owned));
        }
        let aliases = all(before).filter(|(place, ..)| places.contains(*place));
        known.extend(aliases.flat_map(|(_, _, aliases)| aliases.iter().cloned()));
    }
    for (place, found) in try_out(event, contract, &payloads, names) {
        for (name, aliases) in found {
            let known = contract.nested_aliases.entry(place.clone()).or_default().entry(name).or_default();
            known.extend(aliases);
            known.sort();
            known.dedup();
        }
    }
}

/// The payload with `alias` instead of `name` at one spot of `place`, and where `name` was.
pub(super) fn instead(
    root: &Value,
    payload: &Value,
    place: &str,
    name: &str,
    alias: &str,
) -> Option<(Value, String)> {
    spots(root, payload).into_iter().filter(|spot| spot.place == place).find_map(|spot| {
        let mut payload = payload.clone();
        match payload.pointer_mut(&spot.pointer)? {
            Value::Object(members) => {
                let value = members.remove(name)?;
                members.insert(alias.to_owned(), value);
                Some((payload, format!("{}/{}", spot.pointer, escaped(name))))
            }
            text if *text == name => {
                *text = Value::from(alias);
                Some((payload, spot.pointer))
            }
            _ => None,
        }
    })
}

/// A value in a payload, and what the schema says of it.
struct Spot<'a> {
    /// The JSON pointer with `*` for positions in lists and names in maps.
    place: String,
    pointer: String,
    nodes: Vec<&'a Value>,
    value: &'a Value,
}

impl Spot<'_> {
    /// Whether the schema says what `name` means here.
    fn declares(&self, name: &str) -> bool {
        let is_member = |node: &&Value| node.get("properties").is_some_and(|own| own.get(name).is_some());
        self.nodes.iter().any(|node| is_member(node) || spelled_out(node).any(|text| text == name))
    }
}

/// Every value of a payload.
fn spots<'a>(root: &'a Value, payload: &'a Value) -> Vec<Spot<'a>> {
    spots_towards(root, payload, &|_, _| true)
}

/// The values of a payload on the way to those that are wanted, as `leads_there` tells by place and pointer.
fn spots_towards<'a>(
    root: &'a Value,
    payload: &'a Value,
    leads_there: &dyn Fn(&str, &str) -> bool,
) -> Vec<Spot<'a>> {
    let mut found = Vec::new();
    let whole =
        Spot { place: String::new(), pointer: String::new(), nodes: in_place(root, root), value: payload };
    collect(root, whole, leads_there, &mut found);
    found
}

fn collect<'a>(
    root: &'a Value,
    spot: Spot<'a>,
    leads_there: &dyn Fn(&str, &str) -> bool,
    found: &mut Vec<Spot<'a>>,
) {
    let part = |general: &str, own: &str, value: &'a Value| {
        let place = format!("{}/{}", spot.place, escaped(general));
        let pointer = format!("{}/{}", spot.pointer, escaped(own));
        leads_there(&place, &pointer).then(|| {
            let nodes = inner(root, &spot.nodes, if general == "*" { "*" } else { own });
            Spot { place, pointer, nodes, value }
        })
    };
    let parts: Vec<Spot<'a>> = match spot.value {
        Value::Array(items) => {
            items.iter().enumerate().filter_map(|(index, item)| part("*", &index.to_string(), item)).collect()
        }
        Value::Object(members) => members
            .iter()
            .filter_map(|(name, member)| part(if spot.declares(name) { name } else { "*" }, name, member))
            .collect(),
        _ => Vec::new(),
    };
    found.push(spot);
    parts.into_iter().for_each(|part| collect(root, part, leads_there, found));
}

/// Puts into `names` what the type asks for and its contract does not have.
fn ask(event: &EventDescriptor, contract: &Contract, payloads: &[Value], names: &mut Names) {
    let mut seen = BTreeSet::new();
    for payload in payloads {
        let asked = (event.asked)(payload).into_iter().filter_map(|asked| match asked.about {
            About::Place(pointer) => Some((pointer, asked.names)),
            About::Name(_) => None,
        });
        // The same type in the same field asks for the same names each time.
        let asked: Vec<_> =
            asked.filter(|(pointer, names)| seen.insert((general(pointer), names.as_ptr()))).collect();
        if asked.is_empty() {
            continue;
        }
        let leads_there = |_: &str, at: &str| asked.iter().any(|(pointer, _)| is_at_or_in(pointer, at));
        for spot in spots_towards(&contract.reads, payload, &leads_there) {
            for (_, asked) in asked.iter().filter(|(pointer, _)| *pointer == spot.pointer) {
                let more = asked.iter().filter(|name| !spot.declares(name)).map(|&name| name.to_owned());
                names.entry(spot.place.clone()).or_default().extend(more);
            }
        }
    }
}

/// Whether the place `inner` is `outer` or inside of it.
fn is_at_or_in(inner: &str, outer: &str) -> bool {
    inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn general(pointer: &str) -> String {
    pointer
        .split('/')
        .map(|part| if part.parse::<usize>().is_ok() { "*" } else { part })
        .collect::<Vec<_>>()
        .join("/")
}

/// Those of `names` that are aliases.
fn try_out(event: &EventDescriptor, contract: &Contract, payloads: &[Value], mut names: Names) -> Aliases {
    let own = contract.aliases.values().flatten().map(String::as_str).chain(MEMBERS);
    let own: BTreeSet<&str> = own.collect();
    names.entry(String::new()).or_default().retain(|name| !own.contains(name.as_str()));
    names.retain(|_, names| !names.is_empty());
    let leads_there = |place: &str, _: &str| names.keys().any(|wanted| is_at_or_in(wanted, place));
    // Each time it must be one, as a field of that name may be in several variants of an enum.
    let mut tried: BTreeMap<(String, String, String), bool> = BTreeMap::new();
    for payload in payloads.iter().filter(|_| !names.is_empty()) {
        for spot in spots_towards(&contract.reads, payload, &leads_there) {
            for alias in names.get(&spot.place).into_iter().flatten().filter(|name| !spot.declares(name)) {
                for (name, is_alias) in attempts(event, payload, &spot, alias) {
                    let key = (spot.place.clone(), name, alias.clone());
                    *tried.entry(key).or_insert(true) &= is_alias;
                }
            }
        }
    }
    let mut found = Aliases::new();
    for ((place, name, alias), _) in tried.into_iter().filter(|(_, is_alias)| *is_alias) {
        found.entry(place).or_default().entry(name).or_default().push(alias);
    }
    without_repetitions(contract, found)
}

/// Inside of itself, a type has the aliases that it has outside: the same part of the schema says both.
fn without_repetitions(contract: &Contract, mut found: Aliases) -> Aliases {
    let places: Vec<String> = found.keys().cloned().collect();
    for (at, place) in places.iter().enumerate() {
        let is_around = |outer: &&String| *outer != place && is_at_or_in(place, outer);
        let is_repeated = places[..at].iter().filter(is_around).any(|outer| {
            let is_same =
                |name: &String| declaring(contract, place, name) == declaring(contract, outer, name);
            found.get(outer) == found.get(place) && found[place].keys().all(is_same)
        });
        if is_repeated {
            found.remove(place);
        }
    }
    found
}

/// The parts of the schema at `place` that say what `name` is.
fn declaring(contract: &Contract, place: &str, name: &str) -> BTreeSet<String> {
    let has = |node: &String| {
        contract.reads.pointer(node).is_some_and(|node| {
            node.get("properties").is_some_and(|own| own.get(name).is_some())
                || spelled_out(node).any(|text| text == name)
        })
    };
    nodes_at(&contract.reads, place).into_iter().filter(has).collect()
}

/// Each name at the spot, and whether `alias` is read as if it were that name, where that can be told.
fn attempts(event: &EventDescriptor, payload: &Value, spot: &Spot<'_>, alias: &str) -> Vec<(String, bool)> {
    let Some(before) = written(event, payload) else { return Vec::new() };
    let at = |change: &dyn Fn(&mut Value)| {
        let mut payload = payload.clone();
        payload.pointer_mut(&spot.pointer).map(change);
        written(event, &payload)
    };
    match spot.value {
        Value::String(name) if spot.declares(name) => {
            let instead = at(&|text| *text = Value::from(alias));
            before.map(|before| vec![(name.clone(), instead == Some(Some(before)))]).unwrap_or_default()
        }
        Value::Object(members) if !members.contains_key(alias) => {
            let own =
                members.iter().filter(|(name, _)| spot.declares(name) && !MEMBERS.contains(&name.as_str()));
            let is_alias = |(name, value): (&String, &Value)| {
                let instead = at(&|object| {
                    object.as_object_mut().map(|object| object.remove(name));
                    object[alias] = value.clone();
                });
                let without = at(&|object| drop(object.as_object_mut().map(|object| object.remove(name))));
                let both = || at(&|object| object[alias] = value.clone());
                let is_alias = if instead.is_none() || without.as_ref() != Some(&before) {
                    Some(instead.as_ref() == Some(&before))
                } else {
                    // The value leaves no trace; but one field under two names is refused.
                    both().is_none().then_some(true)
                };
                is_alias.map(|is_alias| (name.clone(), is_alias))
            };
            own.filter_map(is_alias).collect()
        }
        _ => Vec::new(),
    }
}
