//! What the gate finds beside what the verdicts say: the policy, and the places in the source.

use super::*;
use crate::compat::{Severity, prove};
use crate::{FieldDescriptor, KeySource, OnPoison, OrderingMode};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

fn contract(fields: &Value, required: &[&str]) -> Contract {
    let schema = json!({ "type": "object", "properties": fields, "required": required });
    Contract {
        event_version: 4,
        ordering: OrderingMode::Keyed,
        key: "field id".to_owned(),
        ..Contract::of_schemas("orders.placed", "orders", schema.clone(), schema)
    }
}

fn event() -> EventDescriptor {
    const fn field(
        name: &'static str,
        reads: &'static [&'static str],
        flatten: bool,
        line: u32,
    ) -> FieldDescriptor {
        FieldDescriptor {
            name,
            writes: reads.first().copied(),
            reads,
            flatten,
            members: Vec::new,
            description: "",
            line,
        }
    }
    const FIELDS: &[FieldDescriptor] = &[
        field("id", &["id"], false, 11),
        field("kind", &["type", "sort"], false, 12),
        field("meta", &[], true, 13),
    ];
    EventDescriptor {
        event_type: "orders.placed",
        event_version: 4,
        topic: "orders",
        ordering: OrderingMode::Keyed,
        key: KeySource::Field("id"),
        on_poison: OnPoison::Park,
        emitted_by: "shop",
        deprecated: None,
        retired: None,
        upcast_from: || None,
        also_as: || None,
        description: "",
        rust_path: "shop::Placed",
        file: "src/lib.rs",
        line: 10,
        fields: FIELDS,
        serialize_schema: || Value::Null,
        deserialize_schema: || Value::Null,
        round_trip: |payload| Ok(payload.to_owned()),
        asked: |_| Vec::new(),
    }
}

#[test]
fn an_option_that_is_always_written_is_not_called_required() {
    let with = |name: &str| {
        let reads = json!({ "type": "object", "properties": { name: { "type": ["string", "null"] } } });
        let mut writes = reads.clone();
        writes["required"] = json!([name]);
        Contract { reads, writes, ..contract(&json!({}), &[]) }
    };
    let findings = check(&with("coupon"), &with("voucher"), Some(&event()));
    let what: Vec<&str> = findings.iter().map(|finding| finding.what.as_str()).collect();
    assert_eq!(what, ["field `coupon` was removed; field `voucher` was added"]);
}

/// The names and lines of what the gate finds.
fn found(released: &Contract, current: &Contract) -> Vec<(&'static str, u32)> {
    let findings = check(released, current, Some(&event()));
    findings.iter().map(|finding| (finding.id.as_str(), finding.location.as_ref().unwrap().line)).collect()
}

#[test]
fn a_change_is_placed_at_the_field_it_goes_through() {
    let old = contract(
        &json!({ "id": { "type": "string" }, "type": { "type": "string" }, "region": { "type": "string" } }),
        &[],
    );
    let with = |name: &str| {
        let mut new = old.clone();
        for schema in [&mut new.writes, &mut new.reads] {
            schema["properties"][name] = json!({ "type": "boolean" });
        }
        new
    };
    assert_eq!(found(&old, &with("id"))[0].1, 11);
    assert_eq!(found(&old, &with("type"))[0].1, 12, "by its name on the wire");
    assert_eq!(found(&old, &with("region"))[0].1, 13, "through the flattened field");
    let less = contract(&json!({ "id": { "type": "string" }, "type": { "type": "string" } }), &[]);
    assert_eq!(found(&old, &less), [("field-removed", 10)], "what is gone is at the struct");
}

#[test]
fn the_declaration_of_a_released_version_stays() {
    let old = contract(&json!({ "id": { "type": "string" } }), &["id"]);
    let moved = Contract { topic: "shop".to_owned(), ..old.clone() };
    assert_eq!(found(&old, &moved), [("topic-changed", 10)]);
    let keyed = Contract { key: "function".to_owned(), ..old.clone() };
    assert_eq!(found(&old, &keyed), [("key-changed", 10)]);
    let free = Contract { ordering: OrderingMode::Unordered, ..old.clone() };
    assert_eq!(found(&old, &free), [("ordering-changed", 10)]);
    assert_eq!(found(&old, &old), []);
}

#[test]
fn a_name_that_is_no_longer_read_is_found_though_no_schema_has_it() {
    let fields = json!({ "id": { "type": "string" }, "type": { "type": ["string", "null"] } });
    let old = contract(&fields, &["id"]);
    let old = Contract { aliases: BTreeMap::from([("type".to_owned(), vec!["sort".to_owned()])]), ..old };
    let new = Contract { aliases: BTreeMap::new(), nested_aliases: BTreeMap::new(), ..old.clone() };
    assert_eq!(found(&old, &new), [("alias-removed", 12)]);
    assert_eq!(found(&new, &old), [], "a further name harms nobody");
}

