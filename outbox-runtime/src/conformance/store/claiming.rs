//! What a handler's transaction claims: each event once for each consumer.

use super::{LONG, envelopes, event, failure, lead};
use crate::{
    envelope::{Envelope, NewEvent},
    held::{Change, Stage},
    lease::Fence,
    store::{Claim, Claimed, HandlerToken, Store},
};
use std::time::Duration;

pub(super) async fn claim<S: Store>(store: &S, fence: &Fence, envelope: &Envelope) -> (S::Tx, Claimed) {
    claim_as(store, fence, &Claim { envelope, from_held: false, window: LONG }).await
}

pub(super) async fn claim_as<S: Store>(store: &S, fence: &Fence, claim: &Claim<'_>) -> (S::Tx, Claimed) {
    let mut tx = store.begin_handler(LONG).await.expect("a handler's transaction begins");
    let claimed = store.claim(&mut tx, fence, claim).await.expect("an event is claimed");
    (tx, claimed)
}

pub(super) fn fresh(claimed: Claimed) -> HandlerToken {
    match claimed {
        Claimed::Fresh(token) => token,
        other => panic!("the event is new, yet: {other:?}"),
    }
}

pub(super) async fn handle<S: Store>(store: &S, fence: &Fence, envelope: &Envelope) {
    let (tx, claimed) = claim(store, fence, envelope).await;
    commit(store, tx, fence, &fresh(claimed)).await;
}

pub(super) async fn commit<S: Store>(store: &S, mut tx: S::Tx, fence: &Fence, token: &HandlerToken) {
    store.prove_handler(&mut tx, fence, token).await.expect("a handler's transaction is proven");
    store.commit_proven(tx).await.expect("a handler commits");
}

/// A consumer's leader and one event it read.
async fn delivered<S: Store>(store: &S) -> (Fence, Envelope) {
    let fence = lead(store, &Stage::consumer("c")).await;
    let envelope = envelopes(store, &fence, &[event(Some("k"), 1)]).await.remove(0);
    (fence, envelope)
}

pub(super) async fn an_event_is_claimed_once<S: Store>(store: S) {
    let (fence, envelope) = delivered(&store).await;
    handle(&store, &fence, &envelope).await;
    let (tx, claimed) = claim(&store, &fence, &envelope).await;
    assert_eq!(claimed, Claimed::Duplicate);
    store.rollback(tx).await;
}

pub(super) async fn an_event_set_aside_is_not_claimed_before_a_person_asks_for_it<S: Store>(store: S) {
    let (fence, envelope) = delivered(&store).await;
    let dead =
        Change::Dead { envelope: envelope.clone(), attempts: 1, failure: failure("refused"), park: false };
    store.apply(&fence, &[dead]).await.expect("an event is set aside");
    let (tx, claimed) = claim(&store, &fence, &envelope).await;
    assert_eq!(claimed, Claimed::Duplicate);
    store.rollback(tx).await;
    let replayed = Claim { envelope: &envelope, from_held: true, window: LONG };
    let (tx, claimed) = claim_as(&store, &fence, &replayed).await;
    fresh(claimed);
    store.rollback(tx).await;
}

pub(super) async fn a_rolled_back_claim_is_claimed_again<S: Store>(store: S) {
    let (fence, envelope) = delivered(&store).await;
    let (tx, claimed) = claim(&store, &fence, &envelope).await;
    fresh(claimed);
    store.rollback(tx).await;
    handle(&store, &fence, &envelope).await;
}

