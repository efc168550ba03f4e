//! Who leads, when leaders come, go, stand still, or believe that they lead: nothing lost, nothing out of order.

use futures_util::future::BoxFuture;
use outbox::broker::{Broker, BrokerError, Capabilities, Outgoing, Published};
use outbox::{RelayConfig, Runner};
use outbox_tests::actor::actor;
use outbox_tests::file_broker::{FileBroker, Line};
use outbox_tests::memory_broker::MemoryBroker;
use outbox_tests::on_each_store;
use outbox_tests::proxy::Proxy;
use outbox_tests::servers::Postgres;
use outbox_tests::world::{TestStore, World, eventually, noted, quick, quick_relay};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const ACTOR: &str = env!("CARGO_BIN_EXE_actor");

on_each_store! {
    relays_scaled_from_one_to_five_and_back_under_load_repeat_and_lose_nothing,
    a_hand_over_on_shutdown_is_a_matter_of_milliseconds,
    a_clock_that_jumps_ahead_makes_two_believe_and_repeats_no_more_than_was_in_flight,
    a_clock_that_is_set_back_delays_no_successor,
    a_leader_that_stands_still_and_whose_heart_beats_loses_the_lease,
    a_broker_that_confirms_slower_than_the_lease_changes_no_leader,
}

/// Fails unless each of `0..count` was published and the first deliveries of each key are in order; gives the duplicates.
fn duplicates(lines: &[Line], count: usize) -> usize {
    let mut seen = HashSet::new();
    let mut last: HashMap<&str, i64> = HashMap::new();
    for line in lines {
        if seen.insert(line.seq) {
            let before = last.insert(&line.key, line.seq);
            assert!(before < Some(line.seq), "{line:?} was first delivered after {before:?}");
        }
    }
    assert_eq!(seen.len(), count, "lost or invented");
    lines.len() - count
}

fn distinct(path: &Path) -> usize {
    FileBroker::lines(path).iter().map(|line| line.seq).collect::<HashSet<_>>().len()
}

async fn relay_to<S: TestStore>(world: &World<S>, broker: Arc<dyn Broker>) -> Runner {
    world.relay(broker).await
}

async fn relays_scaled_from_one_to_five_and_back_under_load_repeat_and_lose_nothing<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("published");
    let relay = async || {
        let broker = FileBroker::new(&path).pausing(Duration::from_millis(2));
        relay_to(&world, Arc::new(broker)).await
    };
    let mut enqueued = 0;
    let mut load = async || {
        world.enqueue_each((enqueued..enqueued + 40).map(|n| noted(&format!("key-{}", n % 5), n))).await;
        enqueued += 40;
    };
    let mut relays = vec![relay().await];
    for _ in 1..5 {
        load().await;
        relays.push(relay().await);
    }
    // The one that leads goes first, each time.
    for relay in relays.drain(..4) {
        load().await;
        relay.stop().await.unwrap();
    }
    load().await;

    eventually("all is published", async || distinct(&path) == 360).await;
    relays.remove(0).stop().await.unwrap();
    // Each drained what was in flight before it gave the lease back.
    assert_eq!(duplicates(&FileBroker::lines(&path), 360), 0);
}

async fn a_hand_over_on_shutdown_is_a_matter_of_milliseconds<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    // With the default lease a standby would look only every two and a half seconds.
    let start = async || {
        let broker = Arc::new(MemoryBroker::default());
        let relay =
            world.outbox.runner().relay(RelayConfig::default(), broker.clone()).start().await.unwrap();
        (relay, broker)
    };
    let mut leading = start().await;
    let mut took = Vec::new();
    for n in 0..5 {
        world.enqueue_each([noted("a", 2 * n)]).await;
        eventually("the leader works", async || !leading.1.confirmed().is_empty()).await;
        let standby = start().await;

        let begun = Instant::now();
        leading.0.stop().await.unwrap();
        world.enqueue_each([noted("a", 2 * n + 1)]).await;
        eventually("the other leads", async || !standby.1.confirmed().is_empty()).await;
        took.push(begun.elapsed());
        leading = standby;
    }
    leading.0.stop().await.unwrap();

    took.sort();
    println!("a hand-over took {:?}", took[2]);
    // Below 200 ms on a quiet machine; this one is not.
    assert!(took[2] < Duration::from_secs(1), "{took:?}");
}

