//! Retention: what goes, and what must not.

use super::{LONG, World, event, prove_and_commit};
use outbox::{
    cursor::LogCursor,
    lease::Owner,
    store::{Claim, Claimed, Retention, Store},
};
use std::time::Duration;

/// Events are past retention at once, and a stage that lags is waited for.
const NONE: Retention =
    Retention { log: Duration::ZERO, inbox: Duration::ZERO, wait_max: LONG, dead_letters: LONG, audit: LONG };

impl World {
    async fn sweep(&self, retention: &Retention) {
        while self.store.sweep(Owner::new(), retention).await.unwrap().is_zero() {}
    }

    async fn rows(&self) -> i64 {
        self.number("SELECT count(*) FROM outbox_log").await
    }
}

#[tokio::test]
async fn settled_events_go_after_their_retention() {
    let Some(world) = World::start().await else { return };
    let mut log = world.open().await;
    world.publish("old").await;
    world.relay(&mut log).await;
    world.publish("old").await;
    world.relay(&mut log).await;

    world.sweep(&Retention { log: LONG, ..NONE }).await;
    assert_eq!(world.rows().await, 2, "they are within retention");
    world.sweep(&NONE).await;
    assert_eq!(world.rows().await, 0);

    let new = world.publish("new").await;
    assert_eq!(world.relay(&mut log).await, ["new"]);
    assert!(world.number("SELECT max(seq) FROM outbox_log").await > 1_000_000_000_000_000_001);
    assert_eq!(world.store.state(new.id).await.unwrap(), outbox::EventState::Settled);
}

#[tokio::test]
async fn an_event_that_a_stage_has_not_settled_stays_until_the_wait_is_over() {
    let Some(world) = World::start().await else { return };
    let mut log = world.open().await;
    world.publish("unsettled").await;
    world.sweep(&NONE).await;
    assert_eq!(world.rows().await, 1);
    let page = log.read(10).await.unwrap();
    assert_eq!(super::keys_of(&page), ["unsettled"]);

    world.sweep(&Retention { wait_max: Duration::ZERO, ..NONE }).await;

    assert_eq!(world.rows().await, 0, "a stage that is gone holds the log up for ever");
}

#[tokio::test]
async fn an_event_that_no_stage_has_ever_read_stays_until_the_wait_is_over() {
    let Some(world) = World::start().await else { return };
    world.publish("before the first relay").await;
    world.sweep(&NONE).await;
    assert_eq!(world.rows().await, 1);

    world.sweep(&Retention { wait_max: Duration::ZERO, ..NONE }).await;

    assert_eq!(world.rows().await, 0);
}

#[tokio::test]
async fn an_event_of_an_open_transaction_is_not_swept_with_its_leaf() {
    let Some(world) = World::start().await else { return };
    let mut log = world.open().await;
    let mut open = world.store.begin().await.unwrap();
    world.store.insert(&mut open, &[event("open")]).await.unwrap();
    world.publish("settled").await;
    assert_eq!(world.relay(&mut log).await, ["settled"]);

    world.sweep(&Retention { wait_max: Duration::ZERO, ..NONE }).await;
    world.store.commit(open).await.unwrap();
    world.sweep(&NONE).await;

    assert_eq!(world.rows().await, 2, "the late event is still a hole of the stage");
    assert_eq!(world.relay(&mut log).await, ["open"]);
}

#[tokio::test]
async fn a_leaf_in_use_is_left_for_the_next_round() {
    let Some(world) = World::start().await else { return };
    let mut log = world.open().await;
    for _ in 0..2 {
        world.publish("old").await;
        world.relay(&mut log).await;
    }
    let mut reader = world.store.begin().await.unwrap();
    sqlx::query("SELECT count(*) FROM outbox_log").execute(&mut *reader).await.unwrap();
    world.sweep(&NONE).await;
    assert_eq!(world.rows().await, 2);
    world.store.rollback(reader).await;
    world.sweep(&NONE).await;
    assert_eq!(world.rows().await, 0);
}

#[tokio::test]
async fn the_inbox_forgets_what_is_past_its_window() {
    let Some(world) = World::start().await else { return };
    let mut log = world.open().await;
    world.publish("k").await;
    let envelope = log.read(1).await.unwrap().events.remove(0).envelope;
    let mut tx = world.store.begin_handler(LONG).await.unwrap();
    let claim = Claim { envelope: &envelope, from_held: false, window: LONG };
    let Claimed::Fresh(token) = world.store.claim(&mut tx, &world.fence, &claim).await.unwrap() else {
        panic!("the event is new")
    };
    prove_and_commit(&world.store, tx, &world.fence, &token).await.unwrap();

    world.sweep(&Retention { inbox: LONG, ..NONE }).await;
    assert_eq!(world.number("SELECT count(*) FROM outbox_inbox").await, 1);
    world.sweep(&NONE).await;
    assert_eq!(world.number("SELECT count(*) FROM outbox_inbox").await, 0);
}

#[tokio::test]
async fn only_the_newest_progress_of_a_stage_is_kept() {
    let Some(world) = World::start().await else { return };
    let mut log = world.open().await;
    for _ in 0..5 {
        world.publish("k").await;
        world.relay(&mut log).await;
    }
    let settled = world.number("SELECT max(settled_seq) FROM outbox_progress").await;
    world.sweep(&Retention { log: LONG, ..NONE }).await;
    assert_eq!(world.number("SELECT count(*) FROM outbox_progress").await, 1);
    assert_eq!(world.number("SELECT max(settled_seq) FROM outbox_progress").await, settled);
    world.publish("k").await;
    assert_eq!(world.relay(&mut log).await, ["k"]);
}
