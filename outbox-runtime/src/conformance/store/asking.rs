//! What people ask of dead letters: which ones, on what terms, and what is kept of it.

use super::{envelopes, event, failure, lead, terms};
use crate::{
    dead_letter::{AuditAction, AuditEntry, AuditFilter, DeadLetter, DeadLetterFilter, Request, Terms},
    held::{Change, Stage},
    lease::{Fence, Owner},
    store::{Retention, Store},
};
use std::{
    num::NonZeroU32,
    time::{Duration, Instant},
};

/// A consumer and a relay that have given three events up: the first and the third of key `k`, the second of none.
struct GivenUp<S> {
    store: S,
    consumer: Fence,
    relay: Fence,
    letters: Vec<DeadLetter>,
}

impl<S: Store> GivenUp<S> {
    async fn new(store: S) -> Self {
        let consumer = lead(&store, &Stage::consumer("c")).await;
        let relay = lead(&store, &Stage::relay("r")).await;
        let [first, mut second, mut third] = [event(Some("k"), 1), event(None, 2), event(Some("k"), 3)];
        second.event_type = "orders.paid".to_owned();
        third.event_version = 2;
        let events = envelopes(&store, &consumer, &[first, second, third]).await;
        let by = [(&consumer, "handler-error"), (&relay, "refused"), (&consumer, "undecodable")];
        for (envelope, (fence, reason)) in events.into_iter().zip(by) {
            let park = envelope.key.is_some();
            let dead = Change::Dead { envelope, attempts: 1, failure: failure(reason), park };
            store.apply(fence, &[dead]).await.expect("an event is set aside");
        }
        let letters =
            store.dead_letters(&DeadLetterFilter::default(), 9).await.expect("dead letters are read");
        Self { store, consumer, relay, letters }
    }

    async fn ask(&self, filter: &DeadLetterFilter, request: Request) -> u64 {
        self.store.request(filter, request, &terms()).await.expect("a request is recorded")
    }

    /// Lets both leaders act once.
    async fn act(&self) -> u32 {
        let mut acted = 0;
        for fence in [&self.consumer, &self.relay] {
            acted += self.store.act_on_requests(fence, 9).await.expect("requests are acted on");
        }
        acted
    }

    async fn audit(&self, filter: &AuditFilter) -> Vec<AuditEntry> {
        self.store.audit(filter, 9).await.expect("the audit log is read")
    }

    async fn find(&self, filter: &DeadLetterFilter, max: u32) -> Vec<i64> {
        let letters = self.store.dead_letters(filter, max).await.expect("dead letters are read");
        letters.into_iter().map(|letter| letter.id).collect()
    }
}

fn any() -> DeadLetterFilter {
    DeadLetterFilter::default()
}

fn ids(ids: &[i64]) -> DeadLetterFilter {
    DeadLetterFilter { ids: ids.to_vec(), ..any() }
}

pub(super) async fn each_condition_chooses_and_counts_the_same_dead_letters<S: Store>(store: S) {
    let given_up = GivenUp::new(store).await;
    let [first, second, third] = [0, 1, 2].map(|at| &given_up.letters[at]);
    let [one, two, three] = [first, second, third].map(|letter| letter.id);
    let text = |text: &str| Some(text.to_owned());
    let minute = Duration::from_secs(60);
    for (filter, expected) in [
        (any(), vec![one, two, three]),
        (ids(&[one, three, 77]), vec![one, three]),
        (DeadLetterFilter { event: Some(second.envelope.id), ..any() }, vec![two]),
        (DeadLetterFilter { stage: Some(Stage::consumer("c")), ..any() }, vec![one, three]),
        (DeadLetterFilter { stage: Some(Stage::relay("c")), ..any() }, vec![]),
        (DeadLetterFilter { event_type: text("orders.placed"), ..any() }, vec![one, three]),
        (DeadLetterFilter { event_version: Some(2), ..any() }, vec![three]),
        (DeadLetterFilter { key: text("k"), ..any() }, vec![one, three]),
        (DeadLetterFilter { reason: text("refused"), ..any() }, vec![two]),
        (DeadLetterFilter { since: Some(first.last_failed_at - minute), ..any() }, vec![one, two, three]),
        (DeadLetterFilter { until: Some(first.last_failed_at - minute), ..any() }, vec![]),
        (DeadLetterFilter { after: Some(one), ..any() }, vec![two, three]),
        (DeadLetterFilter { key: text("k"), event_version: Some(1), ..any() }, vec![one]),
    ] {
        assert_eq!(given_up.find(&filter, 9).await, expected, "{filter:?}");
        let counts = given_up.store.count_dead_letters(&filter).await.expect("dead letters are counted");
        let counted: u64 = counts.iter().map(|group| group.count).sum();
        assert_eq!(counted, expected.len() as u64, "{filter:?}");
        // What a request reaches is seen by asking for it a second time: nothing is left.
        assert_eq!(given_up.ask(&filter, Request::Discard).await, counted, "{filter:?}");
        assert_eq!(given_up.ask(&filter, Request::Discard).await, 0, "{filter:?}");
        given_up.store.cancel_requests(&any(), &terms()).await.expect("requests are taken back");
    }
}