async fn a_clock_that_jumps_ahead_makes_two_believe_and_repeats_no_more_than_was_in_flight<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("published");
    let slow = || Arc::new(FileBroker::new(&path).pausing(Duration::from_millis(20)));
    let relays = [relay_to(&world, slow()).await, relay_to(&world, slow()).await];
    world.enqueue_all(&(0..200).map(|n| noted(&format!("key-{}", n % 4), n)).collect::<Vec<_>>()).await;

    for already in [10, 60, 110] {
        eventually("it goes on", async || distinct(&path) >= already).await;
        // For a lease the same as an hour later.
        world.outbox.store().move_leases(-3_600).await;
    }

    eventually("all is published", async || distinct(&path) == 200).await;
    for relay in relays {
        relay.stop().await.unwrap();
    }
    let repeated = duplicates(&FileBroker::lines(&path), 200);
    // The successor reads again what its predecessor had not settled: a page of 200 at most, at each jump.
    assert!(repeated <= 3 * 200, "{repeated} duplicates");
}

async fn a_clock_that_is_set_back_delays_no_successor<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("published");
    let act = || actor(ACTOR, &["relay", "--db", &world.url, "--file", path.to_str().unwrap()]);
    let mut first = act();
    world.enqueue_each([noted("a", 0)]).await;
    eventually("the first leads", async || distinct(&path) == 1).await;
    first.kill();
    // Its lease runs out an hour from now, for a clock that was set back by an hour.
    world.outbox.store().move_leases(3_600).await;

    let _second = act();
    world.enqueue_each([noted("a", 1)]).await;

    eventually("the second leads", async || distinct(&path) == 2).await;
}

/// Blocks the thread of whoever publishes until it is let go.
#[derive(Debug, Default)]
struct WedgedBroker {
    is_entered: AtomicBool,
    is_let_go: AtomicBool,
    published: AtomicBool,
}

impl Broker for WedgedBroker {
    fn capabilities(&self) -> Capabilities {
        Capabilities::least("wedged")
    }

    fn publish<'a>(
        &'a self,
        batch: &'a [Outgoing<'a>],
    ) -> BoxFuture<'a, Result<Vec<Published>, BrokerError>> {
        Box::pin(async {
            if self.is_entered.swap(true, Ordering::SeqCst) {
                self.published.store(true, Ordering::SeqCst);
            }
            // The other tasks of this process go on, the keeper of the lease among them.
            tokio::task::block_in_place(|| {
                while !self.is_let_go.load(Ordering::SeqCst) {
                    std::thread::sleep(Duration::from_millis(5));
                }
            });
            Ok(batch.iter().map(|_| Published::Confirmed { duplicate: false }).collect())
        })
    }
}

async fn a_leader_that_stands_still_and_whose_heart_beats_loses_the_lease<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let (wedged, well) = (Arc::new(WedgedBroker::default()), Arc::new(MemoryBroker::default()));
    let relay = |broker: Arc<dyn Broker>| {
        let config = RelayConfig { publish_timeout: Duration::from_millis(100), ..quick_relay() };
        let runner = world.outbox.runner().relay(config, broker).settings(quick);
        runner.settings(|settings| settings.stall = Duration::from_millis(500))
    };
    let first = relay(wedged.clone()).start().await.unwrap();
    world.enqueue_each([noted("a", 0)]).await;
    eventually("the first stands still", async || wedged.is_entered.load(Ordering::SeqCst)).await;
    let second = relay(well.clone()).start().await.unwrap();

    world.enqueue_each([noted("a", 1)]).await;

    eventually("the second works", async || well.confirmed().len() == 2).await;
    wedged.is_let_go.store(true, Ordering::SeqCst);
    world.enqueue_each([noted("a", 2)]).await;
    eventually("the second works on", async || well.confirmed().len() == 3).await;
    assert!(!wedged.published.load(Ordering::SeqCst), "the one that lost the lease went on publishing");
    first.stop().await.unwrap();
    second.stop().await.unwrap();
}