/// A store that begins none has nothing to show but the commit.
pub(super) async fn a_commit_that_begins_the_next_transaction_stands_without_it<S: Store>(store: S) {
    let fence = lead(&store, &Stage::consumer("c")).await;
    let envelopes = envelopes(&store, &fence, &[event(Some("k"), 1), event(Some("k"), 2)]).await;
    let (mut tx, claimed) = claim(&store, &fence, &envelopes[0]).await;
    let token = fresh(claimed);
    store.prove_handler(&mut tx, &fence, &token).await.expect("a handler's transaction is proven");

    let begun = store.commit_and_begin(tx, LONG).await.expect("a handler commits");

    if let Some(mut tx) = begun {
        let next = Claim { envelope: &envelopes[1], from_held: false, window: LONG };
        let claimed = store.claim(&mut tx, &fence, &next).await.expect("an event is claimed");
        assert_ne!(fresh(claimed), token, "the second event is in the first one's transaction");
        store.rollback(tx).await;
    }
    let (tx, claimed) = claim(&store, &fence, &envelopes[0]).await;
    assert_eq!(claimed, Claimed::Duplicate);
    store.rollback(tx).await;
    handle(&store, &fence, &envelopes[1]).await;
}

pub(super) async fn two_deliveries_at_once_are_one_claim<S: Store>(store: S) {
    let (fence, envelope) = delivered(&store).await;
    let one = async || {
        let (tx, claimed) = claim(&store, &fence, &envelope).await;
        match claimed {
            Claimed::Fresh(token) => {
                // The other one arrives while this one works.
                tokio::time::sleep(Duration::from_millis(20)).await;
                commit(&store, tx, &fence, &token).await;
                1
            }
            Claimed::Duplicate => {
                store.rollback(tx).await;
                0
            }
            other => panic!("neither fresh nor a duplicate: {other:?}"),
        }
    };
    let (a, b, c) = tokio::join!(one(), one(), one());
    assert_eq!(a + b + c, 1);
}

pub(super) async fn consumers_claim_apart<S: Store>(store: S) {
    let (fence, envelope) = delivered(&store).await;
    let other = lead(&store, &Stage::consumer("other")).await;
    handle(&store, &fence, &envelope).await;
    handle(&store, &other, &envelope).await;
}

pub(super) async fn an_event_of_another_source_is_another_event<S: Store>(store: S) {
    let (fence, envelope) = delivered(&store).await;
    let event = NewEvent { source: "/elsewhere".to_owned(), ..envelope.event.clone() };
    let namesake = Envelope { event, ..envelope.clone() };
    handle(&store, &fence, &envelope).await;
    handle(&store, &fence, &namesake).await;
}

pub(super) async fn an_event_older_than_the_window_is_not_claimed<S: Store>(store: S) {
    let (fence, envelope) = delivered(&store).await;
    let aged = Envelope { occurred_at: envelope.occurred_at - LONG, ..envelope };
    let from_broker = Claim { envelope: &aged, from_held: false, window: LONG / 2 };
    let (tx, claimed) = claim_as(&store, &fence, &from_broker).await;
    assert_eq!(claimed, Claimed::OlderThanWindow);
    store.rollback(tx).await;

    let from_held = Claim { from_held: true, ..from_broker };
    let (tx, claimed) = claim_as(&store, &fence, &from_held).await;
    commit(&store, tx, &fence, &fresh(claimed)).await;

    // What was handled is known to be, however old it is.
    let (tx, claimed) = claim_as(&store, &fence, &Claim { from_held: false, ..from_held }).await;
    assert_eq!(claimed, Claimed::Duplicate);
    store.rollback(tx).await;
}

pub(super) async fn an_event_of_a_key_that_waits_is_not_claimed<S: Store>(store: S) {
    let fence = lead(&store, &Stage::consumer("c")).await;
    let events = [event(Some("k"), 1), event(Some("k"), 2), event(Some("other"), 3)];
    let envelopes = envelopes(&store, &fence, &events).await;
    let held = Change::Hold {
        envelope: envelopes[0].clone(),
        attempts: 1,
        retry_in: LONG,
        failure: failure("handler-error"),
    };
    store.apply(&fence, &[held]).await.expect("an event is held");

    let (tx, claimed) = claim(&store, &fence, &envelopes[1]).await;
    assert_eq!(claimed, Claimed::LaneWaits);
    store.rollback(tx).await;
    handle(&store, &fence, &envelopes[2]).await;
    let from_held = Claim { envelope: &envelopes[0], from_held: true, window: LONG };
    let (tx, claimed) = claim_as(&store, &fence, &from_held).await;
    commit(&store, tx, &fence, &fresh(claimed)).await;
}
