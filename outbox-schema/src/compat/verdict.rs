//! Puts the deciders together: a proof, a second opinion, and a payload that shows the break.

use super::formats::Formats;
use super::normalise::normalise;
use super::prove::{self, Answer};
use super::witness::Breadth;
use super::{canonical, witness};
use serde_json::Value;

/// Whether every payload of one side is read by the other.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Every payload is read; this is proven.
    Holds,
    /// This payload is written and not read.
    Breaks(Witness),
    /// It could not be decided, for this reason.
    NotProven(String),
}

/// A payload that one side writes and the other refuses; an independent validator agrees to both.
#[derive(Debug, Clone, PartialEq)]
pub struct Witness {
    /// The payload.
    pub payload: Value,
    /// What the reader says to it.
    pub error: String,
    /// The JSON pointer of the refused part.
    pub pointer: String,
}

/// Decides whether every value of `sub` is a value of `sup`.
#[must_use]
pub fn compare(sub: &Value, sup: &Value, formats: Formats) -> Verdict {
    decide(sub, sup, formats, &Deciders::OURS)
}

/// Those who are asked, each on its own. Tests put liars in their place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deciders {
    /// Looks for a value of the first that is none of the second.
    pub(super) prove: fn(&Value, &Value, Formats) -> Answer,
    /// Whether the second takes every value of the first; `None` where it can't tell.
    pub(super) second_opinion: fn(&Value, &Value, Formats) -> Option<bool>,
    /// Looks for a payload that two validators agree about.
    pub(super) attack: fn(&witness::Judge<'_>, &Value, &Value, Breadth) -> Option<Witness>,
}

impl Deciders {
    pub(super) const OURS: Self =
        Self { prove: prove::difference, second_opinion: canonical::covers, attack: witness::search };
}

pub(super) fn decide(sub: &Value, sup: &Value, formats: Formats, deciders: &Deciders) -> Verdict {
    let (sub, sup) = match (normalise(sub), normalise(sup)) {
        (Ok(sub), Ok(sup)) => (sub, sup),
        (Err(reason), _) | (_, Err(reason)) => return Verdict::NotProven(reason),
    };
    let Some(judge) = witness::Judge::new(&sub, &sup, formats) else {
        return Verdict::NotProven("one of the schemas can't be compiled by the validator".to_owned());
    };
    let proof = (deciders.prove)(&sub, &sup, formats);
    if let Answer::Value(payload) = &proof
        && let Some(witness) = judge.witness(payload)
    {
        return Verdict::Breaks(witness);
    }
    let second = (deciders.second_opinion)(&sub, &sup, formats);
    let is_proven = proof == Answer::Nothing && second != Some(false);
    let breadth = if is_proven { Breadth::BRIEF } else { Breadth::THOROUGH };
    let attack = (deciders.attack)(&judge, &sub, &sup, breadth);
    match (proof, second, attack) {
        (Answer::Nothing, _, Some(witness)) => {
            contradiction("the prover says that every payload is read", &witness)
        }
        (_, Some(true), Some(witness)) => {
            contradiction("the second opinion says that every payload is read", &witness)
        }
        (_, _, Some(witness)) => Verdict::Breaks(witness),
        (Answer::Nothing, Some(false), None) | (Answer::Value(_), Some(true), None) => {
            Verdict::NotProven(format!("the prover and the second opinion contradict each other; {OUR_BUG}"))
        }
        (Answer::Nothing, _, None) | (Answer::Unknown, Some(true), None) => Verdict::Holds,
        (_, Some(false), None) => {
            Verdict::NotProven("the second opinion sees a break, but no payload shows it".to_owned())
        }
        (_, None, None) => {
            Verdict::NotProven("neither a proof nor a payload that breaks was found".to_owned())
        }
    }
}

/// How every contradiction ends.
const OUR_BUG: &str = "this is a bug of outbox, please report it";

fn contradiction(claim: &str, witness: &Witness) -> Verdict {
    Verdict::NotProven(format!("{claim}, and {} is refused: {}; {OUR_BUG}", witness.payload, witness.error))
}

#[cfg(test)]
mod tests;
