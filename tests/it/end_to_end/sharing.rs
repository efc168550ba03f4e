//! Several processes of one consumer share its partitions, and take over from each other.

use super::{Scene, assert_once_and_in_order};
use outbox::Runner;
use outbox_tests::on_each_store;
use outbox_tests::servers::Process;
use outbox_tests::world::{Noted, Plan, TestStore, World, eventually, noted, planned};
use std::collections::HashSet;
use std::time::{Duration, Instant};

on_each_store! {
    two_processes_keep_the_order_of_a_failing_key_and_share_the_others,
    the_second_process_takes_all_over_within_the_lease_when_the_first_is_killed,
    a_stop_ends_what_is_in_flight_and_gives_the_leases_back,
}

/// Of the four partitions, all of these keys are on the first.
const FAILING: &str = "a";
const NEIGHBOUR: &str = "key-1";
/// One key of each partition.
const EACH: [&str; 4] = ["key-1", "key-0", "key-2", "key-3"];

/// Notes of every partition in turn, numbered from `from`.
fn notes(from: i64, count: i64) -> Vec<Noted> {
    (from..from + count).map(|n| noted(EACH[usize::try_from(n).unwrap() % EACH.len()], n)).collect()
}

/// Enqueues until both processes have written effects; returns how many events there are.
async fn until_shared<S: TestStore>(world: &World<S>, processes: [&Process; 2]) -> i64 {
    let mut enqueued = 0;
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let before = usize::try_from(enqueued).unwrap();
        world.enqueue_each(notes(enqueued, 8)).await;
        enqueued += 8;
        world.effects_of(before + 8).await;
        let workers: HashSet<u32> = world.outbox.store().workers_since(before).await.into_iter().collect();
        if processes.iter().all(|process| workers.contains(&process.id())) {
            return enqueued;
        }
        assert!(Instant::now() < deadline, "the partitions were never shared");
    }
}

async fn two_processes_keep_the_order_of_a_failing_key_and_share_the_others<S: TestStore>() {
    let Some(scene) = Scene::<S>::start().await else { return };
    share_beside_a_failing_key(scene).await;
}

pub(super) async fn share_beside_a_failing_key<S: TestStore>(scene: Scene<S>) {
    let world = &scene.world;
    let relay = scene.relay().await;
    let processes = [scene.act("consume", &[]), scene.act("consume", &[])];
    let first = until_shared(world, [&processes[0], &processes[1]]).await;

    let mut events = vec![planned(FAILING, first, Plan::FailFirst(3))];
    events.extend((first + 1..first + 6).map(|n| noted(FAILING, n)));
    events.extend((first + 6..first + 12).map(|n| noted(NEIGHBOUR, n)));
    events.extend(notes(first + 12, 40));
    world.enqueue_all(&events).await;

    let count = usize::try_from(first + 52).unwrap();
    let effects = world.effects_of(count).await;
    assert_once_and_in_order(&effects, count);
    let failed_at = effects.iter().position(|(_, n)| *n == first).unwrap();
    let neighbour_at = effects.iter().position(|(_, n)| *n == first + 6).unwrap();
    assert!(neighbour_at < failed_at, "its partition stood still for it: {:?}", &effects[count - 52..]);
    let workers = world.outbox.store().workers_since(count - 52).await;
    assert_eq!(workers.into_iter().collect::<HashSet<_>>().len(), 2, "one process did everything");
    relay.stop().await.unwrap();
}

async fn the_second_process_takes_all_over_within_the_lease_when_the_first_is_killed<S: TestStore>() {
    let Some(scene) = Scene::<S>::start().await else { return };
    take_over_from_a_killed_process(scene).await;
}

pub(super) async fn take_over_from_a_killed_process<S: TestStore>(scene: Scene<S>) {
    let world = &scene.world;
    let relay = scene.relay().await;
    let mut first = scene.act("consume", &[]);
    let second = scene.act("consume", &[]);
    let shared = until_shared(world, [&first, &second]).await;

    // Killed with work of its own in flight and left.
    world.enqueue_all(&notes(shared, 400)).await;
    let before = usize::try_from(shared).unwrap();
    eventually("it works on these", async || {
        world.outbox.store().workers_since(before).await.contains(&first.id())
    })
    .await;
    first.kill();
    let (killed, done) = (Instant::now(), world.outbox.store().effect_count().await);
    let count = before + 400;
    assert!(done < count, "nothing was left when it was killed");

    let effects = world.effects_of(count).await;
    // The world's take-over time is two seconds; the rest is room for a busy machine.
    assert!(killed.elapsed() < Duration::from_secs(45), "took {:?}", killed.elapsed());
    assert_once_and_in_order(&effects, count);
    let workers = world.outbox.store().workers_since(done).await;
    // A COMMIT of the first that was on its way when it was killed may still land, of each of the eight at work one.
    let of_first = workers.iter().filter(|process| **process != second.id()).count();
    assert!(of_first <= 8, "a dead process wrote {of_first} effects");
    relay.stop().await.unwrap();
}

async fn a_stop_ends_what_is_in_flight_and_gives_the_leases_back<S: TestStore>() {
    const TAKEOVER: Duration = Duration::from_secs(20);
    let Some(scene) = Scene::<S>::start().await else { return };
    let world = &scene.world;
    let relay = scene.relay().await;
    let consume = async || -> Runner {
        let slow = |settings: &mut outbox::Settings| settings.takeover = TAKEOVER;
        world.runner().consume_from(scene.broker()).settings(slow).start().await.unwrap()
    };
    let leader = consume().await;
    world.enqueue_each([noted("a", 0), planned("a", 1, Plan::TakeMillis(1_000)), noted("a", 2)]).await;
    world.effects_of(1).await;

    leader.stop().await.unwrap();
    let stopped = Instant::now();
    let at_stop = world.outbox.store().effects().await;
    // What has not begun by now does not begin: nobody works here any more.
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(world.outbox.store().effects().await, at_stop);
    let next = consume().await;
    let effects = world.effects_of(3).await;

    assert!(stopped.elapsed() < TAKEOVER / 2, "took {:?} of {TAKEOVER:?}", stopped.elapsed());
    assert_once_and_in_order(&effects, 3);
    next.stop().await.unwrap();
    relay.stop().await.unwrap();
}
