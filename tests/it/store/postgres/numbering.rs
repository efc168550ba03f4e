//! What the order of the log rests on, broken one by one, refused with the reason, and repaired.

use super::{World, event, lead};
use outbox::{
    cursor::{Filter, LogCursor, Start},
    envelope::Seq,
    held::Stage,
    store::{Store, StoreError},
};
use outbox_tests::servers::Postgres;

/// Everybody who trusts the numbers refuses, and says why and what to run.
async fn assert_refused(world: &World, reason: &str) {
    let opened = world.store.open_log(&world.fence, Filter::default(), Start::Earliest).await.map(|_| ());
    for refused in [world.store.check().await, world.store.migrate().await, opened] {
        let error = refused.expect_err(reason);
        assert!(matches!(error, StoreError::Precondition { .. }), "{error:?}");
        assert!(!error.is_transient());
        let text = error.to_string();
        assert!(text.contains(reason) && text.contains("`outbox repair`"), "{text}");
    }
}

async fn assert_repaired(world: &World) {
    let repaired = world.store.repair().await.unwrap();
    assert_eq!(repaired.next_seq.0 % 1_000_000_000_000_000, 0);
    world.store.check().await.unwrap();
    let mut log = world.open().await;
    world.publish("repaired").await;
    while !world.relay(&mut log).await.contains(&"repaired".to_owned()) {}
    assert_eq!(world.number("SELECT max(seq) FROM outbox_log").await, repaired.next_seq.0);
}

#[tokio::test]
async fn a_sequence_with_a_cache_is_refused() {
    let Some(world) = World::start().await else { return };
    world.execute("ALTER SEQUENCE outbox_seq CACHE 10").await;
    assert_refused(&world, "gives each session 10 numbers at once").await;
    assert_repaired(&world).await;
}

#[tokio::test]
async fn a_sequence_that_cycles_is_refused() {
    let Some(world) = World::start().await else { return };
    world.execute("ALTER SEQUENCE outbox_seq CYCLE").await;
    assert_refused(&world, "begins again").await;
    assert_repaired(&world).await;
}

#[tokio::test]
async fn a_sequence_with_larger_steps_is_refused() {
    let Some(world) = World::start().await else { return };
    world.execute("ALTER SEQUENCE outbox_seq INCREMENT 2").await;
    assert_refused(&world, "count up by one").await;
    assert_repaired(&world).await;
}

#[tokio::test]
async fn another_default_is_refused() {
    let Some(world) = World::start().await else { return };
    for default in ["nextval('outbox_seq')", "nextval('outbox_seq') + 0 * pg_current_xact_id()::text::bigint"]
    {
        world.execute(&format!("ALTER TABLE outbox_log ALTER seq SET DEFAULT {default}")).await;
        assert_refused(&world, "default of its column `seq`").await;
        assert_repaired(&world).await;
    }
    world.execute("CREATE SEQUENCE mine").await;
    world
        .execute(
            "ALTER TABLE outbox_log ALTER seq SET DEFAULT
                 CASE WHEN pg_current_xact_id() IS NOT NULL THEN nextval('mine') END",
        )
        .await;
    assert_refused(&world, "default of its column `seq`").await;
    assert_repaired(&world).await;
}

const EXPLICIT: &str = "INSERT INTO outbox_log (seq, id, topic, event_type, event_version, payload, source, dataschema, on_poison)
    VALUES (1000000000000000500, gen_random_uuid(), 't', 't', 1, '{}', '/', 'urn:t', 'park')";

#[tokio::test]
async fn an_explicit_seq_is_refused() {
    let Some(world) = World::start().await else { return };
    let mut log = world.open().await;
    world.publish("k").await;
    world.relay(&mut log).await;
    world.execute(EXPLICIT).await;

    // A relay that is running meets the row itself.
    let met = log.read(100).await.unwrap_err();
    assert!(matches!(&met, StoreError::Precondition { .. }), "{met:?}");
    assert!(met.to_string().contains("supplied the number itself"), "{met}");
    assert_refused(&world, "supplied the number itself").await;
    world.execute("UPDATE outbox_log SET key = 'explicit' WHERE seq = 1000000000000000500").await;
    let repaired = world.store.repair().await.unwrap();
    assert_eq!(repaired.rereading, []);
    assert_eq!(world.relay(&mut world.open().await).await, ["explicit"]);
}

#[tokio::test]
async fn a_sequence_behind_the_log_is_refused() {
    let Some(world) = World::start().await else { return };
    for _ in 0..3 {
        world.publish("k").await;
    }
    world.execute("SELECT setval('outbox_seq', 1000000000000000001)").await;
    assert_refused(&world, "sequence was set back").await;
    assert_repaired(&world).await;
}

