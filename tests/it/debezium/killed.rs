//! The connector is killed while it reads, then the database: what is committed comes, each key in order, some of it twice.

use super::{Scene, until, writer::Writer};
use outbox_tests::servers::Stored;
use std::collections::{HashMap, HashSet};

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_connector_and_a_killed_database_lose_nothing() {
    let Some(scene) = Scene::start().await else { return };
    let (connect, _) = scene.connect().await;
    let writer = Writer::start(&scene.world.outbox);

    scene.published(&connect, 500).await;
    connect.kill();
    let before = scene.kafka.count_messages("world").await;
    connect.restart();
    scene.published(&connect, before + 1_000).await;
    scene.postgres.kill();
    let before = scene.kafka.count_messages("world").await;
    scene.postgres.restart().await;
    scene.published(&connect, before + 1_000).await;
    writer.stop().await;

    let written: Vec<String> = sqlx::query_scalar("SELECT id::text FROM outbox_log")
        .fetch_all(scene.world.outbox.store().pool())
        .await
        .unwrap();
    scene.published(&connect, written.len() as u64).await;
    let mut messages = Vec::new();
    until(&connect, "every event is published", async || {
        messages = scene.kafka.messages("world").await;
        let published: HashSet<&str> = messages.iter().map(id_of).collect();
        written.iter().all(|id| published.contains(id.as_str()))
    })
    .await;
    assert_first_copies_in_order(&messages);
}

fn id_of(message: &Stored) -> &str {
    message.header("ce_id").unwrap()
}

/// Whoever was killed repeats what it had published; nothing overtakes what it must come after.
fn assert_first_copies_in_order(messages: &[Stored]) {
    let mut seen = HashSet::new();
    let mut last: HashMap<&[u8], &str> = HashMap::new();
    for message in messages.iter().filter(|message| seen.insert(id_of(message))) {
        let (key, sequence) = (message.key.as_deref().unwrap(), message.header("ce_sequence").unwrap());
        if let Some(last) = last.insert(key, sequence) {
            assert!(last < sequence, "{sequence} comes after {last}");
        }
    }
}
