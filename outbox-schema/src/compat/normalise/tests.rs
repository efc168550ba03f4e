//! What the normal form promises: names and addresses play no part, and what can't be followed is said.

use super::normalise;
use serde_json::json;

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
