//! Two builds of one consumer in the middle of a cutover: each event is written in both versions, and has one effect.

use outbox::cursor::{Filter, LogCursor};
use outbox::dead_letter::{DeadLetterFilter, Terms};
use outbox::envelope::Envelope;
use outbox::held::{Share, Stage};
use outbox::lease::{Fence, Owner};
use outbox::{EnqueueError, Event, EventId, IntoDraft, Runner, Start, draft};
use outbox_tests::actor::actor;
use outbox_tests::cutover::{Counted, Priced, Seen};
use outbox_tests::on_each_store;
use outbox_tests::servers::{Nats, Process};
use outbox_tests::world::{TestStore, World, eventually, nats_broker, numbers_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

const BEFORE: &str = env!("CARGO_BIN_EXE_cutover_before");
const AFTER: &str = env!("CARGO_BIN_EXE_cutover_after");
/// The pairs of a test, over this many keys; one build handles those of the first half.
const PAIRS: i64 = 30;
const KEYS: i64 = 4;

on_each_store! {
    an_upgrade_in_mid_cutover_has_one_effect_for_each_pair,
    an_upgrade_in_mid_cutover_has_one_effect_for_each_pair_on_a_broker,
    a_rollback_in_mid_cutover_has_one_effect_for_each_pair,
    a_rollback_in_mid_cutover_has_one_effect_for_each_pair_on_a_broker,
    an_upgrade_to_the_new_version_alone_loses_no_pair,
    a_dead_letter_of_the_older_half_is_replayed_by_the_new_build,
    a_dead_letter_of_the_newer_half_leaves_the_pair_to_the_old_build,
    a_dead_letter_whose_other_half_was_handled_meanwhile_is_a_duplicate,
    both_versions_are_written_behind_each_other_with_each_other_as_twin,
    a_pair_of_two_keys_is_refused_and_the_transaction_goes_on,
}

/// A world, and where its consumers get their events from.
struct Scene<S: TestStore> {
    world: World<S>,
    nats: Option<Nats>,
    relay: Option<Runner>,
}

impl<S: TestStore> Scene<S> {
    async fn local() -> Option<Self> {
        Some(Self { world: World::start().await?, nats: None, relay: None })
    }

    async fn on_a_broker() -> Option<Self> {
        let (world, nats) = (World::<S>::start().await?, Nats::private().await?);
        let relay = world.relay(nats_broker(&nats.url(), None)).await;
        Some(Self { world, nats: Some(nats), relay: Some(relay) })
    }

    fn run(&self, build: &str, more: &[&str]) -> Process {
        let nats = self.nats.as_ref().map(Nats::url);
        let mut arguments = vec!["--db", &self.world.url];
        arguments.extend(nats.iter().flat_map(|url| ["--nats", url]));
        arguments.extend(more);
        actor(build, &arguments)
    }

    /// Runs a build that dies in the handler of a pair in the middle; gives the process.
    async fn run_and_die(&self, build: &str) -> u32 {
        let mut process = self.run(build, &["--die-at", &(PAIRS / 2).to_string()]);
        eventually("the build has died", async || !process.is_running()).await;
        assert!(self.world.outbox.store().effect_count().await > 0, "it died with nothing done");
        process.id()
    }

    async fn write<E>(&self, events: impl IntoIterator<Item = E>)
    where
        for<'a> &'a E: IntoDraft,
    {
        for event in events {
            let mut tx = self.world.outbox.begin().await.unwrap();
            self.world.outbox.enqueue(&mut tx, &event).await.unwrap();
            tx.commit().await.unwrap();
        }
    }

    async fn dead(&self) -> Vec<(u32, String)> {
        let letters = self.world.outbox.dead_letters(&DeadLetterFilter::default(), 100).await.unwrap();
        let mut dead: Vec<_> =
            letters.into_iter().map(|letter| (letter.envelope.event_version, letter.reason)).collect();
        dead.sort();
        dead
    }

    async fn wait_for_dead(&self, expected: &[(u32, &str)]) {
        let expected: Vec<_> =
            expected.iter().map(|(version, reason)| (*version, (*reason).to_owned())).collect();
        eventually("the dead letters are these", async || self.dead().await == expected).await;
    }

    async fn replay_all(&self) {
        self.world.outbox.replay(&DeadLetterFilter::default(), &Terms::new("test", "mended")).await.unwrap();
    }

    /// The first build handles some of the pairs and dies in the middle of one, the second does the rest.
    async fn hand_over(self, first: &str, second: &str) {
        self.write((0..PAIRS).map(|n| priced(n, false))).await;
        self.write((0..PAIRS).map(|n| Seen { number: n, fails: false })).await;
        let first = self.run_and_die(first).await;

        let mut process = self.run(second, &[]);
        let pairs = usize::try_from(2 * PAIRS).unwrap();
        self.world.effects_of(pairs).await;
        // When the last in line of each key has its effect, every half before it was met.
        self.write((PAIRS..PAIRS + KEYS).map(|n| priced(n, false))).await;
        let all = pairs + usize::try_from(KEYS).unwrap();
        let effects = self.world.effects_of(all).await;
        assert_eq!(self.world.outbox.store().effect_count().await, all, "a pair had two effects");
        for key in 0..KEYS {
            let expected: Vec<i64> = (0..PAIRS + KEYS).filter(|n| n % KEYS == key).collect();
            assert_eq!(numbers_of(&effects, &format!("key-{key}")), expected);
        }
        let mut seen = numbers_of(&effects, "seen");
        seen.sort_unstable();
        assert_eq!(seen, (0..PAIRS).collect::<Vec<_>>());
        let workers = self.world.outbox.store().workers_since(0).await;
        // Not by a number read at the first one's death: a COMMIT that it had sent may still have been on its way.
        let by_first = workers.iter().take_while(|worker| **worker == first).count();
        assert!(by_first > 0, "the first build did nothing");
        assert!(
            by_first < all && workers[by_first..].iter().all(|worker| *worker == process.id()),
            "the second build did not do the rest"
        );
        assert_eq!(self.dead().await, []);
        process.kill();
        if let Some(relay) = self.relay {
            relay.stop().await.unwrap();
        }
    }
}

fn key_of(n: i64) -> String {
    format!("key-{}", n % KEYS)
}

fn priced(n: i64, fails: bool) -> Priced {
    Priced { thing: key_of(n), n, fails }
}

fn counted(n: i64, fails: bool) -> Counted {
    Counted { thing: key_of(n), n, fails }
}

async fn an_upgrade_in_mid_cutover_has_one_effect_for_each_pair<S: TestStore>() {
    let Some(scene) = Scene::<S>::local().await else { return };
    scene.hand_over(BEFORE, AFTER).await;
}

async fn an_upgrade_in_mid_cutover_has_one_effect_for_each_pair_on_a_broker<S: TestStore>() {
    let Some(scene) = Scene::<S>::on_a_broker().await else { return };
    scene.hand_over(BEFORE, AFTER).await;
}

async fn a_rollback_in_mid_cutover_has_one_effect_for_each_pair<S: TestStore>() {
    let Some(scene) = Scene::<S>::local().await else { return };
    scene.hand_over(AFTER, BEFORE).await;
}

async fn a_rollback_in_mid_cutover_has_one_effect_for_each_pair_on_a_broker<S: TestStore>() {
    let Some(scene) = Scene::<S>::on_a_broker().await else { return };
    scene.hand_over(AFTER, BEFORE).await;
}

async fn an_upgrade_to_the_new_version_alone_loses_no_pair<S: TestStore>() {
    let Some(scene) = Scene::<S>::on_a_broker().await else { return };
    scene.write((0..PAIRS).map(|n| counted(n, false))).await;
    scene.run_and_die(BEFORE).await;

    // A newer half that the old build has acked is gone, and the new build can do nothing with the older one.
    let mut process = scene.run(AFTER, &[]);
    scene.write((PAIRS..PAIRS + KEYS).map(|n| counted(n, false))).await;
    eventually("the last of each key is handled", async || {
        let effects = scene.world.outbox.store().effects().await;
        (PAIRS..PAIRS + KEYS).all(|n| effects.contains(&(key_of(n), n)))
    })
    .await;
    process.kill();
    let mut found: Vec<i64> =
        scene.world.outbox.store().effects().await.into_iter().map(|(_, n)| n).collect();
    let letters = scene.world.outbox.dead_letters(&DeadLetterFilter::default(), 100).await.unwrap();
    assert!(
        letters
            .iter()
            .all(|letter| (letter.envelope.event_version, &*letter.reason) == (1, "version-not-taken"))
    );
    assert!(
        letters.len() <= usize::try_from(KEYS).unwrap(),
        "only pairs in the middle are in doubt: {letters:?}"
    );
    found.extend(letters.iter().map(|letter| number_of(&letter.envelope.payload)));
    found.sort_unstable();
    assert_eq!(found, (0..PAIRS + KEYS).collect::<Vec<_>>(), "each is handled or a dead letter");

    // The old build takes them.
    scene.replay_all().await;
    let mut process = scene.run(BEFORE, &[]);
    scene.world.effects_of(usize::try_from(PAIRS + KEYS).unwrap()).await;
    eventually("nothing is left", async || scene.dead().await.is_empty()).await;
    process.kill();
}

fn number_of(payload: &str) -> i64 {
    let payload: serde_json::Value = serde_json::from_str(payload).unwrap();
    payload["n"].as_i64().unwrap()
}

async fn a_dead_letter_of_the_older_half_is_replayed_by_the_new_build<S: TestStore>() {
    let Some(scene) = Scene::<S>::local().await else { return };
    scene.write([priced(0, true), priced(KEYS, false)]).await;
    let mut process = scene.run(BEFORE, &[]);
    scene.wait_for_dead(&[(1, "handler-error")]).await;
    process.kill();

    scene.replay_all().await;
    let mut process = scene.run(AFTER, &["--mended"]);

    assert_eq!(numbers_of(&scene.world.effects_of(2).await, "key-0"), [0, KEYS]);
    scene.wait_for_dead(&[]).await;
    process.kill();
}

async fn a_dead_letter_of_the_newer_half_leaves_the_pair_to_the_old_build<S: TestStore>() {
    let Some(scene) = Scene::<S>::local().await else { return };
    scene.write([priced(0, true), priced(KEYS, false)]).await;
    let mut process = scene.run(AFTER, &[]);
    scene.wait_for_dead(&[(2, "handler-error")]).await;
    process.kill();

    scene.replay_all().await;
    let mut process = scene.run(BEFORE, &["--mended"]);

    assert_eq!(numbers_of(&scene.world.effects_of(2).await, "key-0"), [0, KEYS]);
    scene.wait_for_dead(&[]).await;
    process.kill();
}

async fn a_dead_letter_whose_other_half_was_handled_meanwhile_is_a_duplicate<S: TestStore>() {
    let Some(scene) = Scene::<S>::local().await else { return };
    // Without order nothing waits: each half is set aside on its own.
    scene.write([Seen { number: 0, fails: true }]).await;
    let mut process = scene.run(AFTER, &[]);
    scene.wait_for_dead(&[(1, "handler-error"), (2, "handler-error")]).await;
    process.kill();

    scene.replay_all().await;
    let mut process = scene.run(AFTER, &["--mended"]);

    scene.wait_for_dead(&[]).await;
    process.kill();
    assert_eq!(scene.world.outbox.store().effects().await, [("seen".to_owned(), 0)]);
}

async fn both_versions_are_written_behind_each_other_with_each_other_as_twin<S: TestStore>() {
    let Some(scene) = Scene::<S>::local().await else { return };
    let outbox = &scene.world.outbox;
    let mut tx = outbox.begin().await.unwrap();
    let one = outbox.enqueue(&mut tx, draft(&priced(0, false)).header("tenant", "acme")).await.unwrap();
    let drafts = [draft(&priced(1, false)).locked(), draft(&counted(2, false))];
    let mut ids = outbox.enqueue_batch(&mut tx, drafts).await.unwrap();
    tx.commit().await.unwrap();
    let (id, statement) = outbox.statement(&priced(3, false)).unwrap();
    outbox.store().run(&statement).await;
    ids.insert(0, one);
    ids.push(id);

    let written = written::<S>(&scene.world).await;

    let versions: Vec<_> =
        written.iter().map(|event| (event.event_version, number_of(&event.payload))).collect();
    assert_eq!(versions, [(2, 0), (1, 0), (2, 1), (1, 1), (2, 2), (1, 2), (2, 3), (1, 3)]);
    let newer: Vec<EventId> = written.iter().step_by(2).map(|event| event.id).collect();
    assert_eq!(newer, ids, "the ids are those of the events themselves");
    for pair in written.chunks(2) {
        let [newer, older] = pair else { panic!("half a pair") };
        let twins = [newer, older].map(|event| event.twin.unwrap());
        assert_eq!(twins.map(|twin| (twin.id, twin.version)), [(older.id, 1), (newer.id, 2)]);
        assert_eq!((&newer.key, &newer.source, &newer.headers), (&older.key, &older.source, &older.headers));
        assert_ne!(newer.dataschema, older.dataschema);
    }
    assert_eq!(written[1].headers["tenant"], "acme");
    assert!(written[0].payload.contains("\"thing\"") && written[1].payload.contains("\"key\""));
}

/// The log as a new relay reads it.
async fn written<S: TestStore>(world: &World<S>) -> Vec<Envelope> {
    let store = world.outbox.store();
    let fence =
        Fence { stage: Stage::relay("witness"), share: Share::default(), owner: Owner::new(), epoch: 0 };
    let epoch = store.acquire(&fence.lease(), fence.owner, Duration::from_secs(60)).await.unwrap().unwrap();
    let fence = Fence { epoch, ..fence };
    let mut log = store.open_log(&fence, Filter::default(), Start::Earliest).await.unwrap();
    log.read(100).await.unwrap().events.into_iter().map(|read| read.envelope).collect()
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "test.versions.torn", version = 1, topic = "test-versions")]
struct TornV1 {
    #[event(key)]
    left: u64,
}

#[derive(Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "test.versions.torn", version = 2, topic = "test-versions", also_as = TornV1)]
struct Torn {
    left: u64,
    #[event(key)]
    right: u64,
}

impl From<&Torn> for TornV1 {
    fn from(new: &Torn) -> Self {
        Self { left: new.left }
    }
}

async fn a_pair_of_two_keys_is_refused_and_the_transaction_goes_on<S: TestStore>() {
    let Some(scene) = Scene::<S>::local().await else { return };
    let outbox = &scene.world.outbox;
    let mut tx = outbox.begin().await.unwrap();

    let refused = outbox.enqueue(&mut tx, &Torn { left: 1, right: 2 }).await.unwrap_err();
    outbox.enqueue(&mut tx, &Torn { left: 3, right: 3 }).await.unwrap();
    tx.commit().await.unwrap();

    assert!(matches!(refused, EnqueueError::KeysDiffer { version: 2, lower: 1, .. }), "{refused}");
    assert_eq!(written::<S>(&scene.world).await.len(), 2);
}
