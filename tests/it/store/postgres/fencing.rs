//! A leader that wakes up late.

use super::{LONG, World, lead, prove_and_commit};
use outbox::{
    cursor::{LogCursor, Settled},
    held::{Change, Failure, Stage},
    lease::{Fence, Owner},
    postgres::{PostgresConfig, PostgresStore},
    store::{Claim, Claimed, Store, StoreError},
};
use sqlx::{Connection, PgConnection};
use std::time::{Duration, Instant};

/// Everything that a leader writes, as text.
const WRITTEN: &str = "SELECT concat(
    (SELECT string_agg(p::text, ';') FROM outbox_progress p), '|', (SELECT string_agg(h::text, ';') FROM outbox_hole h), '|',
    (SELECT string_agg(w::text, ';') FROM outbox_waiting w), '|', (SELECT string_agg(h::text, ';') FROM outbox_held h), '|',
    (SELECT string_agg(d::text, ';') FROM outbox_dead_letter d), '|', (SELECT string_agg(i::text, ';') FROM outbox_inbox i), '|',
    (SELECT string_agg(s::text, ';') FROM outbox_scheduled s), '|', (SELECT string_agg(l::text, ';') FROM outbox_log l))";

async fn written(world: &World) -> String {
    sqlx::query_scalar(WRITTEN).fetch_one(world.store.pool()).await.unwrap()
}

fn assert_lost<T: std::fmt::Debug>(outcome: Result<T, StoreError>) {
    assert!(
        matches!(outcome, Err(StoreError::LeaseLost { .. })),
        "a zombie's write went through: {outcome:?}"
    );
}

/// The leader's write starts before the take-over commits, so a guard that only reads would see the old epoch.
#[tokio::test]
async fn a_write_that_meets_a_take_over_writes_nothing() {
    let Some(world) = World::start().await else { return };
    world.publish("a").await;
    let mut log = world.open().await;
    let page = log.read(100).await.unwrap();
    let settled = Settled { through: page.through, late: Vec::new() };
    let envelope = page.events[0].envelope.clone();
    let failure = Failure { reason: "refused", error_chain: "refused".to_owned() };
    let held = Change::Hold {
        envelope: envelope.clone(),
        attempts: 1,
        retry_in: Duration::ZERO,
        failure: failure.clone(),
    };
    let dead = Change::Dead { envelope: envelope.clone(), attempts: 1, failure, park: true };
    let mut handler = world.store.begin_handler(LONG).await.unwrap();
    let claim = Claim { envelope: &envelope, from_held: false, window: LONG };
    let claimed = world.store.claim(&mut handler, &world.fence, &claim).await.unwrap();
    let Claimed::Fresh(token) = claimed else { panic!("the event is new, yet: {claimed:?}") };
    world.schedule("a", -1).await;
    let before = written(&world).await;

    let mut successor = PgConnection::connect(&world.url).await.unwrap();
    let mut watcher = PgConnection::connect(&world.url).await.unwrap();
    let mut take_over = successor.begin().await.unwrap();
    let changed = sqlx::query("UPDATE outbox_leader SET owner = gen_random_uuid(), epoch = epoch + 1")
        .execute(&mut *take_over)
        .await
        .unwrap();
    assert_eq!(changed.rows_affected(), 1);
    let mut other_log = world.open().await;
    other_log.read(100).await.unwrap();
    let (store, fence) = (&world.store, &world.fence);
    let changes = [held, dead];
    let writes = async {
        tokio::join!(
            log.settle(fence, &settled, &[]),
            other_log.settle(fence, &settled, &changes),
            store.apply(fence, &changes),
            prove_and_commit(store, handler, fence, &token),
            store.act_on_requests(fence, 10),
            store.move_due(fence, 10),
        )
    };
    let commit = async {
        super::until_waiting(&mut watcher, 6).await;
        take_over.commit().await.unwrap();
    };
    let (outcomes, ()) = tokio::join!(writes, commit);

    assert_lost(outcomes.0);
    assert_lost(outcomes.1);
    assert_lost(outcomes.2);
    assert_lost(outcomes.3);
    assert_lost(outcomes.4);
    assert_eq!(outcomes.5.unwrap(), 0);
    assert_eq!(written(&world).await, before);
}

