//! How a key waits, and how it goes on.

use super::{LONG, envelopes, event, failure, lead, open, publish, read, terms};
use crate::{
    cursor::{LogCursor, Settled},
    dead_letter::{DeadLetter, DeadLetterFilter, Request},
    envelope::Envelope,
    held::{Change, HeldEvent, HeldId, Stage},
    lease::Fence,
    store::{EventState, Store},
};
use std::time::Duration;

/// A stage with three events of key `k` and one of key `other`.
struct Held<S> {
    store: S,
    fence: Fence,
    of_key: [Envelope; 3],
    other: Envelope,
}

impl<S: Store> Held<S> {
    async fn new(store: S) -> Self {
        let fence = lead(&store, &Stage::consumer("c")).await;
        let events = [1, 2, 3, 4].map(|number| event(Some(if number == 4 { "other" } else { "k" }), number));
        let [one, two, three, other] =
            envelopes(&store, &fence, &events).await.try_into().expect("four events were written");
        Self { store, fence, of_key: [one, two, three], other }
    }

    async fn apply(&self, changes: &[Change]) {
        self.store.apply(&self.fence, changes).await.expect("changes are applied");
    }

    /// Holds the first event of `k`, due at once, and the other two behind it.
    async fn hold_key(&self) {
        let [one, two, three] = &self.of_key;
        self.apply(&[hold(one, 1, Duration::ZERO), behind(two), behind(three)]).await;
    }

    async fn due(&self) -> Vec<HeldEvent> {
        self.store.due_heads(&self.fence, 10).await.expect("the due heads are read")
    }

    async fn due_payloads(&self) -> Vec<String> {
        self.due().await.into_iter().map(|held| held.envelope.event.payload).collect()
    }

    async fn waits(&self) -> bool {
        let lane = crate::held::Lane::of(&self.of_key[0]).as_str().to_owned();
        let lanes = [lane.clone(), crate::held::Lane::of(&self.other).as_str().to_owned()];
        let waiting = self.store.waiting_lanes(&self.fence, &lanes).await.expect("marks are read");
        assert!(waiting.is_empty() || waiting == [lane], "the other key waits too: {waiting:?}");
        !waiting.is_empty()
    }

    async fn dead(&self) -> Vec<DeadLetter> {
        self.store.dead_letters(&DeadLetterFilter::default(), 10).await.expect("dead letters are read")
    }

    async fn ask(&self, request: Request) -> u64 {
        let recorded = self.store.request(&DeadLetterFilter::default(), request, &terms()).await;
        recorded.expect("a request is recorded")
    }

    async fn act(&self) -> u32 {
        self.store.act_on_requests(&self.fence, 10).await.expect("requests are acted on")
    }
}

fn hold(envelope: &Envelope, attempts: u32, retry_in: Duration) -> Change {
    Change::Hold { envelope: envelope.clone(), attempts, retry_in, failure: failure("handler-error") }
}

fn behind(envelope: &Envelope) -> Change {
    Change::Behind { envelope: envelope.clone() }
}

fn done(envelope: &Envelope) -> Change {
    Change::Done { held: HeldId::of(envelope) }
}

fn dead(envelope: &Envelope, attempts: u32, park: bool) -> Change {
    Change::Dead { envelope: envelope.clone(), attempts, failure: failure("handler-error"), park }
}

pub(super) async fn a_key_waits_until_its_head_is_due<S: Store>(store: S) {
    let held = Held::new(store).await;
    assert!(!held.waits().await);
    held.apply(&[hold(&held.of_key[0], 1, LONG)]).await;

    assert!(held.waits().await);
    assert_eq!(held.due().await, []);
    let waiting = held.store.waiting(&held.fence).await.expect("marks are counted");
    assert_eq!(waiting.lanes, 1);
    assert!(waiting.due_in.is_some_and(|due_in| due_in > LONG / 2 && due_in <= LONG));
    let state = held.store.state(held.of_key[0].id).await.expect("the state is read");
    assert_eq!(state, EventState::Held(vec![held.fence.stage.clone()]));
}

