//! Rows that a writer of its own has filled with what no reader can take apart: each is set aside, and nothing else waits.

use outbox::lease::Owner;
use outbox::sqlite::SqliteStore;
use outbox::store::{Retention, Store};
use outbox::{DeadLetter, DeadLetterFilter, Outbox, RelayConfig, Terms};
use outbox_tests::memory_broker::MemoryBroker;
use outbox_tests::world::{World, eventually, noted, numbers_of, quick, quick_relay};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What SQLite takes into a column though it is none of its values, and what is then said of the row.
const ODD: [(&str, &str, &str); 9] = [
    ("headers", "'no JSON'", "the headers are no JSON object"),
    ("headers", "'[1]'", "the headers are no JSON object"),
    ("headers", "x'ff'", "headers"),
    ("id", "'no id'", "the id `no id` is no UUID"),
    ("payload", "x'7bff'", "payload"),
    ("event_version", "'abc'", "event_version"),
    ("occurred_at", "'yesterday'", "occurred_at"),
    ("twin_id", "'no id'", "the twin's id"),
    ("dataschema", "x'00ff'", "dataschema"),
];

/// A database with one row of each kind, each with a key of its own and good ones between and behind.
async fn with_odd_rows() -> World<SqliteStore> {
    let world = World::<SqliteStore>::start().await.expect("SQLite is always here");
    for (n, (column, value, _)) in (0..).zip(ODD) {
        world
            .enqueue_each([noted("good", n), noted(&format!("odd-{n}"), 0), noted(&format!("odd-{n}"), 1)])
            .await;
        let odd = format!(
            "UPDATE outbox_log SET {column} = {value}, twin_version = CASE '{column}' WHEN 'twin_id' THEN 1 END \
             WHERE seq = (SELECT min(seq) FROM outbox_log WHERE key = 'odd-{n}')"
        );
        sqlx::query(sqlx::AssertSqlSafe(odd)).execute(world.outbox.store().pool()).await.unwrap();
    }
    world
}

/// The odd ones of that stage, once all are set aside.
async fn set_aside(outbox: &Outbox<SqliteStore>) -> Vec<DeadLetter> {
    let letters = async || outbox.dead_letters(&DeadLetterFilter::default(), 100).await.unwrap();
    eventually("each is set aside", async || letters().await.len() == ODD.len()).await;
    letters().await
}