/// As after a restore of the log without its progress, or the other way round.
#[tokio::test]
async fn a_sequence_behind_the_progress_is_refused_and_its_stages_read_again() {
    let Some(world) = World::start().await else { return };
    let mut log = world.open().await;
    for _ in 0..3 {
        world.publish("before").await;
        world.relay(&mut log).await;
    }
    let bystander = lead(&world.store, &Stage::relay("fresh"), super::LONG).await;
    drop(world.store.open_log(&bystander, Filter::default(), Start::Earliest).await.unwrap());
    world.execute("DELETE FROM outbox_log; SELECT setval('outbox_seq', 1000000000000000000)").await;
    world.publish("hidden").await;
    assert_eq!(log.read(100).await.unwrap().events, [], "the row is numbered below what was settled");
    assert_refused(&world, "behind seq 1000000000000000002 that a stage has settled").await;

    let repaired = world.store.repair().await.unwrap();

    assert_eq!(repaired.next_seq, Seq(1_001_000_000_000_000_000));
    assert_eq!(repaired.rereading, [Stage::relay("r")]);
    // The relay that stayed up remembers a past that is gone; it is told so and reads again.
    world.publish("after").await;
    let page = log.read(100).await.unwrap();
    let stale = log.settle(&world.fence, &super::all_of(&page), &[]).await.unwrap_err();
    assert!(stale.is_transient(), "{stale:?}");
    assert_eq!(world.relay(&mut log).await, ["hidden", "after"]);
}

/// Another cluster has another system identifier, and other transaction ids: what was noted of the first means nothing.
#[tokio::test]
async fn a_restored_dump_goes_on_where_it_was_in_a_cluster_of_another_identifier() {
    let Some(world) = World::start().await else { return };
    let Some(other) = Postgres::private().await else { return };
    let mut log = world.open().await;
    // A hole that is never filled there: its transaction is not in the dump.
    let mut open = world.store.begin().await.unwrap();
    world.store.insert(&mut open, &[event("lost")]).await.unwrap();
    for _ in 0..2 {
        world.publish("settled").await;
        world.relay(&mut log).await;
    }
    assert_eq!(world.recorded_holes().await, 1);
    world.publish("unsettled").await;
    world.schedule("scheduled", -1).await;
    world.store.release(&world.fence.lease(), world.fence.owner).await.unwrap();

    let restored = World::at(&other.restored_from(&world.url).await).await;
    world.store.rollback(open).await;

    restored.store.check().await.unwrap();
    let mut log = restored.open().await;
    assert_eq!(restored.relay(&mut log).await, ["unsettled"]);
    let upkeep = lead(&restored.store, &Stage::upkeep(), super::LONG).await;
    assert_eq!(restored.store.move_due(&upkeep, 10).await.unwrap(), 1);
    assert_eq!(restored.relay(&mut log).await, ["scheduled"]);
    let started = std::time::Instant::now();
    while restored.recorded_holes().await > 0 {
        assert!(started.elapsed() < super::PATIENCE, "the hole is never given up");
        restored.publish("next").await;
        restored.relay(&mut log).await;
    }
    // What the first cluster gave out after the dump is not given out again.
    let last = world.publish("after the dump").await;
    let last_there = world.number(&format!("SELECT seq FROM outbox_log WHERE id = '{}'", last.id)).await;
    let repaired = restored.store.repair().await.unwrap();
    assert!(repaired.next_seq.0 > last_there + 1_000);
    restored.publish("repaired").await;
    assert_eq!(restored.relay(&mut log).await, ["repaired"]);
}

#[tokio::test]
async fn repair_waits_for_those_who_have_taken_numbers() {
    let Some(world) = World::start().await else { return };
    let mut tx = world.store.begin().await.unwrap();
    world.store.insert(&mut tx, &[super::event("before")]).await.unwrap();
    let repair = tokio::spawn({
        let store = world.store.clone();
        async move { store.repair().await }
    });
    let mut watcher = world.store.pool().acquire().await.unwrap();
    super::until_waiting(&mut watcher, 1).await;
    // A writer that locked the log first can go on to its number.
    world.store.insert(&mut tx, &[super::event("still before")]).await.unwrap();
    world.store.commit(tx).await.unwrap();
    repair.await.unwrap().unwrap();

    world.publish("after").await;
    assert_eq!(world.relay(&mut world.open().await).await, ["before", "still before", "after"]);
}