pub(super) async fn only_the_head_of_a_key_is_due<S: Store>(store: S) {
    let held = Held::new(store).await;
    held.hold_key().await;

    let due = held.due().await;

    assert_eq!(
        due,
        [HeldEvent { envelope: held.of_key[0].clone(), attempts: 1, replayed: false, tried_alone: false }]
    );
    let waiting = held.store.waiting(&held.fence).await.expect("marks are counted");
    assert_eq!(waiting.due_in, Some(Duration::ZERO));
}

pub(super) async fn a_key_goes_on_when_its_head_is_done<S: Store>(store: S) {
    let held = Held::new(store).await;
    held.hold_key().await;
    for envelope in &held.of_key {
        assert_eq!(held.due_payloads().await, std::slice::from_ref(&envelope.payload));
        held.apply(&[done(envelope)]).await;
    }
    assert!(!held.waits().await);
    // An event that comes behind a head which was done in the meantime sets the mark again.
    held.apply(&[behind(&held.of_key[0])]).await;
    assert_eq!(held.due_payloads().await, [held.of_key[0].payload.clone()]);
}

pub(super) async fn a_retry_keeps_the_head_and_its_attempts<S: Store>(store: S) {
    let held = Held::new(store).await;
    held.hold_key().await;
    let retry = |retry_in| Change::Retry {
        held: HeldId::of(&held.of_key[0]),
        attempts: 2,
        retry_in,
        failure: failure("handler-timeout"),
    };
    held.apply(&[retry(LONG)]).await;
    assert_eq!(held.due().await, []);
    held.apply(&[retry(Duration::ZERO)]).await;
    assert_eq!(
        held.due().await,
        [HeldEvent { envelope: held.of_key[0].clone(), attempts: 2, replayed: false, tried_alone: false }]
    );
}

pub(super) async fn an_event_held_twice_is_held_once<S: Store>(store: S) {
    let held = Held::new(store).await;
    held.hold_key().await;
    held.apply(&[behind(&held.of_key[0]), behind(&held.of_key[1]), behind(&held.of_key[1])]).await;
    assert_eq!(held.due().await[0].attempts, 1);
    held.apply(&held.of_key.each_ref().map(done)).await;
    assert!(!held.waits().await);
}

pub(super) async fn a_skipped_event_lets_its_key_go_on<S: Store>(store: S) {
    let held = Held::new(store).await;
    held.hold_key().await;
    held.apply(&[dead(&held.of_key[0], 8, false)]).await;

    assert_eq!(held.due_payloads().await, [held.of_key[1].payload.clone()]);
    let letters = held.dead().await;
    assert_eq!(letters.len(), 1);
    assert_eq!(letters[0].envelope, held.of_key[0]);
    assert_eq!((letters[0].attempts, letters[0].reason.as_str()), (8, "handler-error"));
    assert_eq!(letters[0].error_chain, "handler-error\nbecause it was tested");
    assert!(letters[0].first_failed_at <= letters[0].last_failed_at);
    assert!(!letters[0].parks_key && !letters[0].replaying);
    let state = held.store.state(held.of_key[0].id).await.expect("the state is read");
    assert_eq!(state, EventState::Dead(vec![held.fence.stage.clone()]));

    // One that was never held.
    held.apply(&[dead(&held.other, 1, false)]).await;
    assert_eq!(held.dead().await.len(), 2);
}

pub(super) async fn a_parked_key_waits_for_a_request<S: Store>(store: S) {
    let held = Held::new(store).await;
    // Nothing is behind it, and yet the key waits.
    held.apply(&[dead(&held.of_key[0], 3, true)]).await;
    assert!(held.waits().await);
    held.apply(&[behind(&held.of_key[1])]).await;
    assert_eq!(held.due().await, []);
    assert_eq!(held.store.waiting(&held.fence).await.expect("marks are counted").due_in, None);
    assert!(held.dead().await[0].parks_key);
}

pub(super) async fn a_replayed_event_goes_before_those_behind_it<S: Store>(store: S) {
    let held = Held::new(store).await;
    held.hold_key().await;
    held.apply(&[dead(&held.of_key[0], 3, true)]).await;
    assert_eq!(held.ask(Request::Replay).await, 1);
    assert!(held.dead().await[0].replaying);
    assert_eq!(held.act().await, 1);

    let head =
        HeldEvent { envelope: held.of_key[0].clone(), attempts: 0, replayed: true, tried_alone: false };
    assert_eq!(held.due().await, [head]);
    assert!(held.dead().await[0].replaying);
    held.apply(&[done(&held.of_key[0])]).await;

    assert_eq!(held.dead().await, []);
    assert_eq!(held.due_payloads().await, [held.of_key[1].payload.clone()]);
    held.apply(&[done(&held.of_key[1]), done(&held.of_key[2])]).await;
    assert!(!held.waits().await);
}

