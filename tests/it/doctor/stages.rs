//! Stages, keys, dead letters and upkeep, on each store.

use super::{assert_says, codes, one};
use crate::broker::parts::event;
use outbox::{
    DeadLetterFilter, Finding, OnPoison, RelayConfig, Runner, Terms, Tolerance,
    broker::Broker,
    draft,
    envelope::{Envelope, Seq},
    held::{Change, Failure, Share, Stage},
    lease::{Fence, LeaseName, Owner},
    store::Forgetting,
};
use outbox_tests::memory_broker::MemoryBroker;
use outbox_tests::on_each_store;
use outbox_tests::world::{TestStore, World, eventually, noted, quick, quick_relay};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use time::OffsetDateTime;

on_each_store! {
    a_database_where_all_is_well_has_no_finding,
    a_relay_and_a_consumer_that_nobody_runs_are_named_until_they_are_forgotten,
    a_relay_that_does_not_come_on_is_named,
    keys_that_wait_and_dead_letters_are_counted,
    a_replay_for_a_consumer_that_nobody_runs_is_named,
    a_log_that_nobody_reads_is_named,
    upkeep_that_nobody_does_is_named,
}

/// Everything is a finding at once.
const IMPATIENT: Tolerance = Tolerance {
    wait: Duration::ZERO,
    key_wait: Duration::ZERO,
    transaction: Duration::MAX,
    slot_bytes: u64::MAX,
};

async fn examined<S: TestStore>(world: &World<S>, tolerance: &Tolerance) -> Vec<Finding> {
    world.outbox.examine(tolerance).await.unwrap()
}

async fn run<S: TestStore>(world: &World<S>, name: &str, broker: Arc<dyn Broker>) -> Runner {
    let config = RelayConfig { name: name.to_owned(), ..quick_relay() };
    world.outbox.runner().relay(config, broker).settings(quick).start().await.unwrap()
}

fn down() -> Arc<MemoryBroker> {
    let broker = Arc::new(MemoryBroker::default());
    broker.set_down(true);
    broker
}

async fn eventually_led<S: TestStore>(world: &World<S>, stage: &str) {
    eventually("it is led", async || {
        let status = world.outbox.store().status().await.unwrap();
        status.iter().any(|one| one.stage.as_str() == stage && one.led && one.lag.is_some())
    })
    .await;
}

async fn a_database_where_all_is_well_has_no_finding<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    assert_eq!(examined(&world, &Tolerance::default()).await, []);
    let broker = Arc::new(MemoryBroker::default());
    let (relay, consumer) = (world.relay(broker.clone()).await, world.consume().await);
    world.enqueue_each([noted("a", 1), noted("a", 2), noted("b", 1)]).await;
    world.effects_of(3).await;
    eventually("all are published", async || broker.confirmed().len() == 3).await;

    assert_eq!(examined(&world, &Tolerance::default()).await, []);

    relay.stop().await.unwrap();
    consumer.stop().await.unwrap();
    world.enqueue_each([noted("a", 3)]).await;
    assert_eq!(examined(&world, &Tolerance::default()).await, [], "nobody has been away for long");
}

async fn a_relay_and_a_consumer_that_nobody_runs_are_named_until_they_are_forgotten<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let (relay, consumer) = (run(&world, "gone", down()).await, world.consume().await);
    let name = S::CONSUMER;
    for stage in ["relay/gone", &format!("consumer/{name}")] {
        eventually_led(&world, stage).await;
    }
    consumer.stop().await.unwrap();
    relay.stop().await.unwrap();
    world.enqueue_each([noted("a", 1), noted("a", 2)]).await;

    let findings = examined(&world, &IMPATIENT).await;

    let gone = one(&findings, "relay-gone");
    assert_eq!(gone.about, "relay/gone");
    assert_says(gone, &["2 events of the log are unread", "`outbox relays forget gone`"]);
    let gone = one(&findings, "consumer-gone");
    assert_eq!(gone.about, format!("consumer/{name}"));
    assert_says(gone, &["2 events of the log are unread", &format!("`outbox consumers forget {name}`")]);
    assert_eq!(codes(&examined(&world, &Tolerance::default()).await, "relay/gone"), [""; 0]);
    for stage in [Stage::relay("gone"), Stage::consumer(name)] {
        let forgotten = world.outbox.forget(&stage, Some(&Terms::new("ann", "it is gone"))).await.unwrap();
        assert!(matches!(forgotten, Forgetting::Forgotten { .. }), "{forgotten:?}");
        assert_eq!(codes(&examined(&world, &IMPATIENT).await, stage.as_str()), [""; 0]);
    }
}

async fn a_relay_that_does_not_come_on_is_named<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let broker = down();
    let relay = run(&world, "stuck", broker.clone()).await;
    eventually_led(&world, "relay/stuck").await;
    world.enqueue_each([noted("a", 1)]).await;

    let findings = examined(&world, &IMPATIENT).await;

    assert_eq!(codes(&findings, "relay/stuck"), ["stage-lags"]);
    assert_says(one(&findings, "stage-lags"), &["1 event waits in the log"]);
    broker.set_down(false);
    eventually("it has come on", async || {
        codes(&examined(&world, &IMPATIENT).await, "relay/stuck").is_empty()
    })
    .await;
    relay.stop().await.unwrap();
}

