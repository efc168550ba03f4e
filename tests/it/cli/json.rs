//! Every command answers scripts: JSON and nothing else on stdout, errors on stderr, and an exit code that tells the end.

use super::{Ordered, Relay, Shop, failed, read_one_line, stderr, stdout, succeeded};
use outbox::{Outbox, RelayConfig, Settings, sqlite::SqliteStore};
use outbox_tests::memory_broker::MemoryBroker;
use outbox_tests::servers::Nats;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// The answer of a command that succeeded: one line, one object.
#[track_caller]
fn answer(shop: &Shop, args: &[&str]) -> Value {
    let output = shop.run(&[args, &["--json"]].concat());
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""), "{args:?}");
    let text = stdout(&output);
    assert_eq!(text.matches('\n').count(), 1, "{args:?}: {text}");
    let value: Value = serde_json::from_str(&text).unwrap();
    assert!(value.is_object(), "{args:?}: {text}");
    value
}

fn names(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// What a list tells of one dead letter.
const LISTED: [&str; 15] = [
    "attempts",
    "event",
    "firstFailedAt",
    "id",
    "key",
    "lastFailedAt",
    "parksKey",
    "reason",
    "replaying",
    "sequence",
    "source",
    "stage",
    "topic",
    "type",
    "version",
];

#[tokio::test]
async fn every_command_answers_with_one_object_of_stable_names() {
    let shop = Shop::with_dead_letters(4).await;

    assert_eq!(names(&answer(&shop, &["migrate"])), ["database", "migrated"]);
    assert_eq!(names(&answer(&shop, &["repair"])), ["nextSequence", "rereading"]);
    let status = answer(&shop, &["status"]);
    assert_eq!(
        names(&status["stages"][0]),
        ["deadLetters", "held", "lag", "led", "parkedKeys", "stage", "waitingKeys"]
    );
    let list = answer(&shop, &["dead-letters", "list"]);
    assert_eq!(list["deadLetters"].as_array().unwrap().len(), 4);
    assert_eq!(names(&list["deadLetters"][0]), LISTED);
    assert_eq!(list["deadLetters"][1]["sequence"], "1000000000000000002", "no reader rounds it");
    let none = answer(&shop, &["dead-letters", "list", "--key", "no such key"]);
    assert_eq!(none, json!({"deadLetters": []}));
    let shown = answer(&shop, &["dead-letters", "show", "1", "2"]);
    let mut in_full = names(&shown["deadLetters"][1]);
    in_full.retain(|name| !LISTED.contains(name));
    assert_eq!(
        in_full,
        ["dataschema", "errors", "headers", "occurredAt", "payload", "traceparent", "tracestate"]
    );
    assert_eq!(shown["deadLetters"][0]["headers"]["tenant"], "a\u{1b}[0mcme", "as it was written");

    let dry = answer(&shop, &["dead-letters", "replay", "--all", "--dry-run"]);
    assert_eq!((&dry["dryRun"], &dry["matched"], &dry["reached"]), (&json!(true), &json!(4), &json!(4)));
    assert_eq!(
        names(&dry["groups"][0]),
        ["count", "parking", "reason", "replaying", "requested", "stage", "type", "version"]
    );
    let replay = answer(&shop, &["dead-letters", "replay", "--id", "1", "--id", "2", "--per-second", "1"]);
    assert_eq!(names(&replay), ["dryRun", "groups", "matched", "reached", "request"]);
    assert_eq!((&replay["request"], &replay["reached"]), (&json!("replay"), &json!(2)));
    let discard = answer(&shop, &["dead-letters", "discard", "--all", "--why", "a test"]);
    assert_eq!((&discard["matched"], &discard["reached"]), (&json!(4), &json!(2)));
    let cancel = answer(&shop, &["dead-letters", "cancel", "--id", "1", "--why", "too early", "--by", "ann"]);
    assert_eq!((&cancel["request"], &cancel["reached"]), (&json!("cancel"), &json!(1)));
    let audit = answer(&shop, &["audit"]);
    let entry = &audit["audit"][0];
    assert_eq!(
        names(entry),
        [
            "action",
            "askedAt",
            "attempts",
            "by",
            "deadLetter",
            "doneAt",
            "event",
            "id",
            "key",
            "reason",
            "sequence",
            "source",
            "stage",
            "topic",
            "type",
            "version",
            "why"
        ]
    );
    assert_eq!(
        (&entry["action"], &entry["by"], &entry["why"]),
        (&json!("cancel"), &json!("ann"), &json!("too early"))
    );
    assert_eq!(answer(&shop, &["audit", "--stage", "relay/none"]), json!({"audit": []}));
}

#[tokio::test]
async fn what_is_discarded_with_a_forgotten_stage_is_in_the_audit_log() {
    let shop = Shop::with_dead_letters(4).await;
    let forget = ["consumers", "forget", "billing.charge", "--discard", "--why", "it is gone", "--by", "ann"];
    // It warns on stderr of what is gone.
    assert!(succeeded(&shop.run(&forget)).contains("2 dead letters"));
    let audit = answer(&shop, &["audit", "--stage", "consumer/billing.charge"]);
    let told: Vec<_> = audit["audit"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| json!([entry["deadLetter"], entry["why"]]))
        .collect();
    assert_eq!(told, [json!([2, "it is gone"]), json!([4, "it is gone"])]);
}

#[tokio::test]
async fn a_relay_that_was_told_to_stop_says_so() {
    let Some(nats) = Nats::shared().await else { return };
    let shop = Shop::migrated();
    let relay = Relay::start(shop.command(&["relay", "--broker", &nats.url(), "--name", "told", "--json"]));
    super::until(async || stdout(&shop.run(&["status"])).contains("relay/told")).await;

    let said: Value = serde_json::from_str(&relay.stopped().await).unwrap();

    assert_eq!(said, json!({"relay": "told", "stopped": true}));
}

#[tokio::test]
async fn errors_are_on_stderr_and_leave_no_half_of_an_answer() {
    let shop = Shop::with_dead_letters(1).await;
    let missing = Shop::empty();

    for args in [
        &["status"][..],
        &["dead-letters", "list"],
        &["dead-letters", "show", "1"],
        &["dead-letters", "replay", "--all"],
        &["audit"],
        &["repair"],
    ] {
        let error = failed(&missing.run(&[args, &["--json"]].concat()), 1);
        assert!(error.starts_with("error: "), "{args:?}: {error}");
    }
    for args in [&["dead-letters", "replay", "--json"][..], &["status", "--json", "--patience", "soon"]] {
        assert!(failed(&shop.run(args), 2).starts_with("error: "), "{args:?}");
    }
    // What was found is told all the same where something else was missing.
    for (args, answer) in [
        (
            &["dead-letters", "replay", "--key", "no such key", "--json"][..],
            json!({"request": "replay", "dryRun": false, "matched": 0, "reached": 0, "groups": []}),
        ),
        (&["dead-letters", "show", "7", "--json"], json!({"deadLetters": []})),
    ] {
        let output = shop.run(args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(stderr(&output).starts_with("error: no dead letter"), "{args:?}");
        assert_eq!(serde_json::from_str::<Value>(&stdout(&output)).unwrap(), answer);
    }
}

#[tokio::test]
async fn nothing_in_an_answer_can_steer_a_terminal() {
    let shop = Shop::with_dead_letters(1).await;

    let text = stdout(&shop.run(&["dead-letters", "show", "1", "--json"]));

    assert!(text.trim_end().chars().all(|c| !c.is_control()), "{text:?}");
    let shown: Value = serde_json::from_str(&text).unwrap();
    assert!(shown["deadLetters"][0]["errors"][0].as_str().unwrap().contains("declined\u{9b}2J"));
}

#[tokio::test]
async fn a_list_of_100_000_is_one_object_and_a_reader_that_goes_away_is_no_error() {
    let shop = Shop::with_dead_letters(100_000).await;

    let list = answer(&shop, &["dead-letters", "list"]);
    assert_eq!(list["deadLetters"].as_array().unwrap().len(), 100_000);

    let (_, status, errors) = read_one_line(shop.command(&["dead-letters", "list", "--json"]));
    assert_eq!((status.code(), errors.as_str()), (Some(0), ""));
}

// Several threads: the relay works on while this test waits for a command.
#[tokio::test(flavor = "multi_thread")]
async fn a_range_is_counted_replayed_listed_and_taken_back() {
    let shop = Shop::migrated();
    let outbox = Outbox::builder(SqliteStore::open(&shop.url()).await.unwrap()).build();
    let broker = Arc::new(MemoryBroker::default());
    let quick = |settings: &mut Settings| settings.poll = Duration::from_millis(20);
    let relay = outbox.runner().relay(RelayConfig::default(), broker.clone()).settings(quick);
    let relay = relay.start().await.unwrap();
    let mut tx = outbox.begin().await.unwrap();
    outbox.enqueue_batch(&mut tx, [1, 2, 3].map(|order| Ordered { order }).iter()).await.unwrap();
    tx.commit().await.unwrap();
    super::until(async || answer(&shop, &["status"])["stages"][0]["lag"] == 0).await;
    let start = ["replay", "start", "--relay", "default"];

    let dry = answer(&shop, &[&start[..], &["--all", "--dry-run"]].concat());
    assert_eq!(
        dry,
        json!({"replay": null, "dryRun": true, "stage": "relay/default", "matched": 3, "handled": 0, "deadLetters": 0,
               "open": 3, "firstSequence": "1000000000000000000", "lastSequence": "1000000000000000002"})
    );
    assert_eq!(answer(&shop, &["replay", "list"]), json!({"replays": []}));
    let started = answer(&shop, &[&start[..], &["--since", "1h", "--why", "lost"]].concat());
    assert_eq!((&started["replay"], &started["open"]), (&json!(1), &json!(3)));
    super::until(async || answer(&shop, &["replay", "list"])["replays"][0]["state"] == "done").await;
    super::until(async || broker.confirmed().len() == 6).await;
    let list = answer(&shop, &["replay", "list"]);
    assert_eq!(
        names(&list["replays"][0]),
        [
            "askedAt",
            "by",
            "endedAt",
            "firstSequence",
            "id",
            "lastSequence",
            "leftOut",
            "matched",
            "stage",
            "state",
            "taken",
            "why"
        ]
    );
    let slow = answer(&shop, &[&start[..], &["--all", "--per-second", "1"]].concat());
    let id = slow["replay"].to_string();
    assert_eq!(answer(&shop, &["replay", "cancel", &id]), json!({"replay": 2, "cancelled": true}));
    failed(&shop.run(&["replay", "cancel", &id]), 1);
    failed(&shop.run(&[&start[..], &["--key", "no such key"]].concat()), 1);
    let error = failed(&shop.run(&["replay", "start", "--consumer", "nobody", "--all"]), 1);
    assert!(error.starts_with("error: `consumer/nobody` does not read the log"), "{error}");
    failed(&shop.run(&start), 2);
    failed(&shop.run(&["replay", "start", "--all"]), 2);
    relay.stop().await.unwrap();
}