pub(super) async fn a_replay_that_fails_keeps_the_history<S: Store>(store: S) {
    let held = Held::new(store).await;
    held.apply(&[hold(&held.of_key[0], 1, Duration::ZERO)]).await;
    held.apply(&[dead(&held.of_key[0], 3, true)]).await;
    let first = held.dead().await.remove(0);
    held.ask(Request::Replay).await;
    held.act().await;
    held.apply(&[dead(&held.of_key[0], 3, true)]).await;

    let letters = held.dead().await;
    assert_eq!(letters.len(), 1);
    assert_eq!((letters[0].id, letters[0].attempts), (first.id, 6));
    assert_eq!(letters[0].first_failed_at, first.first_failed_at);
    assert!(!letters[0].replaying);
    assert!(held.waits().await);
    assert_eq!(held.due().await, []);
    assert_eq!(held.ask(Request::Replay).await, 1, "it can be replayed again");
}

pub(super) async fn a_discarded_event_lets_its_key_go_on<S: Store>(store: S) {
    let held = Held::new(store).await;
    held.hold_key().await;
    held.apply(&[dead(&held.of_key[0], 3, true)]).await;
    assert_eq!(held.ask(Request::Discard).await, 1);
    assert_eq!(held.act().await, 1);

    assert_eq!(held.dead().await, []);
    assert_eq!(held.due_payloads().await, [held.of_key[1].payload.clone()]);

    held.apply(&[dead(&held.other, 1, true)]).await;
    held.ask(Request::Discard).await;
    held.act().await;
    let lane = crate::held::Lane::of(&held.other).as_str().to_owned();
    let waiting = held.store.waiting_lanes(&held.fence, &[lane]).await.expect("marks are read");
    assert_eq!(waiting, [] as [String; 0]);
}

pub(super) async fn a_parked_key_stays_parked_when_another_event_of_it_is_replayed<S: Store>(store: S) {
    let held = Held::new(store).await;
    held.hold_key().await;
    // The first was skipped once, and the second parks the key.
    held.apply(&[dead(&held.of_key[0], 3, false), dead(&held.of_key[1], 3, true)]).await;
    let skipped = DeadLetterFilter { ids: vec![held.dead().await[0].id], ..DeadLetterFilter::default() };
    held.store.request(&skipped, Request::Replay, &terms()).await.expect("a request is recorded");
    held.act().await;
    assert_eq!(held.due_payloads().await, [held.of_key[0].payload.clone()]);
    held.apply(&[done(&held.of_key[0])]).await;

    assert_eq!(held.due().await, [], "the third waits for the second");
    held.ask(Request::Replay).await;
    held.act().await;
    held.apply(&[done(&held.of_key[1])]).await;
    assert_eq!(held.due_payloads().await, [held.of_key[2].payload.clone()]);
}

pub(super) async fn a_discard_and_a_replay_in_one_key_are_acted_on_together<S: Store>(store: S) {
    let held = Held::new(store).await;
    held.apply(&[dead(&held.of_key[0], 3, false), dead(&held.of_key[1], 3, false)]).await;
    for (letter, request) in held.dead().await.into_iter().zip([Request::Discard, Request::Replay]) {
        let one = DeadLetterFilter { ids: vec![letter.id], ..DeadLetterFilter::default() };
        assert_eq!(held.store.request(&one, request, &terms()).await.expect("a request is recorded"), 1);
    }
    assert_eq!(held.act().await, 2);

    assert_eq!(held.due_payloads().await, [held.of_key[1].payload.clone()]);
    held.apply(&[done(&held.of_key[1])]).await;
    assert!(!held.waits().await);
}

