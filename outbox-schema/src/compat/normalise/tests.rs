//! What the normal form promises: names and addresses play no part, and what can't be followed is said.

use super::normalise;
use crate::compat::{Formats, Verdict, compare};
use serde_json::{Value, json};

#[test]
fn names_of_definitions_and_annotations_play_no_part() {
    let one =
        json!({ "title": "A", "$ref": "#/$defs/A", "$defs": { "A": { "type": "null" }, "Unused": false } });
    let other =
        json!({ "$ref": "#b", "definitions": { "B": { "$anchor": "b", "type": "null", "$comment": "." } } });
    assert_eq!(normalise(&one), normalise(&other));
}

#[test]
fn what_leads_nowhere_or_round_in_a_circle_is_said() {
    let lost = normalise(&json!({ "$ref": "#/$defs/None" })).unwrap_err();
    assert!(lost.contains("`$ref: #/$defs/None` leads nowhere"), "{lost}");
    for circle in [
        json!({ "$ref": "#" }),
        json!({ "properties": { "a": { "$ref": "#/$defs/A" } }, "$defs": { "A": { "anyOf": [true, { "$ref": "#/$defs/A" }] } } }),
    ] {
        let circle = normalise(&circle).unwrap_err();
        assert!(circle.contains("refers to itself"), "{circle}");
    }
    let tree = json!({ "properties": { "kids": { "items": { "$ref": "#" } } } });
    assert!(normalise(&tree).is_ok());
}

#[test]
fn integers_of_128_bits_are_told_apart_and_hold_those_of_64() {
    let signed = json!({ "type": "integer", "format": "int128" });
    let unsigned = json!({ "type": "integer", "format": "uint128", "minimum": 0 });
    let holds = |writer: &Value, reader: &Value| compare(writer, reader, Formats::Asserted) == Verdict::Holds;
    assert!(holds(&signed, &signed) && holds(&unsigned, &unsigned));
    for (format, minimum) in [("int64", i64::MIN), ("uint64", 0)] {
        let small = json!({ "type": "integer", "format": format, "minimum": minimum });
        assert!(holds(&small, &signed), "{format}");
        assert_eq!(holds(&small, &unsigned), minimum == 0, "{format}");
        assert!(!holds(&signed, &small) && !holds(&unsigned, &small), "{format}");
    }
    let breaks = |writer: &Value, reader: &Value| {
        matches!(compare(writer, reader, Formats::Asserted), Verdict::Breaks(_))
    };
    assert!(breaks(&unsigned, &signed) && breaks(&signed, &unsigned));
}
