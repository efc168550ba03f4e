//! The database and the broker are killed in a large drain, each with work left, and come back.

use super::{Scene, assert_once_and_in_order};
use outbox::postgres::PostgresStore;
use outbox::sqlite::SqliteStore;
use outbox_tests::servers::{BrokerServer, Nats, Postgres};
use outbox_tests::world::{Noted, TestStore, World, noted};
use std::time::{Duration, Instant};

const EVENTS: usize = 20_000;
const KEYS: usize = 97;

fn notes() -> Vec<Noted> {
    let note = |n: usize| noted(&format!("key-{}", n % KEYS), i64::try_from(n).unwrap());
    (0..EVENTS).map(note).collect()
}

/// Waits until that many effects are there; fails when none is added for a while.
async fn drained<S: TestStore>(world: &World<S>, count: usize) -> usize {
    const STANDSTILL_MAX: Duration = Duration::from_secs(40);
    let (mut last, mut since) = (0, Instant::now());
    loop {
        // A database that is just being restarted has no answer.
        let now = world.outbox.store().try_effect_count().await.unwrap_or(last);
        if now >= count {
            return now;
        }
        if now > last {
            (last, since) = (now, Instant::now());
        }
        assert!(since.elapsed() < STANDSTILL_MAX, "the drain stands still at {last} of {count}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits until a part of the drain is done and fails when nothing is left of it.
async fn in_the_middle<S: TestStore>(world: &World<S>, count: usize) {
    let done = drained(world, count).await;
    assert!(done < EVENTS, "the drain was over before the kill");
}

async fn finish<S: TestStore>(scene: &Scene<S>) {
    drained(&scene.world, EVENTS).await;
    assert_once_and_in_order(&scene.world.outbox.store().effects().await, EVENTS);
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_loses_nothing_when_the_process_then_nats_are_killed_in_a_drain() {
    let Some(scene) = Scene::<SqliteStore>::start().await else { return };
    drain_past_two_kills(scene).await;
}

/// Kills the process in a drain, and then the broker.
pub(super) async fn drain_past_two_kills(scene: Scene<SqliteStore>) {
    scene.world.enqueue_all(&notes()).await;
    let mut process = scene.act("work", &[]);

    in_the_middle(&scene.world, EVENTS / 5).await;
    process.kill();
    let mut process = scene.act("work", &[]);
    in_the_middle(&scene.world, EVENTS / 2).await;
    scene.server.kill();
    scene.server.restart().await;

    finish(&scene).await;
    assert!(process.is_running(), "the process did not live through it");
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_loses_nothing_when_it_then_nats_are_killed_in_a_drain() {
    let Some(nats) = Nats::private().await else { return };
    drain_past_a_kill_of_postgres_and(BrokerServer::Nats(nats)).await;
}

/// Kills the database in a drain, and then the broker.
pub(super) async fn drain_past_a_kill_of_postgres_and(server: BrokerServer) {
    let Some(postgres) = Postgres::private().await else { return };
    let world = World::<PostgresStore>::at(&postgres.fresh_database().await).await;
    let scene = Scene { world, server };
    scene.world.enqueue_all(&notes()).await;
    let mut process = scene.act("work", &[]);

    in_the_middle(&scene.world, EVENTS / 5).await;
    postgres.kill();
    postgres.restart().await;
    in_the_middle(&scene.world, EVENTS / 2).await;
    scene.server.kill();
    scene.server.restart().await;

    finish(&scene).await;
    assert!(process.is_running(), "the process did not live through it");
}
