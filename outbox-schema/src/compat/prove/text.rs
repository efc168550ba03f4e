//! Finds a string that fits lengths, patterns and formats, or shows that there is none.

use super::Answer;
use super::branch::Branch;
use super::language::{Found, Language, Pattern};
use super::node::Assertion;
use crate::compat::formats;
use serde_json::Value;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What is known of a string.
#[derive(Debug, Clone, Default)]
pub(super) struct Text {
    language: Language,
    formats: BTreeMap<Rc<str>, bool>,
}

/// Strings of no particular format.
const PLAIN: &[&str] = &["a", "", "text", "0", "a b", "é", "not-a-format", "-", "!", "A1"];

impl Text {
    /// Takes on one more fact; false if it contradicts another.
    pub(super) fn take(&mut self, assertion: &Assertion, holds: bool) -> bool {
        let language = &mut self.language;
        match (assertion, holds) {
            (Assertion::LengthMin(min), true) => language.length_min = language.length_min.max(*min),
            (Assertion::LengthMin(min), false) => match min.checked_sub(1) {
                Some(max) => self.shorten(max),
                None => return false,
            },
            (Assertion::LengthMax(max), true) => self.shorten(*max),
            (Assertion::LengthMax(max), false) => language.length_min = language.length_min.max(max + 1),
            (Assertion::Matches(pattern), true) => language.with.push(Rc::clone(pattern)),
            (Assertion::Matches(pattern), false) => language.without.push(Rc::clone(pattern)),
            (Assertion::Format(name), holds) => {
                return *self.formats.entry(Rc::clone(name)).or_insert(holds) == holds;
            }
            _ => {}
        }
        let language = &self.language;
        !language.with.iter().any(|with| language.without.iter().any(|without| with.text == without.text))
    }

    fn shorten(&mut self, max: u64) {
        self.language.length_max = Some(self.language.length_max.map_or(max, |known| known.min(max)));
    }

    fn holds(&self, text: &str) -> bool {
        let length = text.chars().count() as u64;
        let language = &self.language;
        length >= language.length_min
            && language.length_max.is_none_or(|max| length <= max)
            && language.with.iter().all(|pattern| pattern.matches(text) == Some(true))
            && language.without.iter().all(|pattern| pattern.matches(text) == Some(false))
            && self.formats.iter().all(|(name, &holds)| formats::accepts(name, text) == Some(holds))
    }
}

pub(super) fn text(branch: &Branch) -> Answer {
    let facts = &branch.text;
    let mut language = facts.language.clone();
    if !branch.except().is_empty() {
        let excluded = branch.except().iter().filter_map(Value::as_str);
        language.without.push(Rc::new(Pattern::exactly(excluded)));
    }
    let plain = PLAIN.iter().map(|&text| text.to_owned());
    let of_format =
        facts.formats.iter().filter(|&(_, &holds)| holds).flat_map(|(name, _)| formats::samples(name));
    let mut candidates: Vec<String> = of_format.map(|&text| text.to_owned()).chain(plain).collect();
    if let Some(found) = first_that_holds(branch, &candidates) {
        return found;
    }
    match language.shortest() {
        Found::Nothing => return Answer::Nothing,
        Found::Text(text) => candidates = vec![text],
        Found::Unknown => return Answer::Unknown,
    }
    first_that_holds(branch, &candidates).unwrap_or(Answer::Unknown)
}

fn first_that_holds(branch: &Branch, candidates: &[String]) -> Option<Answer> {
    let held =
        candidates.iter().filter(|text| branch.text.holds(text)).map(|text| Value::from(text.as_str()));
    held.into_iter().find(|value| branch.allows(value)).map(Answer::Value)
}
