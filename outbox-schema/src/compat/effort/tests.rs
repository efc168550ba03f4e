//! Sizes and efforts, by hand and at their limits.

use super::{Allowance, PARTS_MAX, fits, looks};
use serde_json::{Value, json};

#[test]
fn a_value_counts_with_all_its_parts() {
    let half = Value::from(vec![0; PARTS_MAX / 2 - 1]);
    assert!(fits([&half, &half]));
    assert!(!fits([&half, &half, &json!(0)]));
    assert!(!fits([&json!({ "a": half, "b": half })]));
}

#[test]
fn branches_within_branches_multiply_and_members_do_not() {
    let branch = json!({ "type": "array", "items": { "anyOf": [{ "const": 1 }, { "const": 2 }] } });
    let nested = json!({ "anyOf": [branch, branch, branch] });
    // The union, its branches; one level down the items of each, with two branches more.
    assert_eq!([0, 1].map(|depth| looks(&nested, depth)), [4, 4 + 3 * 3]);
    let fields = json!({ "properties": { "a": {}, "b": { "not": {} } } });
    assert_eq!(looks(&fields, 1), 1 + 2);
}

#[test]
fn a_type_that_contains_itself_asks_for_more_the_deeper_a_value_goes() {
    let list =
        json!({ "anyOf": [{ "type": "null" }, { "items": { "$ref": "#" } }, { "items": { "$ref": "#" } }] });
    assert_eq!([0, 1, 2].map(|depth| looks(&list, depth)), [4, 4 + 2 * 5, 4 + 2 * 15]);
    let in_place = json!({ "allOf": [{ "$ref": "#" }] });
    assert_eq!(looks(&in_place, 0), u64::MAX);
}

#[test]
fn what_would_take_too_long_is_not_covered() {
    let list = json!({ "anyOf": vec![json!({ "items": { "$ref": "#" } }); 50] });
    let always = Value::Bool(true);
    let allowance = Allowance::new([&list, &always]);
    assert!(allowance.covers(&json!([[[]]])));
    assert!(!allowance.covers(&json!([[[[[]]]]])));
}
