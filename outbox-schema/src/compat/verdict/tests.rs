//! Deciders that lie: whichever does, the others find it out, and nothing passes.

use super::*;
use serde_json::json;

const SAYS_ALL_IS_READ: Deciders = Deciders { prove: |_, _, _| Answer::Nothing, ..Deciders::OURS };
const SAYS_NOTHING_IS_READ: Deciders =
    Deciders { prove: |_, _, _| Answer::Value(Value::Null), ..Deciders::OURS };
const SECONDS_EVERYTHING: Deciders =
    Deciders { prove: |_, _, _| Answer::Unknown, second_opinion: |_, _, _| Some(true), ..Deciders::OURS };
const SECONDS_NOTHING: Deciders = Deciders { second_opinion: |_, _, _| Some(false), ..Deciders::OURS };

/// The verdict on a change that breaks nobody, and on one that breaks somebody.
fn verdicts(deciders: &Deciders) -> [Verdict; 2] {
    let (small, large) =
        (json!({ "type": "integer", "minimum": 0 }), json!({ "type": "integer", "minimum": -1 }));
    [(&small, &large), (&large, &small)].map(|(sub, sup)| decide(sub, sup, Formats::Asserted, deciders))
}

#[track_caller]
fn is_our_bug(verdict: &Verdict) {
    let Verdict::NotProven(reason) = verdict else { panic!("{verdict:?}") };
    assert!(reason.ends_with(OUR_BUG), "{reason}");
}

#[test]
fn those_who_agree_are_believed() {
    let [holds, breaks] = verdicts(&Deciders::OURS);
    assert!(matches!((holds, breaks), (Verdict::Holds, Verdict::Breaks(_))));
}

#[test]
fn a_prover_that_lies_is_found_out() {
    is_our_bug(&verdicts(&SAYS_ALL_IS_READ)[1]);
    is_our_bug(&verdicts(&SAYS_NOTHING_IS_READ)[0]);
}

#[test]
fn a_second_opinion_that_lies_is_found_out() {
    is_our_bug(&verdicts(&SECONDS_EVERYTHING)[1]);
    is_our_bug(&verdicts(&SECONDS_NOTHING)[0]);
}

#[test]
fn whoever_lies_nothing_that_breaks_passes() {
    for deciders in [SAYS_ALL_IS_READ, SAYS_NOTHING_IS_READ, SECONDS_EVERYTHING, SECONDS_NOTHING] {
        assert_ne!(verdicts(&deciders)[1], Verdict::Holds, "{deciders:?}");
    }
}

/// Fifty lists of fifty lists, twelve deep: whoever tries all ways never ends, and the shortest value is a long one.
#[test]
fn a_pair_whose_ways_multiply_is_given_up() {
    let tangle = |shift: usize| {
        let mut definitions = json!({ "level0": { "enum": (shift..shift + 50).collect::<Vec<_>>() } });
        for level in 1..=12 {
            let items = format!("#/$defs/level{}", level - 1);
            let list = |index: usize| json!({ "type": "array", "items": { "$ref": items }, "minItems": index % 9 + level });
            definitions[format!("level{level}")] = json!({ "anyOf": (0..50).map(list).collect::<Vec<_>>() });
        }
        json!({ "$defs": definitions, "$ref": "#/$defs/level12" })
    };
    let verdict = compare(&tangle(0), &tangle(1), Formats::Asserted);
    assert!(matches!(verdict, Verdict::NotProven(_)), "{verdict:?}");
}
