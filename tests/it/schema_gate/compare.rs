//! `schema-compare`: two schemas, and files of cases.

use super::{BROKEN, GROWN, Outcome, RELEASED, Shop, command};
use serde_json::{Value, json};
use std::process::Stdio;

const NARROW: &str = r#"{ "type": "integer", "minimum": 0 }"#;
const WIDE: &str = r#"{ "$schema": "http://json-schema.org/draft-04/schema#", "type": "number" }"#;

fn compare(old: &str, new: &str) -> Outcome {
    let shop = Shop::bare();
    shop.write("old.json", old);
    shop.write("new.json", new);
    shop.run(RELEASED, &["schema-compare", "old.json", "new.json"])
}

fn answers(lines: &str) -> (Outcome, Vec<Value>) {
    let shop = Shop::bare();
    shop.write("cases.jsonl", lines);
    let outcome = shop.run(RELEASED, &["schema-compare", "--cases", "cases.jsonl"]);
    let answers = outcome.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (outcome, answers)
}

#[test]
fn two_schemas_are_compared_both_ways_with_a_value_that_breaks() {
    compare(NARROW, NARROW).says(0, &["backward: holds\nforward: holds\n"]);
    compare(NARROW, WIDE).says(
        1,
        &[
            "backward: holds\n",
            "forward: breaks: a value of new.json that old.json refuses\n  value    ",
            "reader   ",
        ],
    );
}

#[test]
fn a_file_that_is_no_schema_is_named() {
    compare("{ \"type\": 1,\n  \"type\": 2 }", WIDE).fails_in_one_line(&[
        "old.json",
        "`type` stands twice",
        "line 2",
    ]);
    compare(NARROW, "{").fails_in_one_line(&["new.json", "EOF"]);
    let shop = Shop::bare();
    shop.run(RELEASED, &["schema-compare", "a.json", "b.json"]).fails_in_one_line(&["can't read a.json"]);
    shop.run(RELEASED, &["schema-accept"]).says(0, &[]);
    let contract = "schemas/orders.placed/v1.json";
    shop.run(RELEASED, &["schema-compare", contract, contract])
        .fails_in_one_line(&[contract, "is a contract"]);
}

#[test]
fn each_case_has_a_line_of_answers_with_its_witness() {
    let plain =
        json!({ "name": "plain", "old": { "type": "integer" }, "new": { "type": "string" }, "more": 1 });
    let writes = json!({ "type": "object", "properties": { "a": {}, "b": {} }, "required": ["a", "b"] });
    let reads = json!({ "type": "object", "properties": { "a": {}, "b": {} } });
    let fewer = json!({ "type": "object", "properties": { "a": {} }, "required": ["a"] });
    let reads_fewer = json!({ "type": "object", "properties": { "a": {} } });
    let contracts =
        json!({ "name": "contracts", "old": writes, "new": fewer, "old_de": reads, "new_de": reads_fewer });
    let (outcome, answers) = answers(&format!("\u{feff}{plain}\r\n\r\n{contracts}"));
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(answers[0]["name"], "plain");
    assert_eq!((&answers[0]["backward"], &answers[0]["forward"]), (&json!("breaks"), &json!("breaks")));
    assert!(answers[0]["backward_witness"].is_i64() && answers[0]["forward_witness"].is_string());
    assert!(answers[0].get("gate").is_none(), "{answers:?}");
    // Nobody refuses a payload, and yet the readers of `b` get nothing any more.
    assert_eq!((&answers[1]["backward"], &answers[1]["forward"]), (&json!("holds"), &json!("holds")));
    assert_eq!(answers[1]["gate"], "breaks");
    assert_eq!(answers[1]["gate_findings"][0]["id"], "field-removed");
    assert!(answers[1]["gate_witness"].get("b").is_some(), "{answers:?}");
}

#[test]
fn a_schema_that_does_not_compile_is_not_proven_and_says_why() {
    let (outcome, answers) =
        answers(r#"{"name": "odd", "old": {"pattern": "("}, "new": {"$ref": "https://a.b/c"}}"#);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(answers[0]["backward"], "not-proven");
    assert!(answers[0]["backward_reason"].as_str().unwrap().contains("compile"), "{answers:?}");
}

#[test]
fn a_line_that_cannot_be_read_is_named_and_the_rest_is_answered() {
    let good = r#"{"name": "good", "old": true, "new": true}"#;
    let (outcome, answers) = answers(&format!("{good}\n{{\n{{\"name\": \"no\"}}\n{good}\n"));
    assert_eq!((outcome.code, answers.len()), (2, 2), "{outcome:?}");
    for part in ["cases.jsonl:2: EOF", "cases.jsonl:3: `old` is missing", "2 lines of cases.jsonl"] {
        assert!(outcome.err.contains(part), "`{part}` is missing in {}", outcome.err);
    }
}

#[test]
fn a_closed_pipe_ends_the_answers_without_a_panic() {
    let shop = Shop::bare();
    shop.write("cases.jsonl", &"{\"name\": \"good\", \"old\": true, \"new\": true}\n".repeat(100));
    for xtask in [RELEASED, GROWN, BROKEN] {
        let mut command = command(shop.folder.path(), xtask, &["schema-compare", "--cases", "cases.jsonl"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let outcome = Outcome::of(&child.wait_with_output().unwrap());
        assert_eq!((outcome.code, outcome.err.as_str()), (0, ""));
    }
}
