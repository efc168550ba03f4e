//! Patterns as automata: whether some string fits several patterns and lengths at once, and which is the shortest.

use regex_automata::dfa::{Automaton, dense};
use regex_automata::util::{primitives::StateID, start, syntax};
use regex_automata::{Anchored, nfa::thompson};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

/// Room for one automaton; a pattern that needs more is not followed.
const AUTOMATON_BYTES_MAX: usize = 1 << 20;
/// States of a product that are looked at before the search gives up.
const STATES_MAX: usize = 10_000;

/// One `pattern`, read as ECMA 262 in Unicode mode reads it.
#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) text: String,
    automaton: Option<dense::DFA<Vec<u32>>>,
}

impl Pattern {
    pub(super) fn new(text: &str) -> Self {
        let automaton =
            jsonschema_regex::to_rust_regex(text).ok().and_then(|translated| automaton(&translated));
        Self { text: text.to_owned(), automaton }
    }

    /// A pattern that matches the given strings and no other.
    pub(super) fn exactly<'a>(strings: impl Iterator<Item = &'a str>) -> Self {
        let alternatives: Vec<_> = strings.map(escaped).collect();
        let text = format!("^(?:{})$", alternatives.join("|"));
        Self { automaton: automaton(&text), text }
    }

    /// Whether the pattern is found in `text`; `None` if the pattern can't be followed.
    pub(super) fn matches(&self, text: &str) -> Option<bool> {
        let automaton = self.automaton.as_ref()?;
        let mut state = start_of(automaton)?;
        for &byte in text.as_bytes() {
            state = automaton.next_state(state, byte);
            if automaton.is_match_state(state) {
                return Some(true);
            }
        }
        Some(automaton.is_match_state(automaton.next_eoi_state(state)))
    }
}

/// `text` as a pattern that stands for itself.
fn escaped(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_ascii_punctuation() {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}

fn automaton(pattern: &str) -> Option<dense::DFA<Vec<u32>>> {
    dense::Builder::new()
        .configure(
            dense::Config::new()
                .start_kind(regex_automata::dfa::StartKind::Unanchored)
                .dfa_size_limit(Some(AUTOMATON_BYTES_MAX))
                .determinize_size_limit(Some(4 * AUTOMATON_BYTES_MAX)),
        )
        .syntax(syntax::Config::new().utf8(true))
        .thompson(thompson::Config::new().nfa_size_limit(Some(4 * AUTOMATON_BYTES_MAX)))
        .build(pattern)
        .ok()
}

fn start_of(automaton: &dense::DFA<Vec<u32>>) -> Option<StateID> {
    automaton.start_state(&start::Config::new().anchored(Anchored::No)).ok()
}

/// What a string must fit.
#[derive(Debug, Default, Clone)]
pub(super) struct Language {
    pub(super) with: Vec<Rc<Pattern>>,
    pub(super) without: Vec<Rc<Pattern>>,
    pub(super) length_min: u64,
    pub(super) length_max: Option<u64>,
}

/// The outcome of a search for a string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    Text(String),
    Nothing,
    Unknown,
}

/// A place in the product: a state for each automaton (`None` once it has matched), and the characters so far.
type Place = (Vec<Option<StateID>>, u64);

impl Language {
    /// Finds the shortest string of this language, with readable characters where there is a choice.
    pub(super) fn shortest(&self) -> Found {
        if self.length_max.is_some_and(|max| max < self.length_min) {
            return Found::Nothing;
        }
        if self.with.is_empty() && self.without.is_empty() {
            return match usize::try_from(self.length_min) {
                Ok(length) if length <= 100_000 => Found::Text("a".repeat(length)),
                _ => Found::Unknown,
            };
        }
        // Automata read bytes; this one keeps the product inside the strings that are UTF-8.
        let any = Rc::new(Pattern { text: String::new(), automaton: automaton(r"^(?s:.)*$") });
        let patterns: Vec<_> = std::iter::once(&any).chain(&self.with).chain(&self.without).collect();
        let automata: Option<Vec<_>> = patterns.iter().map(|pattern| pattern.automaton.as_ref()).collect();
        let Some(automata) = automata else { return Found::Unknown };
        self.search(&automata)
    }

    fn search(&self, automata: &[&dense::DFA<Vec<u32>>]) -> Found {
        let starts: Option<Vec<_>> = automata.iter().map(|automaton| start_of(automaton).map(Some)).collect();
        let Some(starts) = starts else { return Found::Unknown };
        let length_cap = self.length_max.map_or(self.length_min, |max| max + 1);
        let bytes = byte_order();
        let first: Place = (starts, 0);
        let mut came_from: HashMap<Place, Option<(Place, u8)>> = HashMap::from([(first.clone(), None)]);
        let mut queue = VecDeque::from([first]);
        while let Some(place) = queue.pop_front() {
            if self.accepts(automata, &place) {
                return Found::Text(text_of(&came_from, place));
            }
            if came_from.len() > STATES_MAX {
                return Found::Unknown;
            }
            for &byte in &bytes {
                let Some(next) = self.step(automata, &place, byte, length_cap) else { continue };
                if !came_from.contains_key(&next) {
                    came_from.insert(next.clone(), Some((place.clone(), byte)));
                    queue.push_back(next);
                }
            }
        }
        Found::Nothing
    }

    /// Reads one byte; `None` where no string can go on to be accepted.
    fn step(&self, automata: &[&dense::DFA<Vec<u32>>], place: &Place, byte: u8, cap: u64) -> Option<Place> {
        let starts_character = byte & 0xC0 != 0x80;
        let length = (place.1 + u64::from(starts_character)).min(cap);
        if self.length_max.is_some_and(|max| length > max) {
            return None;
        }
        let mut states = Vec::with_capacity(automata.len());
        for (index, (automaton, state)) in automata.iter().zip(&place.0).enumerate() {
            let Some(state) = state else {
                states.push(None);
                continue;
            };
            let next = automaton.next_state(*state, byte);
            let wanted = index <= self.with.len();
            match (automaton.is_match_state(next), automaton.is_dead_state(next)) {
                (true, _) if !wanted => return None,
                (false, true) if wanted => return None,
                (true, _) if index > 0 => states.push(None),
                _ => states.push(Some(next)),
            }
        }
        Some((states, length))
    }

    fn accepts(&self, automata: &[&dense::DFA<Vec<u32>>], place: &Place) -> bool {
        place.1 >= self.length_min
            && automata.iter().zip(&place.0).enumerate().all(|(index, (automaton, state))| {
                let matched =
                    state.is_none_or(|state| automaton.is_match_state(automaton.next_eoi_state(state)));
                matched == (index <= self.with.len())
            })
    }
}

/// All bytes, letters and digits first.
fn byte_order() -> Vec<u8> {
    let readable = (b'a'..=b'z').chain(b'0'..=b'9').chain(b'A'..=b'Z').chain(*b"-_. ");
    let mut bytes: Vec<u8> = readable.collect();
    bytes.extend((0x21..=0x7E).chain(0xC2..=0xF4).chain(0x80..=0xBF).chain(0x00..=0x20).chain([0x7F]));
    let mut seen = [false; 256];
    bytes.retain(|&byte| !std::mem::replace(&mut seen[usize::from(byte)], true));
    bytes
}

fn text_of(came_from: &HashMap<Place, Option<(Place, u8)>>, mut place: Place) -> String {
    let mut bytes = Vec::new();
    while let Some(Some((previous, byte))) = came_from.get(&place) {
        bytes.push(*byte);
        place = previous.clone();
    }
    bytes.reverse();
    String::from_utf8_lossy(&bytes).into_owned()
}