/// R05, in short: each confirmation takes three leases.
async fn a_broker_that_confirms_slower_than_the_lease_changes_no_leader<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("published");
    let relay = || {
        let more = ["--file", path.to_str().unwrap(), "--takeover-ms", "1000", "--pause-ms", "3000"];
        actor(ACTOR, &[&["relay", "--db", &world.url], &more[..]].concat())
    };
    let _relays = [relay(), relay()];

    world.enqueue_all(&(0..5_000).map(|n| noted(&format!("key-{n}"), n)).collect::<Vec<_>>()).await;

    eventually("all is published", async || distinct(&path) == 5_000).await;
    let lines = FileBroker::lines(&path);
    let changes = lines.windows(2).filter(|pair| pair[0].process != pair[1].process).count();
    let repeated = duplicates(&lines, 5_000);
    assert!(changes <= 1 && repeated <= 1_000 * changes, "{changes} changes, {repeated} duplicates");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_answers_slowly_costs_time_and_nothing_else() {
    let Some(postgres) = Postgres::shared().await else { return };
    let direct = World::<outbox::postgres::PostgresStore>::at(&postgres.fresh_database().await).await;
    let proxy = Proxy::to(postgres.port()).await;
    let url = direct.url.replace(&postgres.port().to_string(), &proxy.address().port().to_string());
    let far = World::<outbox::postgres::PostgresStore>::at(&url).await;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("published");
    let relays = [
        relay_to(&far, Arc::new(FileBroker::new(&path))).await,
        relay_to(&far, Arc::new(FileBroker::new(&path))).await,
    ];
    proxy.delay(Duration::from_millis(100));

    direct.enqueue_all(&(0..500).map(|n| noted(&format!("key-{}", n % 50), n)).collect::<Vec<_>>()).await;

    eventually("all is published", async || distinct(&path) == 500).await;
    proxy.resume();
    for relay in relays {
        relay.stop().await.unwrap();
    }
    assert_eq!(duplicates(&FileBroker::lines(&path), 500), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_heartbeat_that_fails_while_the_work_goes_on_ends_the_work_in_time() {
    let Some(world) = World::<outbox::postgres::PostgresStore>::start().await else { return };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("published");
    let slow = || Arc::new(FileBroker::new(&path).pausing(Duration::from_millis(20)));
    let relays = [relay_to(&world, slow()).await, relay_to(&world, slow()).await];
    world.enqueue_all(&(0..600).map(|n| noted(&format!("key-{}", n % 4), n)).collect::<Vec<_>>()).await;
    eventually("a page is in work", async || distinct(&path) >= 10).await;

    // The rows of the heartbeats are locked, everything else is well.
    let mut lock = world.outbox.store().pool().begin().await.unwrap();
    sqlx::query("SELECT lease FROM outbox_heartbeat FOR UPDATE").execute(&mut *lock).await.unwrap();
    tokio::time::sleep(Duration::from_secs(3)).await;
    let (then, later) = (distinct(&path), Duration::from_millis(500));
    tokio::time::sleep(later).await;
    assert_eq!(distinct(&path), then, "it published after its lease had run out");
    lock.rollback().await.unwrap();

    eventually("all is published", async || distinct(&path) == 600).await;
    for relay in relays {
        relay.stop().await.unwrap();
    }
    let repeated = duplicates(&FileBroker::lines(&path), 600);
    assert!(repeated <= 600, "{repeated} duplicates");
}