#[test]
fn a_format_under_the_same_type_breaks_and_a_default_warns() {
    let number = |format: &str| contract(&json!({ "id": { "type": "number", "format": format } }), &["id"]);
    assert_eq!(found(&number("double"), &number("float")), [("format-changed", 11)]);
    let count = |default: u32| contract(&json!({ "id": { "type": "integer", "default": default } }), &[]);
    let findings = check(&count(0), &count(1), Some(&event()));
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].id.severity(), Severity::Warning);
}

#[test]
fn a_break_names_the_field_the_reader_means_within_a_union() {
    let pay = |last: &str| {
        let card = json!({ "type": "object", "required": ["kind", "last"],
            "properties": { "kind": { "const": "card" }, "last": { "type": last } } });
        let cash =
            json!({ "type": "object", "required": ["kind"], "properties": { "kind": { "const": "cash" } } });
        contract(&json!({ "id": { "oneOf": [card, cash] } }), &["id"])
    };
    let findings = check(&pay("string"), &pay("integer"), None);
    assert_eq!(findings[0].pointer, "/id/last");
    assert_eq!(findings[0].what, "`id.last` changed its type from string to integer");
    assert!(
        findings[0]
            .fix
            .ends_with("add version 5 as a struct of its own and keep version 4 until nobody reads it")
    );
}

#[test]
fn each_place_that_breaks_is_told_so_that_none_hides_behind_another() {
    let line = |sku: &str| json!({ "type": "object", "properties": { "sku": { "type": sku } }, "required": ["sku"] });
    let fields = |id: &str, sku: &str| json!({ "id": { "type": id }, "lines": { "type": "array", "items": line(sku) }, "n": { "type": "null" } });
    let released = contract(&fields("string", "string"), &["id", "lines"]);
    let current = contract(&fields("integer", "boolean"), &["id", "lines", "n"]);
    let findings = check(&released, &current, Some(&event()));
    let told = |id: FindingId| {
        let own = findings.iter().filter(|finding| finding.id == id);
        own.map(|finding| path_of(&finding.pointer).join(".")).collect::<BTreeSet<_>>()
    };
    let places = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(told(FindingId::ReaderRefusesReleased), places(&["id", "lines.*.sku", "n"]));
    assert_eq!(told(FindingId::ReleasedReaderRefuses), places(&["id", "lines.*.sku"]));
    assert!(findings.iter().all(|finding| finding.what.matches("; ").count() == 0), "{findings:?}");
}

fn retired(day: Option<&str>) -> Contract {
    Contract { retired: day.map(str::to_owned), ..contract(&json!({ "id": { "type": "string" } }), &[]) }
}

#[test]
fn a_version_may_go_after_the_day_that_its_release_announced() {
    let judged = |day: Option<&str>, today: &str| {
        let finding = policy::version_removed(&retired(day), today);
        (finding.id.as_str(), finding.id.severity(), finding.what)
    };
    let (id, severity, what) = judged(None, "2027-01-01");
    assert_eq!((id, severity), ("version-removed", Severity::Breaking));
    assert!(!what.contains("retire"), "{what}");
    for today in ["2026-11-30", "2026-12-31"] {
        let (id, severity, what) = judged(Some("2026-12-31"), today);
        assert_eq!(
            (id, severity),
            ("version-removed", Severity::Breaking),
            "on the day itself it is still needed"
        );
        assert!(what.contains("2026-12-31"), "{what}");
    }
    let (id, severity, what) = judged(Some("2026-12-31"), "2027-01-01");
    assert_eq!((id, severity), ("version-retired", Severity::Warning));
    assert!(what.contains("2026-12-31"), "{what}");
}

#[test]
fn an_announced_day_may_be_put_off_or_taken_back_but_not_moved_up_unseen() {
    let found = |old: Option<&str>, new: Option<&str>| {
        let ids = check(&retired(old), &retired(new), Some(&event()));
        ids.iter().map(|finding| finding.id.as_str()).collect::<Vec<_>>()
    };
    let (early, late) = (Some("2026-09-30"), Some("2026-12-31"));
    for (old, new) in [(None, early), (early, late), (late, None), (late, late)] {
        assert_eq!(found(old, new), [] as [&str; 0], "{old:?} {new:?}");
    }
    assert_eq!(found(late, early), ["retired-earlier"]);
}

#[test]
fn deciders_that_contradict_each_other_let_nothing_pass_and_name_the_bug() {
    let old = contract(&json!({ "id": { "type": "string" } }), &["id"]);
    let new = contract(&json!({ "id": { "type": "string" }, "note": { "type": "string" } }), &["id", "note"]);
    let liar = Deciders { prove: |_, _, _| prove::Answer::Nothing, ..Deciders::OURS };
    let findings = check_with(&old, &new, None, &liar);
    assert_eq!(findings.iter().map(|finding| finding.id).collect::<Vec<_>>(), [FindingId::NotProven]);
    assert_eq!(findings[0].id.severity(), Severity::NotProven);
    let Evidence::Undecided(reason) = &findings[0].evidence else { panic!("{findings:?}") };
    assert!(reason.contains("the prover says that every payload is read"), "{reason}");
    assert!(reason.ends_with("this is a bug of outbox, please report it"), "{reason}");
}
