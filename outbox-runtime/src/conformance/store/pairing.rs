//! The two versions of one event that a cutover writes: each keeps its twin, and both are handled as one.

use super::{
    LONG,
    claiming::{claim, claim_as, commit, fresh, handle},
    envelopes, event, failure, lead, terms,
};
use crate::{
    dead_letter::{DeadLetterFilter, Request},
    envelope::{Envelope, NewEvent, Twin},
    held::{Change, Stage},
    lease::Fence,
    store::{Claim, Claimed, Store},
};
use std::time::Duration;

/// A consumer's leader and both halves of a pair, the newer one first.
struct Pair<S> {
    store: S,
    fence: Fence,
    halves: [Envelope; 2],
}

impl<S: Store> Pair<S> {
    async fn new(store: S) -> Self {
        let fence = lead(&store, &Stage::consumer("c")).await;
        let [mut newer, mut older] = [event(Some("k"), 1), event(Some("k"), 2)];
        newer.event_version = 2;
        newer.twin = Some(Twin { id: older.id, version: 1 });
        older.twin = Some(Twin { id: newer.id, version: 2 });
        let halves = envelopes(&store, &fence, &[newer, older]).await;
        Self { store, fence, halves: halves.try_into().expect("two events were written") }
    }

    async fn set_aside(&self, envelope: &Envelope) {
        let (envelope, failure) = (envelope.clone(), failure("handler-error"));
        let dead = Change::Dead { envelope, attempts: 1, failure, park: false };
        self.store.apply(&self.fence, &[dead]).await.expect("an event is set aside");
    }

    async fn ask(&self, filter: &DeadLetterFilter, request: Request) {
        self.store.request(filter, request, &terms()).await.expect("a request is recorded");
        self.store.act_on_requests(&self.fence, 10).await.expect("requests are acted on");
    }

    async fn assert_duplicate(&self, envelope: &Envelope, from_held: bool) {
        let again = Claim { envelope, from_held, window: LONG };
        let (tx, claimed) = claim_as(&self.store, &self.fence, &again).await;
        assert_eq!(claimed, Claimed::Duplicate);
        self.store.rollback(tx).await;
    }
}

pub(super) async fn the_half_that_comes_first_is_claimed_and_the_other_is_its_duplicate<S: Store>(store: S) {
    let mut pair = Pair::new(store).await;
    for (first, second) in [(0, 1), (1, 0)] {
        pair.fence = lead(&pair.store, &Stage::consumer(&format!("consumer-{first}"))).await;
        handle(&pair.store, &pair.fence, &pair.halves[first]).await;
        for half in [second, first] {
            pair.assert_duplicate(&pair.halves[half], false).await;
            pair.assert_duplicate(&pair.halves[half], true).await;
        }
    }
}

pub(super) async fn both_halves_at_once_are_one_claim<S: Store>(store: S) {
    let pair = Pair::new(store).await;
    let one = async |envelope: &Envelope| {
        let (tx, claimed) = claim(&pair.store, &pair.fence, envelope).await;
        if let Claimed::Fresh(token) = claimed {
            // The other half arrives while this one works.
            tokio::time::sleep(Duration::from_millis(20)).await;
            commit(&pair.store, tx, &pair.fence, &token).await;
            return 1;
        }
        assert_eq!(claimed, Claimed::Duplicate);
        pair.store.rollback(tx).await;
        0
    };
    let [newer, older] = &pair.halves;
    let (a, b, c, d) = tokio::join!(one(older), one(newer), one(older), one(newer));
    assert_eq!(a + b + c + d, 1);
}

pub(super) async fn a_rolled_back_half_leaves_the_other_to_be_claimed<S: Store>(store: S) {
    let pair = Pair::new(store).await;
    let (tx, claimed) = claim(&pair.store, &pair.fence, &pair.halves[0]).await;
    fresh(claimed);
    pair.store.rollback(tx).await;
    handle(&pair.store, &pair.fence, &pair.halves[1]).await;
}

pub(super) async fn an_event_that_names_itself_as_its_twin_is_claimed<S: Store>(store: S) {
    let pair = Pair::new(store).await;
    let [newer, _] = pair.halves;
    let event = NewEvent { twin: Some(Twin { id: newer.id, version: 1 }), ..newer.event.clone() };
    handle(&pair.store, &pair.fence, &Envelope { event, ..newer }).await;
}

pub(super) async fn a_half_keeps_its_twin_while_it_is_held_and_set_aside<S: Store>(store: S) {
    let pair = Pair::new(store).await;
    let [newer, older] = &pair.halves;
    let held = Change::Hold {
        envelope: newer.clone(),
        attempts: 1,
        retry_in: Duration::ZERO,
        failure: failure("handler-error"),
    };
    pair.store.apply(&pair.fence, &[held]).await.expect("an event is held");
    let due = pair.store.due_heads(&pair.fence, 10).await.expect("the due heads are read");
    assert_eq!(&due[0].envelope, newer);

    pair.set_aside(older).await;
    let dead = pair.store.dead_letters(&DeadLetterFilter::default(), 10).await.expect("they are read");
    assert_eq!(&dead[0].envelope, older);
}

pub(super) async fn who_discards_one_half_discards_both<S: Store>(store: S) {
    let pair = Pair::new(store).await;
    let [newer, older] = &pair.halves;
    pair.set_aside(newer).await;
    pair.ask(&DeadLetterFilter::default(), Request::Discard).await;
    pair.assert_duplicate(older, false).await;
    pair.assert_duplicate(older, true).await;
}

pub(super) async fn a_half_that_is_a_dead_letter_of_its_own_outlives_the_discard_of_the_other<S: Store>(
    store: S,
) {
    let pair = Pair::new(store).await;
    let [newer, older] = &pair.halves;
    pair.set_aside(newer).await;
    pair.set_aside(older).await;
    let dead = pair.store.dead_letters(&DeadLetterFilter::default(), 10).await.expect("they are read");
    pair.ask(&DeadLetterFilter { ids: vec![dead[0].id], ..DeadLetterFilter::default() }, Request::Discard)
        .await;
    pair.ask(&DeadLetterFilter::default(), Request::Replay).await;

    let replayed = Claim { envelope: older, from_held: true, window: LONG };
    let (tx, claimed) = claim_as(&pair.store, &pair.fence, &replayed).await;
    commit(&pair.store, tx, &pair.fence, &fresh(claimed)).await;
}
