//! Scheduled events on PostgreSQL: what a transaction that takes one back holds up, and what many of them cost.

use super::{LONG, World, event, lead};
use outbox::{Cancellation, Outbox, draft, held::Stage, postgres::PostgresStore, store::Store};
use outbox_tests::{memory_broker::MemoryBroker, world::noted};
use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

#[tokio::test]
async fn a_cancellation_that_stays_open_holds_up_its_own_event_only() {
    let Some(world) = World::start().await else { return };
    let upkeep = lead(&world.store, &Stage::upkeep(), LONG).await;
    let (one, other) = (world.schedule("one", 600).await, world.schedule("other", 600).await);
    let mut open = world.store.begin().await.unwrap();
    assert_eq!(world.store.cancel(&mut open, one.id).await.unwrap(), Cancellation::Cancelled);
    // Its time comes, as seen by everybody else.
    let mut log = world.open().await;
    world.execute(&format!("UPDATE outbox_scheduled SET due_at = now() WHERE id = '{}'", other.id)).await;
    assert_eq!(world.store.move_due(&upkeep, 10).await.unwrap(), 1);
    assert_eq!(world.relay(&mut log).await, ["other"]);

    world.store.rollback(open).await;
    world.execute("UPDATE outbox_scheduled SET due_at = now()").await;
    assert_eq!(world.store.move_due(&upkeep, 10).await.unwrap(), 1);
    assert_eq!(world.relay(&mut log).await, ["one"]);
}

#[tokio::test]
async fn a_cancellation_that_meets_the_move_of_its_event_is_too_late() {
    let Some(world) = World::start().await else { return };
    let upkeep = lead(&world.store, &Stage::upkeep(), LONG).await;
    let due = world.schedule("k", -1).await;
    // The move has taken the event and waits to write it.
    let mut blocker = world.store.begin().await.unwrap();
    sqlx::query("LOCK TABLE outbox_log IN SHARE MODE").execute(&mut *blocker).await.unwrap();
    let mut watcher = world.store.pool().acquire().await.unwrap();
    let cancel = async {
        super::until_waiting(&mut watcher, 1).await;
        let mut tx = world.store.begin().await.unwrap();
        let answer = world.store.cancel(&mut tx, due.id).await.unwrap();
        world.store.commit(tx).await.unwrap();
        world.store.rollback(blocker).await;
        answer
    };
    let (moved, answer) = tokio::join!(world.store.move_due(&upkeep, 10), cancel);
    assert_eq!((moved.unwrap(), answer), (1, Cancellation::TooLate));
    assert_eq!(world.number("SELECT count(*) FROM outbox_log").await, 1);
}

#[tokio::test]
async fn a_row_that_the_log_would_refuse_cannot_be_scheduled() {
    let Some(world) = World::start().await else { return };
    // Whatever a writer of rows can break in the log it cannot break here, else its row would hold up all that are due.
    let checks = |table: &str| {
        format!(
            "SELECT count(*) FROM pg_constraint WHERE conrelid = '{table}'::regclass AND contype = 'c'
                AND pg_get_constraintdef(oid) NOT LIKE '%occurred_at%' AND pg_get_constraintdef(oid) NOT LIKE '%due_at%'"
        )
    };
    let common = "SELECT count(*) FROM
        (SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'outbox_log'::regclass AND contype = 'c'
         INTERSECT
         SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'outbox_scheduled'::regclass) AS in_both";
    let of_log = world.number(&checks("outbox_log")).await;
    assert!(of_log > 5, "{of_log}");
    assert_eq!(world.number(common).await, of_log);
    let columns = "SELECT count(*) FROM information_schema.columns AS log
        WHERE table_name = 'outbox_log' AND column_name NOT IN ('seq', 'slot', 'occurred_at') AND NOT EXISTS (
              SELECT FROM information_schema.columns AS scheduled
               WHERE scheduled.table_name = 'outbox_scheduled' AND scheduled.column_name = log.column_name
                 AND scheduled.is_nullable = log.is_nullable AND scheduled.data_type = log.data_type)";
    assert_eq!(world.number(columns).await, 0, "a column of the log that scheduled events lack");
}

