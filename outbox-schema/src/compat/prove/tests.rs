//! What the prover promises: proofs for what holds, values for what does not, and never a wrong proof.

use super::*;
use serde_json::json;

fn ask(sub: &Value, sup: &Value) -> Answer {
    difference(sub, sup, Formats::Asserted)
}

fn tree(value: &str, optional: bool) -> Value {
    let required = if optional { json!(["value"]) } else { json!(["value", "next"]) };
    json!({
        "$defs": { "Node": {
            "type": "object",
            "properties": {
                "value": { "type": value },
                "next": { "anyOf": [{ "$ref": "#/$defs/Node" }, { "type": "null" }] },
            },
            "required": required,
        } },
        "$ref": "#/$defs/Node",
    })
}

#[test]
fn a_recursive_type_is_compared_with_itself_and_finds_a_break_in_it() {
    assert_eq!(ask(&tree("integer", false), &tree("number", true)), Answer::Nothing);
    let Answer::Value(found) = ask(&tree("integer", true), &tree("integer", false)) else {
        panic!("no value")
    };
    assert!(found.get("next").is_none(), "{found}");
}

#[test]
fn an_assumption_that_fails_takes_what_rested_on_it_along() {
    // The inner `Other` may only be judged after `Node` is, and `Node` breaks on the other branch.
    let schema = |extra: Value| {
        json!({
            "$defs": {
                "Node": { "type": "object", "properties": { "other": { "$ref": "#/$defs/Other" }, "extra": extra } },
                "Other": { "type": "object", "properties": { "node": { "$ref": "#/$defs/Node" } } },
            },
            "type": "object",
            "properties": { "first": { "$ref": "#/$defs/Node" }, "second": { "$ref": "#/$defs/Other" } },
        })
    };
    let (wide, narrow) = (schema(json!({ "type": ["string", "null"] })), schema(json!({ "type": "string" })));
    assert!(matches!(ask(&wide, &narrow), Answer::Value(_)));
    assert_eq!(ask(&narrow, &wide), Answer::Nothing);
    let only_second = json!({ "required": ["second"], "properties": { "first": false } });
    let wide_second = json!({ "allOf": [only_second, wide["properties"]["second"]], "$defs": wide["$defs"],
        "properties": wide["properties"] });
    assert!(matches!(ask(&wide_second, &narrow), Answer::Value(_)));
}

#[test]
fn a_pattern_is_compared_as_a_language() {
    let pattern = |text: &str| json!({ "type": "string", "pattern": text });
    assert_eq!(ask(&pattern("^[a-z]+$"), &pattern("^[a-z0-9]+$")), Answer::Nothing);
    assert!(matches!(ask(&pattern("^[a-z0-9]+$"), &pattern("^[a-z]+$")), Answer::Value(_)));
    assert_eq!(ask(&json!({ "enum": ["ab", "b"] }), &pattern("b$")), Answer::Nothing);
}

#[test]
fn a_tagged_union_of_fifty_does_not_multiply() {
    let variant = |index: usize, optional: bool| {
        let mut required = vec!["kind", "a", "b"];
        required.truncate(if optional { 2 } else { 3 });
        json!({ "type": "object", "required": required, "properties": {
            "kind": { "const": format!("k{index}") }, "a": { "type": "integer" }, "b": { "type": "string" },
            "c": { "type": ["string", "null"] }, "d": { "type": "array", "items": { "type": "boolean" } },
        } })
    };
    let union = |optional: bool| json!({ "oneOf": (0..50).map(|index| variant(index, optional)).collect::<Vec<_>>() });
    assert_eq!(ask(&union(false), &union(true)), Answer::Nothing);
    assert!(matches!(ask(&union(true), &union(false)), Answer::Value(_)));
}

#[test]
fn an_undecidable_pair_ends_at_the_step_limit() {
    // Untagged variants that overlap in every way: each must be told apart from all the others.
    let variant = |index: usize| {
        let names = (0..40).filter(|bit| !(index * 7 + bit * 3_usize).is_multiple_of(5));
        let properties: serde_json::Map<String, Value> = names
            .map(|bit| (format!("f{bit}"), json!({ "type": ["integer", "string"], "multipleOf": bit + 2 })))
            .collect();
        json!({ "type": "object", "properties": properties, "minProperties": index % 4 })
    };
    let union = |from: usize| json!({ "oneOf": (from..from + 50).map(variant).collect::<Vec<_>>() });
    let started = std::time::Instant::now();
    let _ = ask(&union(0), &union(3));
    assert!(started.elapsed().as_secs() < 60, "took {:?}", started.elapsed());
}

#[test]
fn what_can_not_be_followed_is_never_called_nothing() {
    let sub = json!({ "type": "object", "properties": { "a": { "type": "integer" } } });
    let sup = json!({ "allOf": [{ "properties": { "a": true } }], "unevaluatedProperties": false });
    assert_ne!(ask(&sub, &sup), Answer::Nothing);
    assert_eq!(ask(&sup, &sup), Answer::Nothing);
}

#[test]
fn a_claim_is_no_reason_for_itself() {
    // `not oneOf` asks beside the value at hand, so an open query must not be taken for granted there.
    let member = json!({ "type": "object", "required": ["a"] });
    let sub = json!({ "not": { "oneOf": [member, { "type": "object", "required": ["b"] }] }, "required": ["a"], "type": "object" });
    let Answer::Value(found) = ask(&sub, &Value::Bool(false)) else { panic!("no value") };
    assert!(found.get("a").is_some() && found.get("b").is_some(), "{found}");
}
