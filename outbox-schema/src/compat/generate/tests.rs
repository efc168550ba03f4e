//! What payloads made from a schema must cover.

use super::*;
use schemars::JsonSchema;
use std::collections::HashMap;

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Order {
    number: u8,
    note: Option<String>,
    lines: Vec<Line>,
    payment: Payment,
    totals: HashMap<String, i64>,
    at: Address,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Line {
    sku: char,
    parts: Vec<Line>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
#[serde(tag = "kind", content = "with")]
enum Payment {
    Cash,
    Card { last4: String },
    Split(u8, f32),
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
#[serde(untagged)]
enum Address {
    Ip(std::net::IpAddr),
    Port(u16),
}

fn made(count_max: usize) -> Vec<Value> {
    payloads(schemars::schema_for!(Order).as_value(), count_max)
}

#[track_caller]
fn comes_up(pointer: &str, expected: &[Value]) {
    let made = made(64);
    let found: Vec<Value> = made.iter().filter_map(|payload| payload.pointer(pointer)).cloned().collect();
    for value in expected {
        assert!(found.contains(value), "{value} is not among {found:?}");
    }
}

#[test]
fn bounds_null_empty_and_every_branch_come_up() {
    comes_up("/number", &[json!(0), json!(255), json!(42)]);
    comes_up("/note", &[Value::Null, json!("text"), json!("")]);
    comes_up("/lines", &[json!([])]);
    comes_up("/lines/0/sku", &[json!("t"), json!("a"), json!("0")]);
    comes_up("/lines/0/parts", &[json!([])]);
    comes_up("/payment/kind", &[json!("Cash"), json!("Card"), json!("Split")]);
    comes_up("/payment/with/1", &[json!(9.5), json!(0.0)]);
    comes_up("/totals", &[json!({})]);
    comes_up("/totals/key", &[json!(i64::MIN), json!(i64::MAX)]);
    comes_up("/at", &[json!("192.0.2.1"), json!("2001:db8::1"), json!(0), json!(u16::MAX)]);
    assert!(made(64).iter().any(|payload| payload.get("note").is_none()));
}

#[test]
fn the_first_payload_is_full_and_their_number_has_a_limit() {
    let first = &made(1)[0];
    assert_eq!(first["number"], 42);
    assert_eq!(first["note"], "text");
    assert!(first["lines"][0]["parts"][0].is_object(), "{first}");
    assert_eq!(made(5).len(), 5);
}

#[test]
fn parts_that_apply_together_are_filled_together() {
    let schema = json!({
        "type": "object",
        "properties": { "id": { "type": "integer" } },
        "required": ["id"],
        "allOf": [
            { "properties": { "a": { "type": "boolean" } }, "required": ["a"] },
            { "oneOf": [
                { "properties": { "t": { "const": "x" } }, "required": ["t"] },
                { "properties": { "t": { "const": "y" }, "y": { "$ref": "#/$defs/y" } }, "required": ["t", "y"] },
            ] },
        ],
        "$defs": { "y": { "type": "string", "pattern": "^[a-f]{3}$" } },
    });
    let made = payloads(&schema, 20);
    assert!(made.iter().any(|payload| payload["t"] == "x"), "{made:?}");
    assert!(made.iter().any(|payload| payload["y"].is_string()), "{made:?}");
}

#[test]
fn what_no_value_satisfies_has_no_payload() {
    assert_eq!(payloads(&json!({ "type": "integer", "minimum": 3, "maximum": 2 }), 8), Vec::<Value>::new());
    assert_eq!(payloads(&json!(false), 8), Vec::<Value>::new());
}
