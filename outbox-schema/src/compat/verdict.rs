//! Puts the deciders together: a proof, a second opinion, and a payload that shows the break.

use super::formats::Formats;
use super::normalise::normalise;
use super::prove::{self, Answer};
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
    let (sub, sup) = match (normalise(sub), normalise(sup)) {
        (Ok(sub), Ok(sup)) => (sub, sup),
        (Err(reason), _) | (_, Err(reason)) => return Verdict::NotProven(reason),
    };
    let Some(judge) = witness::Judge::new(&sub, &sup, formats) else {
        return Verdict::NotProven("one of the schemas can't be compiled by the validator".to_owned());
    };
    let proof = prove::difference(&sub, &sup, formats);
    if let Answer::Value(payload) = &proof
        && let Some(witness) = judge.witness(payload)
    {
        return Verdict::Breaks(witness);
    }
    let second = canonical::covers(&sub, &sup, formats);
    let attack = witness::search(&judge, &sub, &sup);
    match (proof, second, attack) {
        (Answer::Nothing, _, Some(witness)) => contradiction("the prover says that every payload is read", &witness),
        (_, Some(true), Some(witness)) => contradiction("the second opinion says that every payload is read", &witness),
        (_, _, Some(witness)) => Verdict::Breaks(witness),
        (Answer::Nothing, Some(false), None) => Verdict::NotProven(
            "the prover and the second opinion contradict each other; this is a bug of outbox, please report it"
                .to_owned(),
        ),
        // A value the validator did not agree to says no more than `Unknown`.
        (Answer::Nothing, _, None) | (_, Some(true), None) => Verdict::Holds,
        (_, Some(false), None) => Verdict::NotProven("the second opinion sees a break, but no payload shows it".to_owned()),
        (_, None, None) => Verdict::NotProven("neither a proof nor a payload that breaks was found".to_owned()),
    }
}

fn contradiction(claim: &str, witness: &Witness) -> Verdict {
    Verdict::NotProven(format!(
        "{claim}, and {} is refused: {}; this is a bug of outbox, please report it",
        witness.payload, witness.error
    ))
}