pub(super) async fn dead_letters_are_paged<S: Store>(store: S) {
    let given_up = GivenUp::new(store).await;
    let all: Vec<i64> = given_up.letters.iter().map(|letter| letter.id).collect();

    assert_eq!(given_up.find(&any(), 2).await, all[..2]);
    assert_eq!(given_up.find(&DeadLetterFilter { after: Some(all[0]), ..any() }, 2).await, all[1..]);
}

pub(super) async fn counts_tell_what_a_request_would_reach<S: Store>(store: S) {
    let given_up = GivenUp::new(store).await;
    given_up.ask(&ids(&[given_up.letters[0].id]), Request::Replay).await;
    given_up.act().await;
    given_up.ask(&ids(&[given_up.letters[1].id]), Request::Replay).await;

    let counts = given_up.store.count_dead_letters(&any()).await.expect("dead letters are counted");

    let told: Vec<_> = counts
        .iter()
        .map(|group| {
            let names = (group.stage.as_str(), group.event_type.as_str(), group.event_version);
            (names, group.reason.as_str(), [group.count, group.requested, group.replaying, group.parking])
        })
        .collect();
    assert_eq!(
        told,
        [
            (("consumer/c", "orders.placed", 1), "handler-error", [1, 0, 1, 1]),
            (("consumer/c", "orders.placed", 2), "undecodable", [1, 0, 0, 1]),
            (("relay/r", "orders.paid", 1), "refused", [1, 1, 0, 0]),
        ]
    );
    for request in [Request::Replay, Request::Discard] {
        let open: u64 = counts.iter().map(|group| group.open_to(request)).sum();
        assert_eq!(given_up.ask(&any(), request).await, open);
        given_up.store.cancel_requests(&any(), &terms()).await.expect("requests are taken back");
        given_up.ask(&ids(&[given_up.letters[1].id]), Request::Replay).await;
    }
}

pub(super) async fn a_limited_rate_holds_over_all_leaders<S: Store>(store: S) {
    let given_up = GivenUp::new(store).await;
    let twice_a_second = terms().per_second(NonZeroU32::new(2).expect("two is not zero"));
    let asked_at = Instant::now();
    let asked = given_up.store.request(&any(), Request::Replay, &twice_a_second).await;
    assert_eq!(asked.expect("a request is recorded"), 3);

    let mut acted = given_up.act().await;
    assert!(acted >= 1, "the first is due at once");
    while acted < 3 {
        assert!(asked_at.elapsed() < Duration::from_secs(60), "only {acted} were acted on");
        tokio::time::sleep(Duration::from_millis(50)).await;
        acted += given_up.act().await;
        // The database rounds its times to a millisecond.
        let allowed = 1.0 + 2.0 * (asked_at.elapsed().as_secs_f64() + 0.01);
        assert!(f64::from(acted) <= allowed, "{acted} were acted on, and {allowed} allowed");
    }
    assert_eq!(given_up.find(&any(), 9).await.len(), 3, "they are dead letters until they are done");
}

