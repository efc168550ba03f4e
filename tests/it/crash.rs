//! Processes that are killed or paused at the worst moment, on every store; nothing is lost, doubled or out of order.

use outbox_tests::actor::actor;
use outbox_tests::file_broker::{FileBroker, Line};
use outbox_tests::on_each_store;
use outbox_tests::servers::Process;
use outbox_tests::world::{TestStore, World, eventually, name_in, noted};
use std::collections::HashSet;
use std::path::PathBuf;
use tempfile::TempDir;

const ACTOR: &str = env!("CARGO_BIN_EXE_actor");

on_each_store! {
    what_was_committed_is_published_though_its_process_died_before_any_relay,
    a_relay_killed_between_publish_and_settle_loses_nothing_and_keeps_order,
    a_consumer_killed_between_commit_and_ack_has_each_effect_once,
    the_second_relay_takes_over_within_the_lease_after_the_first_was_killed,
    a_paused_leader_that_wakes_up_publishes_nothing_out_of_order,
}

/// A world and a file that stands for a broker.
struct Scene<S: TestStore> {
    world: World<S>,
    _dir: TempDir,
    file: PathBuf,
}

impl<S: TestStore> Scene<S> {
    async fn start() -> Option<Self> {
        let world = World::start().await?;
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("published");
        Some(Self { world, _dir: dir, file })
    }

    fn act(&self, role: &str, more: &[&str]) -> Process {
        let mut arguments = vec![role, "--db", &self.world.url, "--file", self.file.to_str().unwrap()];
        arguments.extend(more);
        actor(ACTOR, &arguments)
    }

    fn published(&self) -> Vec<Line> {
        FileBroker::lines(&self.file)
    }

    async fn wait_for_distinct(&self, count: usize) {
        let seqs = || self.published().iter().map(|line| line.seq).collect::<HashSet<_>>().len();
        eventually(&format!("{count} events are published"), async || seqs() >= count).await;
        assert_eq!(seqs(), count);
    }

    /// Fails unless the history of this world, with all that was published, keeps the promises.
    async fn assert_promises_kept(&self) {
        let published = self.published().iter().map(|line| name_in(&line.payload)).collect();
        let history = self.world.history(Some(published), false).await;
        history.check().unwrap_or_else(|fault| panic!("{fault}"));
    }
}

async fn wait_for_end(process: &mut Process) {
    eventually("the process has ended", async || !process.is_running()).await;
}

async fn what_was_committed_is_published_though_its_process_died_before_any_relay<S: TestStore>() {
    let Some(scene) = Scene::<S>::start().await else { return };
    wait_for_end(&mut scene.act("enqueue", &["--count", "25"])).await;

    let _relay = scene.act("relay", &[]);

    scene.wait_for_distinct(25).await;
    let numbers: Vec<i64> = scene.published().iter().map(|line| name_in(&line.payload).n).collect();
    for key in 0..5 {
        assert!(numbers.iter().filter(|n| *n % 5 == key).is_sorted(), "out of order: {numbers:?}");
    }
}

async fn a_relay_killed_between_publish_and_settle_loses_nothing_and_keeps_order<S: TestStore>() {
    let Some(scene) = Scene::<S>::start().await else { return };
    scene.world.enqueue_each((0..60).map(|n| noted(&format!("key-{}", n % 4), n))).await;

    // Each dies in another wave of the page: some keys are further than others, and no settle has told of it.
    for batches in [1, 2, 7] {
        wait_for_end(&mut scene.act("relay", &["--die-after", &batches.to_string()])).await;
    }
    let repeated = scene.published().len();
    let _relay = scene.act("relay", &[]);

    scene.wait_for_distinct(60).await;
    scene.assert_promises_kept().await;
    assert!(scene.published().len() >= 60 + repeated - 28, "the killed ones had published: {repeated}");
}

async fn a_consumer_killed_between_commit_and_ack_has_each_effect_once<S: TestStore>() {
    let Some(scene) = Scene::<S>::start().await else { return };
    let world = &scene.world;
    let mut enqueued = 0;
    for round in 1..=20 {
        let mut consumer = scene.act("consume", &[]);
        // Killed as soon as an effect is visible: right behind its commit.
        world.enqueue_each((0..10).map(|n| noted(&format!("key-{}", n % 3), enqueued + n))).await;
        enqueued += 10;
        let wanted = (round - 1) * 5 + 1;
        eventually("an effect is committed", async || world.outbox.store().effects().await.len() >= wanted)
            .await;
        consumer.kill();
    }

    let _consumer = scene.act("consume", &[]);

    world.effects_of(enqueued as usize).await;
    world.history(None, true).await.check().unwrap_or_else(|fault| panic!("{fault}"));
}

async fn the_second_relay_takes_over_within_the_lease_after_the_first_was_killed<S: TestStore>() {
    let Some(scene) = Scene::<S>::start().await else { return };
    let mut first = scene.act("relay", &[]);
    scene.world.enqueue_each([noted("a", 0)]).await;
    scene.wait_for_distinct(1).await;
    let second = scene.act("relay", &[]);

    first.kill();
    let killed = std::time::Instant::now();
    scene.world.enqueue_each([noted("a", 1)]).await;

    scene.wait_for_distinct(2).await;
    // The world's take-over time is two seconds; the rest is room for a busy machine.
    assert!(killed.elapsed() < std::time::Duration::from_secs(20), "took {:?}", killed.elapsed());
    assert_eq!(scene.published()[1].process, second.id());
}

async fn a_paused_leader_that_wakes_up_publishes_nothing_out_of_order<S: TestStore>() {
    let Some(scene) = Scene::<S>::start().await else { return };
    // Every batch takes a while, so that the pause hits a page in work.
    let first = scene.act("relay", &["--pause-ms", "20"]);
    scene.world.enqueue_each((0..100).map(|n| noted(&format!("key-{}", n % 2), n))).await;
    eventually("the first leader works", async || scene.published().len() >= 4).await;
    first.pause();
    let second = scene.act("relay", &[]);
    let by_second = || scene.published().iter().filter(|line| line.process == second.id()).count();
    eventually("the second leader works", async || by_second() > 0).await;

    first.resume();
    scene.world.enqueue_each((100..200).map(|n| noted(&format!("key-{}", n % 2), n))).await;

    scene.wait_for_distinct(200).await;
    scene.assert_promises_kept().await;
    let first_of_second = scene.published().iter().position(|line| line.process == second.id()).unwrap();
    let late = scene.published()[first_of_second..].iter().filter(|line| line.process == first.id()).count();
    // The wave that was under way may still land, one event of each key; nothing that began after the pause.
    assert!(late <= 2, "the paused leader went on publishing: {late} events");
}