#[tokio::test]
async fn a_leader_paused_inside_a_transaction_delays_its_successor_no_longer_than_the_limit() {
    let Some(world) = World::start().await else { return };
    let limit = Duration::from_secs(1);
    let config = PostgresConfig { lock_wait_max: limit / 4, ..PostgresConfig::default() };
    let store = PostgresStore::with_pool(world.store.pool().clone(), config).unwrap();
    let old = lead(&store, &Stage::relay("paused"), Duration::from_millis(1)).await;
    let mut paused = store.begin_handler(limit).await.unwrap();
    store.apply_in(&mut paused, &old, &[]).await.unwrap();

    let asked = Instant::now();
    let owner = Owner::new();
    let epoch = loop {
        match store.acquire(&old.lease(), owner, LONG).await {
            Ok(Some(epoch)) => break epoch,
            Ok(None) => {}
            Err(error) => assert!(error.is_transient(), "{error:?}"),
        }
    };

    assert!(epoch > old.epoch);
    assert!(asked.elapsed() >= limit / 2, "the paused transaction was to be in the way");
    assert!(asked.elapsed() < limit * 20, "the successor waited for {:?}", asked.elapsed());
    assert!(store.commit(paused).await.is_err());
}

#[tokio::test]
async fn a_cursor_that_remembers_another_past_is_refused_and_reads_again() {
    let Some(world) = World::start().await else { return };
    world.publish("a").await;
    let (mut one, mut other) = (world.open().await, world.open().await);
    let (page, same) = (one.read(100).await.unwrap(), other.read(100).await.unwrap());
    assert_eq!(page, same);
    one.settle(&world.fence, &super::all_of(&page), &[]).await.unwrap();

    let refused = other.settle(&world.fence, &super::all_of(&same), &[]).await;

    assert!(matches!(&refused, Err(StoreError::Database { transient: true, .. })), "{refused:?}");
    assert_eq!(other.read(100).await.unwrap().events, []);
}

#[tokio::test]
async fn what_a_lost_connection_read_is_read_again_before_it_is_settled() {
    let Some(world) = World::start().await else { return };
    let mut open = world.store.begin().await.unwrap();
    world.store.insert(&mut open, &[super::event("open")]).await.unwrap();
    world.publish("a").await;
    let mut log = world.open().await;
    let page = log.read(100).await.unwrap();
    let others = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                   WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'idle'";
    world.number(others).await;

    // The connection is gone, and the next one has not read the page, nor seen the gap in it.
    for reason in ["terminating connection", "read it again"] {
        let error = log.settle(&world.fence, &super::all_of(&page), &[]).await.unwrap_err();
        assert!(error.is_transient(), "{error:?}");
        let source = std::error::Error::source(&error).unwrap().to_string();
        assert!(source.contains(reason), "{source}");
    }
    assert_eq!(log.read(100).await.unwrap(), page);
    log.settle(&world.fence, &super::all_of(&page), &[]).await.unwrap();
    world.store.commit(open).await.unwrap();

    // The gap was seen again, too.
    assert_eq!(world.relay(&mut log).await, ["open"]);
}

#[tokio::test]
async fn a_member_of_another_epoch_has_no_log_to_open() {
    let Some(world) = World::start().await else { return };
    let stale = Fence { epoch: world.fence.epoch + 1, ..world.fence.clone() };
    let opened = world.store.open_log(&stale, Default::default(), Default::default()).await;
    assert_lost(opened);
}

#[tokio::test]
async fn a_leader_goes_on_only_when_its_own_writes_have_ended() {
    let Some(world) = World::start().await else { return };
    // The answer of its commit is lost, and the commit is still on its way.
    let mut under_way = world.store.begin().await.unwrap();
    world.store.apply_in(&mut under_way, &world.fence, &[]).await.unwrap();

    let waited = world.store.await_writes(&world.fence).await.unwrap_err();

    assert!(waited.is_transient(), "{waited}");
    world.store.commit(under_way).await.unwrap();
    world.store.await_writes(&world.fence).await.unwrap();
    assert_lost(world.store.await_writes(&Fence { owner: Owner::new(), ..world.fence.clone() }).await);
}