pub(super) async fn a_replay_in_a_parked_key_lets_no_event_before_it_go_on<S: Store>(store: S) {
    let held = Held::new(store).await;
    held.hold_key().await;
    // The third was skipped before the first, which came late, parked the key; the second waits for the first.
    held.apply(&[dead(&held.of_key[2], 3, false), dead(&held.of_key[0], 3, true)]).await;
    let skipped = DeadLetterFilter { ids: vec![held.dead().await[0].id], ..DeadLetterFilter::default() };
    held.store.request(&skipped, Request::Replay, &terms()).await.expect("a request is recorded");
    held.act().await;

    assert_eq!(held.due_payloads().await, [held.of_key[2].payload.clone()]);
    held.apply(&[done(&held.of_key[2])]).await;
    assert_eq!(held.due().await, [], "the second waits for the first");
}

pub(super) async fn an_event_set_aside_that_comes_again_waits_for_a_request<S: Store>(store: S) {
    let held = Held::new(store).await;
    held.apply(&[dead(&held.of_key[0], 3, true), dead(&held.other, 3, false)]).await;
    held.apply(&[behind(&held.of_key[0]), hold(&held.other, 1, Duration::ZERO)]).await;
    assert_eq!(held.due().await, []);
    assert_eq!(held.ask(Request::Discard).await, 2);
    held.act().await;

    assert_eq!(held.due().await, [], "what a person discarded is not tried again");
    assert_eq!(held.store.waiting(&held.fence).await.expect("marks are counted").lanes, 0);
}

pub(super) async fn a_discard_ends_a_replay<S: Store>(store: S) {
    let held = Held::new(store).await;
    held.apply(&[dead(&held.of_key[0], 3, true), behind(&held.of_key[1])]).await;
    held.ask(Request::Replay).await;
    held.act().await;
    assert_eq!(held.ask(Request::Discard).await, 1);
    held.act().await;

    assert_eq!(held.due_payloads().await, [held.of_key[1].payload.clone()]);
    assert_eq!(held.dead().await, []);
}

pub(super) async fn a_request_is_recorded_once<S: Store>(store: S) {
    let held = Held::new(store).await;
    held.apply(&[dead(&held.of_key[0], 3, true), dead(&held.other, 1, false)]).await;
    assert_eq!(held.ask(Request::Replay).await, 2);
    assert_eq!(held.ask(Request::Replay).await, 0);
    let elsewhere = lead(&held.store, &Stage::consumer("elsewhere")).await;
    let acted = held.store.act_on_requests(&elsewhere, 10).await.expect("requests are acted on");
    assert_eq!(acted, 0, "only the stage's leader acts");
    assert_eq!(held.act().await, 2);
    assert_eq!(held.act().await, 0);
    assert_eq!(held.ask(Request::Replay).await, 0, "a replay is under way");
}

pub(super) async fn changes_and_progress_are_written_together<S: Store>(store: S) {
    let fence = lead(&store, &Stage::relay("r")).await;
    publish(&store, &[event(Some("k"), 1), event(Some("k"), 2)]).await;
    let mut log = open(&store, &fence).await;
    let page = read::<S>(&mut log).await;
    let [first, second] = [0, 1].map(|at| page.events[at].envelope.clone());
    let changes = [hold(&first, 1, Duration::ZERO), behind(&second)];
    let settled = Settled { through: page.through, late: Vec::new() };
    log.settle(&fence, &settled, &changes).await.expect("the page is settled");

    assert_eq!(read::<S>(&mut open(&store, &fence).await).await.events, []);
    let due = store.due_heads(&fence, 10).await.expect("the due heads are read");
    assert_eq!(due.len(), 1);
    assert_eq!(due[0].envelope, first);
}

pub(super) async fn status_counts_each_stage<S: Store>(store: S) {
    let held = Held::new(store).await;
    held.hold_key().await;
    held.apply(&[dead(&held.other, 1, true)]).await;
    publish(&held.store, &[event(None, 9)]).await;

    let status = held.store.status().await.expect("the status is read");

    assert_eq!(status.len(), 1);
    let stage = &status[0];
    assert_eq!(stage.stage, held.fence.stage);
    assert_eq!((stage.lag, stage.held, stage.dead_letters), (Some(1), 3, 1));
    assert_eq!((stage.waiting_keys, stage.parked_keys, stage.led), (2, 1, true));
}