async fn keys_that_wait_and_dead_letters_are_counted<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let broker = Arc::new(MemoryBroker::default());
    broker.refuse_key("bad");
    let blocks = RelayConfig { name: "blocks".to_owned(), on_poison: Some(OnPoison::Block), ..quick_relay() };
    let parks = RelayConfig { name: "parks".to_owned(), ..quick_relay() };
    let runner = world.outbox.runner().relay(blocks, broker.clone()).relay(parks, broker).settings(quick);
    let runner = runner.start().await.unwrap();
    world.enqueue_each([noted("bad", 1), noted("bad", 2), noted("good", 1)]).await;
    eventually("one key waits and one is parked", async || {
        let findings = examined(&world, &IMPATIENT).await;
        let parked = codes(&findings, "relay/parks") == ["keys-parked", "dead-letters"];
        parked && codes(&findings, "relay/blocks") == ["keys-waiting"]
    })
    .await;

    let findings = examined(&world, &Tolerance::default()).await;

    assert_eq!(codes(&findings, "relay/blocks"), [""; 0], "a key may wait a little");
    assert_eq!(codes(&findings, "relay/parks"), ["keys-parked", "dead-letters"]);
    assert_says(one(&findings, "keys-parked"), &["1 key waits for a person", "list --stage relay/parks"]);
    assert_says(one(&findings, "dead-letters"), &["1 dead letter, 1 of them from the last day"]);
    let filter = DeadLetterFilter { stage: Some(Stage::relay("parks")), ..DeadLetterFilter::default() };
    let discarded = async || {
        world.outbox.discard(&filter, &Terms::new("ann", "mended")).await.unwrap();
        examined(&world, &Tolerance::default()).await.is_empty()
    };
    eventually("nothing is left", discarded).await;
    runner.stop().await.unwrap();
}

/// A consumer of a broker has no progress in the log by which it would be known.
async fn a_replay_for_a_consumer_that_nobody_runs_is_named<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let (stage, share, owner) = (Stage::consumer("gone"), Share::default(), Owner::new());
    let (store, lease) = (world.outbox.store(), LeaseName::of(&stage, &share));
    let epoch =
        store.acquire(&lease, owner, Duration::from_secs(60)).await.unwrap().expect("nobody leads it");
    let dead = Change::Dead {
        envelope: Envelope {
            seq: Seq(1),
            occurred_at: OffsetDateTime::now_utc(),
            event: event("gone", None),
        },
        attempts: 1,
        failure: Failure { reason: "handler-error", error_chain: "it is to fail".to_owned() },
        park: false,
    };
    store.apply(&Fence { stage, share, owner, epoch }, &[dead]).await.unwrap();
    store.move_leases(-3_600).await;
    assert_eq!(codes(&examined(&world, &IMPATIENT).await, "consumer/gone"), ["dead-letters"]);

    world.outbox.replay(&DeadLetterFilter::default(), &Terms::new("ann", "mended")).await.unwrap();

    let gone = examined(&world, &IMPATIENT).await;
    assert_says(&gone[0], &["1 request of a person is open"]);
    assert_eq!(gone[0].about, "consumer/gone");
}

async fn a_log_that_nobody_reads_is_named<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    world.enqueue_each([noted("a", 1)]).await;

    assert_says(one(&examined(&world, &IMPATIENT).await, "log-unread"), &["ever read it"]);

    let relay = world.relay(Arc::new(MemoryBroker::default())).await;
    eventually("a relay reads it", async || codes(&examined(&world, &IMPATIENT).await, "log").is_empty())
        .await;
    relay.stop().await.unwrap();
}

async fn upkeep_that_nobody_does_is_named<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let mut tx = world.outbox.begin().await.unwrap();
    world.outbox.enqueue(&mut tx, draft(&noted("a", 1)).at(SystemTime::now())).await.unwrap();
    tx.commit().await.unwrap();
    assert_says(one(&examined(&world, &IMPATIENT).await, "upkeep-gone"), &["a scheduled event is due"]);

    let relay = world.relay(Arc::new(MemoryBroker::default())).await;
    eventually("it is moved", async || {
        codes(&examined(&world, &Tolerance::default()).await, "upkeep").is_empty()
    })
    .await;
    relay.stop().await.unwrap();

    // As a process leaves it that was killed an hour ago.
    let lease = LeaseName::of(&Stage::upkeep(), &Share::default());
    let store = world.outbox.store();
    eventually("the lease is free", async || {
        store.acquire(&lease, Owner::new(), Duration::from_secs(1)).await.unwrap().is_some()
    })
    .await;
    store.move_leases(-3_670).await;
    let findings = examined(&world, &Tolerance::default()).await;
    assert_says(one(&findings, "upkeep-gone"), &["the last one that did is gone for 1 h 1 min"]);
}