pub(super) async fn what_is_asked_can_be_taken_back_until_it_is_acted_on<S: Store>(store: S) {
    let given_up = GivenUp::new(store).await;
    given_up.ask(&any(), Request::Discard).await;
    let of_relay = DeadLetterFilter { stage: Some(Stage::relay("r")), ..any() };
    let cancel = async |filter: &DeadLetterFilter| {
        given_up.store.cancel_requests(filter, &terms()).await.expect("requests are taken back")
    };

    assert_eq!(cancel(&of_relay).await, 1);
    assert_eq!(given_up.act().await, 2);
    assert_eq!(cancel(&any()).await, 0, "nothing is left to be taken back");

    assert_eq!(given_up.find(&any(), 9).await, [given_up.letters[1].id]);
    assert_eq!(given_up.ask(&any(), Request::Replay).await, 1, "it can be asked for again");
}

pub(super) async fn the_audit_log_tells_who_did_what_when_and_why<S: Store>(store: S) {
    let given_up = GivenUp::new(store).await;
    let [first, second, third] = [0, 1, 2].map(|at| &given_up.letters[at]);
    let ask = async |letter: &DeadLetter, request, terms: &Terms| {
        let asked = given_up.store.request(&ids(&[letter.id]), request, terms).await;
        assert_eq!(asked.expect("a request is recorded"), 1);
    };
    ask(first, Request::Discard, &Terms::new("ann", "a test order")).await;
    assert_eq!(given_up.audit(&AuditFilter::default()).await, [], "nothing was done yet");
    given_up.act().await;
    ask(second, Request::Replay, &Terms::new("bob", "mended")).await;
    given_up.act().await;
    ask(third, Request::Replay, &Terms::new("bob", "mended")).await;
    let cancelled = given_up.store.cancel_requests(&any(), &Terms::new("eve", "too early")).await;
    assert_eq!(cancelled.expect("requests are taken back"), 1);

    let entries = given_up.audit(&AuditFilter::default()).await;

    let expected = [
        (AuditAction::Discard, "ann", "a test order", first),
        (AuditAction::Replay, "bob", "mended", second),
        (AuditAction::Cancel, "eve", "too early", third),
    ];
    assert_eq!(entries.len(), expected.len());
    for (entry, (action, by, why, letter)) in entries.iter().zip(expected) {
        assert_eq!((entry.action, entry.asked_by.as_str(), entry.why.as_str()), (action, by, why));
        assert_eq!((entry.dead_letter, &entry.stage), (Some(letter.id), &letter.stage));
        let event = &letter.envelope;
        assert_eq!((entry.event, &entry.source, entry.seq), (event.id, &event.source, event.seq));
        assert_eq!((&entry.event_type, entry.event_version), (&event.event_type, event.event_version));
        assert_eq!((&entry.topic, &entry.key), (&event.topic, &event.key));
        assert_eq!((&entry.reason, entry.attempts), (&letter.reason, letter.attempts));
        assert!(entry.asked_at <= entry.done_at && letter.last_failed_at <= entry.done_at);
    }
    assert!(entries.is_sorted_by_key(|entry| entry.id));
    let of = async |filter| given_up.audit(&filter).await.len();
    assert_eq!(of(AuditFilter { stage: Some(Stage::consumer("c")), ..AuditFilter::default() }).await, 2);
    assert_eq!(of(AuditFilter { event: Some(second.envelope.id), ..AuditFilter::default() }).await, 1);
    assert_eq!(of(AuditFilter { since: Some(entries[2].done_at), ..AuditFilter::default() }).await, 1);
    assert_eq!(of(AuditFilter { after: Some(entries[0].id), ..AuditFilter::default() }).await, 2);
    let keeps_none = Retention { audit: Duration::ZERO, ..Retention::default() };
    given_up.store.sweep(Owner::new(), &keeps_none).await.expect("the tables are swept");
    assert_eq!(given_up.audit(&AuditFilter::default()).await, []);
}
