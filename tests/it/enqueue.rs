//! What enqueue takes and refuses: a refusal is a typed error inside the transaction, which stays usable.

use outbox::{EnqueueError, Event, EventState, draft};
use outbox_tests::on_each_store;
use outbox_tests::world::{Noted, TestStore, World, noted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

on_each_store! {
    what_a_broker_would_refuse_is_a_typed_error_and_the_transaction_goes_on,
    a_batch_is_refused_whole_when_one_of_its_events_is,
    the_payload_in_the_table_is_the_text_that_every_reader_sees,
    a_statement_for_other_drivers_writes_the_same_row,
    a_draft_that_locks_its_key_is_written_and_cannot_be_a_statement,
}

/// An event with a map of any members, which the derive cannot look into.
#[derive(Debug, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "enqueue.loose", version = 3, topic = "enqueue", unordered)]
struct Loose {
    #[serde(flatten)]
    members: BTreeMap<String, serde_json::Value>,
}

/// A number that JSON cannot say.
#[derive(Debug, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "enqueue.measured", version = 1, topic = "enqueue", unordered)]
struct Measured {
    celsius: f64,
}

fn loose(name: &str) -> Loose {
    Loose { members: BTreeMap::from([(name.to_owned(), serde_json::json!(1))]) }
}

async fn what_a_broker_would_refuse_is_a_typed_error_and_the_transaction_goes_on<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let outbox = &world.outbox;
    let mut tx = outbox.begin().await.unwrap();

    let long_key = noted(&"x".repeat(600), 1);
    let refused = [
        ("key is 600 bytes", outbox.enqueue(&mut tx, &long_key).await),
        ("key is empty", outbox.enqueue(&mut tx, &noted("", 1)).await),
        ("control character", outbox.enqueue(&mut tx, &noted("a\nb", 1)).await),
        ("NUL", outbox.enqueue(&mut tx, &loose("a\0b")).await),
        ("line break", outbox.enqueue(&mut tx, draft(&noted("a", 1)).header("tenant", "a\r\nb: c")).await),
        ("attribute name", outbox.enqueue(&mut tx, draft(&noted("a", 1)).header("Not-A-Name", "b")).await),
        ("framework's own", outbox.enqueue(&mut tx, draft(&noted("a", 1)).header("partitionkey", "b")).await),
        ("not a URI reference", outbox.enqueue(&mut tx, draft(&noted("a", 1)).source("a b")).await),
    ];
    for (part, result) in refused {
        let error = result.unwrap_err();
        assert!(matches!(error, EnqueueError::Refused { .. }), "{error:?}");
        assert!(error.to_string().contains(part), "{error} should speak of {part}");
        assert!(!error.is_transient());
    }
    let large = loose(&"m".repeat(300 * 1024));
    assert!(matches!(
        outbox.enqueue(&mut tx, &large).await,
        Err(EnqueueError::TooLarge { max: 262_144, .. })
    ));
    let error = outbox.enqueue(&mut tx, &loose("eventType")).await.unwrap_err();
    assert!(matches!(error, EnqueueError::Payload { event: "enqueue.loose", .. }), "{error:?}");
    // serde_json writes it as null, which the event's own contract does not allow (feature `validate`).
    let error = outbox.enqueue(&mut tx, &Measured { celsius: f64::NAN }).await.unwrap_err();
    assert!(matches!(&error, EnqueueError::Invalid { pointer, .. } if pointer == "/celsius"), "{error:?}");

    let id = outbox.enqueue(&mut tx, draft(&noted("a", 1)).header("tenant", "acme")).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(outbox.state(id).await.unwrap(), EventState::Pending);
    assert_eq!(world.outbox.store().payloads().await.len(), 1);
}

async fn a_batch_is_refused_whole_when_one_of_its_events_is<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let mut tx = world.outbox.begin().await.unwrap();

    let mixed = [draft(&noted("a", 1)), draft(&loose("eventVersion")), draft(&noted("a", 2))];
    world.outbox.enqueue_batch(&mut tx, mixed).await.unwrap_err();
    let ids = world.outbox.enqueue_batch(&mut tx, [draft(&noted("a", 3)), draft(&loose("a"))]).await.unwrap();
    assert!(world.outbox.enqueue_batch(&mut tx, Vec::<&Noted>::new()).await.unwrap().is_empty());

    tx.commit().await.unwrap();
    assert_eq!(ids.len(), 2);
    let payloads = world.outbox.store().payloads().await;
    assert_eq!(
        payloads,
        [
            r#"{"eventType":"world.noted","eventVersion":1,"key":"a","n":3,"plan":"Succeed"}"#,
            r#"{"eventType":"enqueue.loose","eventVersion":3,"a":1}"#
        ]
    );
}

async fn the_payload_in_the_table_is_the_text_that_every_reader_sees<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let mut tx = world.outbox.begin().await.unwrap();

    // Text that looks like our members is nobody's member; escapes, big numbers and an empty object keep their bytes.
    let odd = Loose {
        members: serde_json::from_str(
            r#"{"big":18446744073709551615,"text":"\"eventType\": \\u0000 ä €","nested":{"eventVersion":7}}"#,
        )
        .unwrap(),
    };
    world.outbox.enqueue(&mut tx, &odd).await.unwrap();
    world.outbox.enqueue(&mut tx, &Loose { members: BTreeMap::new() }).await.unwrap();
    tx.commit().await.unwrap();

    let payloads = world.outbox.store().payloads().await;
    assert_eq!(
        payloads,
        [
            concat!(
                r#"{"eventType":"enqueue.loose","eventVersion":3,"big":18446744073709551615,"#,
                r#""nested":{"eventVersion":7},"text":"\"eventType\": \\u0000 ä €"}"#
            ),
            r#"{"eventType":"enqueue.loose","eventVersion":3}"#
        ]
    );
}

async fn a_statement_for_other_drivers_writes_the_same_row<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };

    let (id, statement) = world.outbox.statement(draft(&noted("a", 1)).header("tenant", "acme")).unwrap();
    world.outbox.store().run(&statement).await;

    assert_eq!(world.outbox.state(id).await.unwrap(), EventState::Pending);
    let consumer = world.consume().await;
    assert_eq!(world.effects_of(1).await, [("a".to_owned(), 1)]);
    consumer.stop().await.unwrap();
}

async fn a_draft_that_locks_its_key_is_written_and_cannot_be_a_statement<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let mut tx = world.outbox.begin().await.unwrap();

    let keyed = world.outbox.enqueue(&mut tx, draft(&noted("a", 1)).locked()).await.unwrap();
    let unordered = world.outbox.enqueue(&mut tx, draft(&loose("n")).locked()).await.unwrap();
    tx.commit().await.unwrap();

    for id in [keyed, unordered] {
        assert_eq!(world.outbox.state(id).await.unwrap(), EventState::Pending);
    }
    let refused = world.outbox.statement(draft(&noted("a", 1)).locked()).unwrap_err();
    assert!(matches!(refused, EnqueueError::Unlocked { .. }), "{refused:?}");
}