/// A million is a figure of the bench; what is touched does not depend on it but for the depth of an index.
#[tokio::test]
async fn many_scheduled_events_cost_the_readers_nothing_and_upkeep_one_look() {
    let Some(world) = World::start().await else { return };
    for _ in 0..3 {
        world.publish("k").await;
    }
    let last = world.number("SELECT max(seq) FROM outbox_log").await.to_string();
    let idle = async || world.blocks("read_log", &[&last, "100"]).await;
    let before = (idle().await, world.blocks("select_due_in", &[]).await);
    world
        .execute(
            "INSERT INTO outbox_scheduled (due_at, id, topic, key, event_type, event_version, payload, source, dataschema,
                                           on_poison)
             SELECT now() + i * interval '1 s' + interval '1 h', gen_random_uuid(), 't', 'k', 't', 1, '{}', '/', 'urn:t',
                    'park'
               FROM generate_series(1, 100000) AS i",
        )
        .await;

    assert_eq!(idle().await, before.0, "blocks of a look at the log");
    let look = world.blocks("select_due_in", &[]).await;
    assert!(look <= 4, "a look at what is due touched {look} blocks");
    let upkeep = lead(&world.store, &Stage::upkeep(), LONG).await;
    let values = [
        format!("'{}'", upkeep.lease()),
        format!("'{}'::uuid", upkeep.owner.0),
        upkeep.epoch.to_string(),
        "1000".to_owned(),
    ];
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let idle_move = world.blocks("move_scheduled", &values).await;
    assert!(idle_move <= 12, "a move of nothing touched {idle_move} blocks");
    world.execute("UPDATE outbox_scheduled SET due_at = now() WHERE number <= 100").await;
    let moved = world.blocks("move_scheduled", &values).await;
    assert_eq!(world.number("SELECT count(*) FROM outbox_log").await, 103);
    assert!(moved <= 100 * 20, "a move of 100 touched {moved} blocks");
}

#[tokio::test]
async fn an_event_that_another_process_scheduled_comes_when_it_is_due_and_not_a_poll_later() {
    let Some(world) = World::start().await else { return };
    let broker = Arc::new(MemoryBroker::default());
    let no_poll = |settings: &mut outbox::Settings| settings.poll = LONG;
    let leader = Outbox::builder(world.store.clone()).build();
    let relay = leader.runner().relay(outbox::RelayConfig::default(), broker.clone()).settings(no_poll);
    let relay = relay.start().await.unwrap();
    let other = Outbox::builder(PostgresStore::connect(&world.url).await.unwrap()).build();
    let mut tx = other.begin().await.unwrap();
    let soon = SystemTime::now() + Duration::from_millis(500);
    let id = other.enqueue(&mut tx, draft(&noted("k", 1)).at(soon)).await.unwrap();
    tx.commit().await.unwrap();

    let started = Instant::now();
    while broker.confirmed().iter().all(|event| event.id != id) {
        assert!(started.elapsed() < super::PATIENCE, "it did not come");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    relay.stop().await.unwrap();
}

#[tokio::test]
async fn a_scheduled_row_of_a_foreign_writer_comes_like_any_other() {
    let Some(world) = World::start().await else { return };
    let upkeep = lead(&world.store, &Stage::upkeep(), LONG).await;
    let mut log = world.open().await;
    let own = event("own").id;
    world
        .execute(&format!(
            "INSERT INTO outbox_scheduled (due_at, id, topic, key, event_type, event_version, payload, source, dataschema,
                                           on_poison)
             VALUES (now(), '{own}', 't', 'foreign', 't', 1, '{{}}', '/', 'urn:t', 'park')"
        ))
        .await;
    assert_eq!(world.store.move_due(&upkeep, 10).await.unwrap(), 1);
    assert_eq!(world.relay(&mut log).await, ["foreign"]);
}
