//! Who may write.

use super::{LONG, event, events_of, failure, lead, lead_for, open, publish, read};
use crate::{
    cursor::{LogCursor, Settled},
    envelope::{Envelope, EventId},
    held::{Change, Stage},
    lease::{Fence, Owner},
    marker::Marker,
    store::{Claim, Claimed, HandlerToken, Store, StoreError},
};
use std::time::Duration;

/// Long enough to be seen as running, short enough to be waited for.
const SHORT: Duration = Duration::from_millis(50);

/// Waits until the lease of `before` has run out and another owner has it.
async fn take_over<S: Store>(store: &S, before: &Fence) -> Fence {
    let owner = Owner::new();
    loop {
        if let Some(epoch) =
            store.acquire(&before.lease(), owner, LONG).await.expect("a lease can be asked for")
        {
            return Fence { owner, epoch, ..before.clone() };
        }
    }
}

pub(super) async fn a_lease_has_one_owner_until_it_runs_out<S: Store>(store: S) {
    let stage = Stage::relay("r");
    let first = lead(&store, &stage).await;
    let second = Owner::new();
    let refused = store.acquire(&first.lease(), second, LONG).await.expect("a lease can be asked for");
    assert_eq!(refused, None);

    let renewed = store.renew(&[first.lease()], first.owner, SHORT).await.expect("a lease is renewed");
    assert_eq!(renewed, [first.lease()]);
    let next = take_over(&store, &first).await;

    assert!(next.epoch > first.epoch);
    let renewed = store.renew(&[first.lease()], first.owner, LONG).await.expect("a lease is asked about");
    assert_eq!(renewed, []);
}

pub(super) async fn a_released_lease_is_taken_at_once<S: Store>(store: S) {
    let first = lead(&store, &Stage::relay("r")).await;
    store.release(&first.lease(), first.owner).await.expect("a lease is released");
    let next = lead(&store, &Stage::relay("r")).await;
    assert!(next.epoch > first.epoch);
    store.release(&first.lease(), first.owner).await.expect("releasing what is not held does nothing");
    let refused = store.acquire(&first.lease(), first.owner, LONG).await.expect("a lease can be asked for");
    assert_eq!(refused, None);
}

pub(super) async fn a_lease_that_is_kept_keeps_its_epoch<S: Store>(store: S) {
    let fence = lead(&store, &Stage::relay("r")).await;
    let again = store.acquire(&fence.lease(), fence.owner, LONG).await.expect("a lease can be asked for");
    assert_eq!(again, Some(fence.epoch));
}

pub(super) async fn an_owner_that_lost_its_lease_writes_nothing<S: Store>(store: S) {
    let stage = Stage::consumer("c");
    let old = lead_for(&store, &stage, SHORT).await;
    let mut log = open(&store, &old).await;
    publish(&store, &[event(Some("k"), 1)]).await;
    let page = read::<S>(&mut log).await;
    let envelope = &page.events[0].envelope;
    let new = take_over(&store, &old).await;

    let settled = Settled { through: page.through, late: Vec::new() };
    let held = Change::Hold {
        envelope: envelope.clone(),
        attempts: 1,
        retry_in: Duration::ZERO,
        failure: failure("refused"),
    };
    assert_lost(log.settle(&old, &settled, &[]).await);
    assert_lost(store.apply(&old, std::slice::from_ref(&held)).await);
    assert_lost(log.settle(&old, &settled, &[held]).await);
    let mut tx = store.begin().await.expect("a transaction begins");
    assert_lost(store.apply_in(&mut tx, &old, &[]).await);
    store.rollback(tx).await;
    let (mut tx, token) = claim(&store, &old, envelope).await;
    assert_lost(store.prove_handler(&mut tx, &old, &token).await);
    store.rollback(tx).await;

    assert_eq!(events_of(&read::<S>(&mut open(&store, &new).await).await), events_of(&page));
    assert_eq!(store.waiting(&new).await.expect("marks are counted").lanes, 0);
    let (tx, _) = claim(&store, &new, envelope).await;
    store.rollback(tx).await;
}

/// Claims an event that was not handled yet.
async fn claim<S: Store>(store: &S, fence: &Fence, envelope: &Envelope) -> (S::Tx, HandlerToken) {
    let mut tx = store.begin_handler(LONG).await.expect("a handler's transaction begins");
    let claim = Claim { envelope, from_held: false, window: LONG };
    match store.claim(&mut tx, fence, &claim).await.expect("an event is claimed") {
        Claimed::Fresh(token) => (tx, token),
        other => panic!("the event is new, yet: {other:?}"),
    }
}

fn assert_lost<T: std::fmt::Debug>(outcome: Result<T, StoreError>) {
    assert!(
        matches!(outcome, Err(StoreError::LeaseLost { .. })),
        "a lost lease let a write through: {outcome:?}"
    );
}

pub(super) async fn what_a_leader_has_in_work_is_told_to_its_successor_and_fenced<S: Store>(store: S) {
    let old = lead_for(&store, &Stage::relay("r"), SHORT).await;
    let other = lead(&store, &Stage::relay("other")).await;
    assert_eq!(store.marker(&old).await.expect("a marker is read"), None);
    let alone = Marker { suspects: 3, taken: 1, alone: Some(EventId::now()) };
    store.mark(&old, &Marker::default()).await.expect("a leader marks");
    store.mark(&old, &alone).await.expect("a leader marks again");

    let new = take_over(&store, &old).await;

    assert_lost(store.mark(&old, &Marker::default()).await);
    assert_eq!(store.marker(&new).await.expect("a marker is read"), Some((old.epoch, alone)));
    assert_eq!(store.marker(&other).await.expect("a marker is read"), None);
}

pub(super) async fn members_are_counted_until_their_time_is_up<S: Store>(store: S) {
    let stage = Stage::consumer("c");
    let (one, other) = (Owner::new(), Owner::new());
    let join = async |owner, ttl| store.join(&stage, owner, ttl).await.expect("a stage is joined");
    assert_eq!(join(one, LONG).await, 1);
    assert_eq!(join(other, SHORT).await, 2);
    while join(one, LONG).await == 2 {}
    assert_eq!(join(other, LONG).await, 2);
    store.leave(&stage, other).await.expect("a stage is left");
    assert_eq!(join(one, LONG).await, 1);
}