fn said(letters: &[DeadLetter]) {
    let by_key: BTreeMap<_, _> =
        letters.iter().map(|letter| (letter.envelope.key.clone().unwrap(), letter)).collect();
    for (n, (_, value, problem)) in ODD.iter().enumerate() {
        let letter = by_key[&format!("odd-{n}")];
        assert_eq!((letter.reason.as_str(), letter.parks_key), ("undecodable", true), "{value}");
        assert!(letter.error_chain.contains(problem), "{value}: {}", letter.error_chain);
        let is_whole = letter.envelope.payload.ends_with("\"n\":0}") || letter.envelope.payload == "7bff";
        assert!(
            is_whole || letter.envelope.payload.contains("\"n\":0"),
            "{value}: {}",
            letter.envelope.payload
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relay_sets_each_malformed_row_aside_and_publishes_all_others() {
    let world = with_odd_rows().await;
    let broker = Arc::new(MemoryBroker::default());
    let relay = world.relay(broker.clone()).await;

    let letters = set_aside(&world.outbox).await;
    eventually("the good ones are published", async || broker.confirmed().len() == ODD.len()).await;
    said(&letters);
    assert!(broker.confirmed().iter().all(|event| event.key.as_deref() == Some("good")));

    // A replay finds the same, and is no way to publish it.
    world.outbox.replay(&DeadLetterFilter::default(), &Terms::new("test", "again")).await.unwrap();
    eventually("each is set aside again", async || {
        let letters = world.outbox.dead_letters(&DeadLetterFilter::default(), 100).await.unwrap();
        letters.iter().filter(|letter| letter.attempts == 2).count() == ODD.len()
    })
    .await;
    assert_eq!(broker.confirmed().len(), ODD.len());

    world.outbox.discard(&DeadLetterFilter::default(), &Terms::new("test", "mended")).await.unwrap();
    eventually("the rest of their keys follows", async || broker.confirmed().len() == 2 * ODD.len()).await;
    relay.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relay_that_looks_at_headers_sets_aside_those_that_it_cannot_read() {
    let world = with_odd_rows().await;
    let broker = Arc::new(MemoryBroker::default());
    let mut relay = RelayConfig { name: "acme".to_owned(), ..quick_relay() };
    relay.filter.headers.insert("tenant".to_owned(), "acme".to_owned());
    let runner = world.outbox.runner().relay(relay, broker.clone()).settings(quick).start().await.unwrap();
    let mut tx = world.outbox.begin().await.unwrap();
    world.outbox.enqueue(&mut tx, outbox::draft(&noted("good", 99)).header("tenant", "acme")).await.unwrap();
    tx.commit().await.unwrap();

    eventually("the one that is wanted is published", async || broker.confirmed().len() == 1).await;

    // The others say by their headers that they are not wanted.
    let expected = ["odd-0", "odd-1", "odd-2"];
    eventually("those are set aside", async || {
        let letters = world.outbox.dead_letters(&DeadLetterFilter::default(), 100).await.unwrap();
        letters.iter().map(|letter| letter.envelope.key.as_deref().unwrap()).eq(expected)
    })
    .await;
    runner.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_consumer_sets_each_malformed_row_aside_and_handles_all_others() {
    let world = with_odd_rows().await;
    let consumer = world.consume().await;

    let letters = set_aside(&world.outbox).await;
    let effects = world.effects_of(ODD.len()).await;

    said(&letters);
    assert_eq!(numbers_of(&effects, "good"), (0..ODD.len() as i64).collect::<Vec<_>>());
    world.outbox.discard(&DeadLetterFilter::default(), &Terms::new("test", "mended")).await.unwrap();
    world.effects_of(2 * ODD.len()).await;
    consumer.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_whose_time_cannot_be_read_leaves_the_log_when_it_is_set_aside() {
    let world = with_odd_rows().await;
    let count = async |sql: &'static str| -> i64 {
        sqlx::query_scalar(sql).fetch_one(world.outbox.store().pool()).await.unwrap()
    };
    let rows = count("SELECT count(*) FROM outbox_log").await;
    let sweep = async || world.outbox.store().sweep(Owner::new(), &Retention::default()).await.unwrap();
    sweep().await;
    assert_eq!(count("SELECT count(*) FROM outbox_log").await, rows, "nobody has read it");
    let relay = world.relay(Arc::new(MemoryBroker::default())).await;
    set_aside(&world.outbox).await;
    eventually("all is settled", async || world.relay_lag().await == 0).await;
    relay.stop().await.unwrap();

    sweep().await;

    assert_eq!(count("SELECT count(*) FROM outbox_log WHERE typeof(occurred_at) = 'text'").await, 0);
    assert_eq!(count("SELECT count(*) FROM outbox_log").await, rows - 1, "the others are young");
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_whose_values_are_no_texts_are_read_as_their_json() {
    let world = World::<SqliteStore>::start().await.expect("SQLite is always here");
    world.enqueue_each([noted("a", 0)]).await;
    let odd = r#"UPDATE outbox_log SET headers = '{"count": 1, "list": ["x"]}'"#;
    sqlx::query(odd).execute(world.outbox.store().pool()).await.unwrap();
    let broker = Arc::new(MemoryBroker::default());
    let mut relay = quick_relay();
    relay.filter.headers.insert("count".to_owned(), "1".to_owned());

    let runner = world.outbox.runner().relay(relay, broker.clone()).settings(quick).start().await.unwrap();

    eventually("it is published", async || broker.confirmed().len() == 1).await;
    let headers = &broker.confirmed()[0].headers;
    assert_eq!((headers["count"].as_str(), headers["list"].as_str()), ("1", "[\"x\"]"));
    runner.stop().await.unwrap();
}
