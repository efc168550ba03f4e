//! Which removed names are remembered, and when one that comes back is refused.

use super::*;
use crate::compat::check;

fn contract(fields: &Value) -> Contract {
    let schema = json!({
        "type": "object",
        "properties": fields,
        "$defs": {
            "Money": { "type": "object", "properties": { "cents": { "type": "integer" } }, "required": ["cents"] },
            "Tree": { "type": "object", "properties": { "next": { "$ref": "#/$defs/Tree" } } },
        },
    });
    Contract::of_schemas("orders.placed", "orders", schema.clone(), schema)
}

/// The contracts of releases with these fields, each with what it took over from the one before.
fn releases<const N: usize>(fields: [Value; N]) -> [Contract; N] {
    let mut contracts = fields.map(|fields| contract(&fields));
    for index in 1..N {
        contracts[index].reserved = reserved(&contracts[index - 1], &contracts[index]);
    }
    contracts
}

fn ids(released: &Contract, current: &Contract) -> Vec<&'static str> {
    check(released, current, None).iter().map(|finding| finding.id.as_str()).collect()
}

#[test]
fn a_removed_name_is_remembered_with_what_it_held_until_it_comes_back() {
    let coupon = json!({ "coupon": { "anyOf": [{ "$ref": "#/$defs/Money" }, { "type": "null" }] } });
    let [_, removed, later, back] = releases([coupon.clone(), json!({}), json!({ "note": true }), coupon]);
    assert_eq!(removed.reserved.keys().collect::<Vec<_>>(), ["/coupon"]);
    let definitions = removed.reserved["/coupon"]["$defs"].as_object().unwrap();
    assert_eq!(
        definitions.keys().collect::<Vec<_>>(),
        ["Money"],
        "it stands alone, with no more than it needs"
    );
    assert_eq!(later.reserved, removed.reserved);
    assert_eq!(back.reserved.keys().collect::<Vec<_>>(), ["/note"]);
    let read = Contract::parse(&later.to_text()).unwrap();
    assert_eq!(read, later, "the file keeps it");
}

#[test]
fn a_removed_name_may_come_back_as_it_was_and_not_as_something_else() {
    let text = json!({ "coupon": { "type": ["string", "null"] } });
    let number = json!({ "coupon": { "type": ["integer", "null"] } });
    let [_, removed, same] = releases([text.clone(), json!({}), text.clone()]);
    assert_eq!(ids(&removed, &same), [""; 0]);

    let [_, _, removed_long_ago, other] =
        releases([text, json!({}), json!({ "note": { "type": "string" } }), number]);
    let findings = check(&removed_long_ago, &other, None);
    let finding = findings.iter().find(|finding| finding.id == FindingId::ReservedNameReused).unwrap();
    let Evidence::Refused(witness) = &finding.evidence else { panic!("{finding:?}") };
    assert!(witness.payload["coupon"].is_string(), "{witness:?}");
    assert_eq!((finding.pointer.as_str(), witness.pointer.as_str()), ("/coupon", "/coupon"));

    let [_, released] = [&removed_long_ago, &other];
    assert_eq!(ids(released, released), [""; 0], "once released again it is a field like others");
}

#[test]
fn names_inside_of_other_types_and_types_that_contain_themselves_are_remembered() {
    let with = json!({ "lines": { "items": { "properties": { "sku": { "type": "string" }, "tree": { "$ref": "#/$defs/Tree" },
                       "order": { "$ref": "#" } }, "type": "object" }, "type": "array" } });
    let without = json!({ "lines": { "items": { "properties": {}, "type": "object" }, "type": "array" } });
    let other = json!({ "lines": { "items": { "properties": { "sku": { "type": "integer" } }, "type": "object" }, "type": "array" } });
    let [_, removed, reused] = releases([with.clone(), without, other]);
    assert_eq!(
        removed.reserved.keys().collect::<Vec<_>>(),
        ["/lines/*/order", "/lines/*/sku", "/lines/*/tree"]
    );
    assert!(ids(&removed, &reused).contains(&"reserved-name-reused"));
    let [_, removed, back] =
        releases([with.clone(), json!({ "lines": with["lines"]["items"]["properties"]["sku"] }), with]);
    assert!(!ids(&removed, &back).contains(&"reserved-name-reused"));
}
