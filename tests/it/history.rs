//! The checker of histories itself: it finds each kind of fault where one is planted, and none in what is allowed.

use outbox_tests::history::{EventName, Fate, Fault, Happening, History, Kind, Reader, TxId};
use std::time::Duration;

const RELAY: &str = "relay/default";
const CONSUMER: &str = "consumer/billing";

/// A history told step by step, a second each.
struct Tale {
    history: History,
    seconds: u64,
}

impl Tale {
    fn new() -> Self {
        let readers = [Reader::relay(RELAY), Reader::consumer(CONSUMER)];
        Self { history: History::new(readers).delayed_at_most(Duration::from_secs(60)), seconds: 0 }
    }

    fn tell(&mut self, what: Happening) -> &mut Self {
        self.seconds += 1;
        self.history.record(Duration::from_secs(self.seconds), what);
        self
    }

    fn wait(&mut self, seconds: u64) -> &mut Self {
        self.seconds += seconds;
        self
    }

    fn enqueue(&mut self, tx: u64, event: &EventName) -> &mut Self {
        self.tell(Happening::Enqueue { tx: TxId(tx), event: event.clone(), bad: false })
    }

    fn enqueue_bad(&mut self, tx: u64, event: &EventName) -> &mut Self {
        self.tell(Happening::Enqueue { tx: TxId(tx), event: event.clone(), bad: true })
    }

    fn sends_commit(&mut self, tx: u64) -> &mut Self {
        self.tell(Happening::Commit(TxId(tx)))
    }

    fn commits(&mut self, tx: u64) -> &mut Self {
        self.sends_commit(tx).tell(Happening::Committed(TxId(tx)))
    }

    fn rolls_back(&mut self, tx: u64) -> &mut Self {
        self.tell(Happening::RolledBack(TxId(tx)))
    }

    /// A transaction of one event.
    fn committed(&mut self, tx: u64, event: &EventName) -> &mut Self {
        self.enqueue(tx, event).commits(tx)
    }

    fn published(&mut self, event: &EventName) -> &mut Self {
        self.tell(Fate::Published.of(RELAY, event))
    }

    fn delivered(&mut self, event: &EventName) -> &mut Self {
        self.tell(Fate::Delivered.of(CONSUMER, event))
    }

    fn handled(&mut self, event: &EventName) -> &mut Self {
        self.tell(Fate::Handled.of(CONSUMER, event))
    }

    /// The event goes all the way.
    fn gone_through(&mut self, event: &EventName) -> &mut Self {
        self.published(event).delivered(event).handled(event)
    }

    fn stands(&mut self, stage: &str, event: &EventName, fate: Fate) -> &mut Self {
        self.tell(fate.of(stage, event))
    }

    fn fault(&self) -> Fault {
        self.history.check().expect_err("the planted fault is found")
    }

    #[track_caller]
    fn is_a_fault(&self, kind: Kind) {
        let fault = self.fault();
        assert_eq!(fault.kind, kind, "{fault}");
    }

    #[track_caller]
    fn is_right(&self) {
        if let Err(fault) = self.history.check() {
            panic!("a fault was found where there is none: {fault}");
        }
    }
}

fn of_key(key: &str, n: i64) -> EventName {
    EventName::new("orders", Some(key), n)
}

fn two() -> (EventName, EventName) {
    (of_key("k", 1), of_key("k", 2))
}

#[test]
fn an_event_of_a_rolled_back_transaction_is_a_phantom() {
    let (a, _) = two();
    Tale::new().enqueue(1, &a).published(&a).rolls_back(1).is_a_fault(Kind::Phantom);
}

#[test]
fn an_event_that_nobody_enqueued_or_committed_is_a_phantom() {
    let (a, b) = two();
    Tale::new().gone_through(&a).is_a_fault(Kind::Phantom);
    // Its producer died before it sent a commit.
    Tale::new().enqueue(1, &b).gone_through(&b).is_a_fault(Kind::Phantom);
}

#[test]
fn an_event_published_before_its_commit_was_sent_is_a_phantom() {
    let (a, _) = two();
    Tale::new().enqueue(1, &a).published(&a).commits(1).delivered(&a).handled(&a).is_a_fault(Kind::Phantom);
}

#[test]
fn a_dead_letter_of_a_rolled_back_event_is_a_phantom() {
    let (a, _) = two();
    Tale::new().enqueue(1, &a).rolls_back(1).stands(RELAY, &a, Fate::Parked).is_a_fault(Kind::Phantom);
}

#[test]
fn a_committed_event_that_is_nowhere_is_lost() {
    let (a, b) = two();
    Tale::new().committed(1, &a).is_a_fault(Kind::Lost);
    let mut tale = Tale::new();
    tale.committed(1, &a).committed(2, &b).gone_through(&a).published(&b);
    tale.is_a_fault(Kind::Lost);
    let story = tale.fault().story;
    assert!(!story.contains("#1"), "the story tells of the lost event alone:\n{story}");
}

#[test]
fn a_transaction_in_doubt_that_got_out_by_half_has_lost_the_other_half() {
    let (a, b) = two();
    Tale::new().enqueue(1, &a).enqueue(1, &b).sends_commit(1).gone_through(&a).is_a_fault(Kind::Lost);
}

#[test]
fn two_effects_of_one_event_are_doubled() {
    let (a, _) = two();
    Tale::new().committed(1, &a).gone_through(&a).handled(&a).is_a_fault(Kind::Doubled);
}

#[test]
fn ordered_transactions_that_arrive_in_the_other_order_are_inverted() {
    let (a, b) = two();
    let mut tale = Tale::new();
    tale.committed(1, &a).committed(2, &b).published(&b).published(&a);
    tale.delivered(&a).handled(&a).delivered(&b).handled(&b).is_a_fault(Kind::Inverted);
    let story = tale.fault().story;
    assert_eq!(story.lines().count(), 8, "the story tells of the relay alone:\n{story}");
}

#[test]
fn effects_in_the_other_order_are_inverted_though_the_deliveries_were_not() {
    let (a, b) = two();
    let mut tale = Tale::new();
    tale.committed(1, &a).committed(2, &b).published(&a).published(&b).delivered(&a).delivered(&b);
    tale.handled(&b).handled(&a).is_a_fault(Kind::Inverted);
}

#[test]
fn events_of_one_transaction_in_the_other_order_are_inverted() {
    let (a, b) = two();
    let mut tale = Tale::new();
    tale.enqueue(1, &a).enqueue(1, &b).commits(1).gone_through(&b).gone_through(&a);
    tale.is_a_fault(Kind::Inverted);
}

#[test]
fn an_event_that_passes_one_which_waits_is_inverted() {
    let (a, b) = two();
    for fate in [Fate::Parked, Fate::Held] {
        let mut tale = Tale::new();
        tale.enqueue_bad(1, &a).commits(1).committed(2, &b).published(&a).published(&b).delivered(&a);
        tale.delivered(&b).handled(&b);
        tale.stands(CONSUMER, &a, fate);
        tale.is_a_fault(Kind::Inverted);
    }
}

#[test]
fn an_inversion_among_many_is_found_and_told_of_the_two_alone() {
    let mut tale = Tale::new();
    let events: Vec<_> = (0..200).map(|n| of_key("k", n)).collect();
    for (tx, event) in events.iter().enumerate() {
        tale.committed(tx as u64, event);
    }
    let mut arriving = events.clone();
    arriving.swap(150, 151);
    for event in &arriving {
        tale.gone_through(event);
    }
    tale.is_a_fault(Kind::Inverted);
    let fault = tale.fault();
    assert!(fault.problem.contains("#150") && fault.problem.contains("#151"), "{fault}");
}

#[test]
fn a_good_event_that_is_set_aside_is_not_isolated() {
    let (a, b) = (of_key("k", 1), of_key("other", 2));
    let mut tale = Tale::new();
    tale.enqueue_bad(1, &a).commits(1).committed(2, &b).gone_through(&b).published(&a);
    tale.stands(CONSUMER, &a, Fate::Parked).stands(RELAY, &b, Fate::Parked).is_a_fault(Kind::NotIsolated);
}

#[test]
fn a_good_event_that_takes_too_long_is_not_isolated() {
    let a = of_key("k", 1);
    Tale::new().committed(1, &a).wait(100).gone_through(&a).is_a_fault(Kind::NotIsolated);
}

#[test]
fn an_outage_and_a_bad_event_of_its_own_key_excuse_a_delay() {
    let (a, b) = two();
    let down = |stage: &str| Happening::Down(stage.to_owned());
    let up = |stage: &str| Happening::Up(stage.to_owned());
    let mut tale = Tale::new();
    tale.committed(1, &a).tell(down(RELAY)).tell(down(CONSUMER)).wait(100);
    tale.tell(up(RELAY)).tell(up(CONSUMER)).gone_through(&a).is_right();
    let mut tale = Tale::new();
    tale.enqueue_bad(1, &a).commits(1).committed(2, &b).published(&a).published(&b);
    tale.wait(100).delivered(&a).handled(&a).delivered(&b).handled(&b).is_right();
}

#[test]
fn transactions_that_ran_at_once_may_arrive_in_any_order() {
    let (a, b) = two();
    let mut tale = Tale::new();
    tale.enqueue(1, &a).enqueue(2, &b).commits(1).commits(2).gone_through(&b).gone_through(&a).is_right();
    // The second began before the first knew of its commit.
    let mut tale = Tale::new();
    tale.enqueue(1, &a).sends_commit(1).enqueue(2, &b).commits(2).tell(Happening::Committed(TxId(1)));
    tale.gone_through(&b).gone_through(&a).is_right();
}

#[test]
fn events_of_other_keys_and_of_none_may_arrive_in_any_order() {
    let events = [of_key("k", 1), of_key("other", 2)];
    let unordered = [1, 2].map(|n| EventName::new("orders", None, n));
    for [a, b] in [events, unordered] {
        let mut tale = Tale::new();
        tale.committed(1, &a).committed(2, &b).gone_through(&b).gone_through(&a).is_right();
    }
}

#[test]
fn an_event_may_be_published_and_delivered_again() {
    let (a, b) = two();
    let mut tale = Tale::new();
    tale.committed(1, &a).committed(2, &b).gone_through(&a).published(&b).published(&a);
    tale.delivered(&a).delivered(&b).handled(&b).delivered(&a).is_right();
}

#[test]
fn a_transaction_in_doubt_may_have_committed_or_not() {
    let (a, b) = two();
    let mut tale = Tale::new();
    tale.enqueue(1, &a).enqueue(1, &b).sends_commit(1).is_right();
    tale.gone_through(&a).gone_through(&b).is_right();
}

#[test]
fn a_rolled_back_event_that_is_nowhere_is_right() {
    let (a, _) = two();
    Tale::new().enqueue(1, &a).rolls_back(1).is_right();
}

#[test]
fn an_event_that_is_held_or_set_aside_is_not_lost_and_its_key_may_wait_for_it() {
    let (a, b) = two();
    let mut tale = Tale::new();
    tale.enqueue_bad(1, &a).commits(1).committed(2, &b).stands(RELAY, &a, Fate::Parked).stands(
        RELAY,
        &b,
        Fate::Held,
    );
    tale.stands(CONSUMER, &a, Fate::Parked).stands(CONSUMER, &b, Fate::Held).is_right();
}

#[test]
fn a_skipped_a_discarded_and_a_replayed_event_are_in_no_order() {
    let (a, b) = two();
    let base = || {
        let mut tale = Tale::new();
        tale.enqueue_bad(1, &a).commits(1).committed(2, &b).published(&a).published(&b);
        tale.delivered(&a).delivered(&b).handled(&b);
        tale
    };
    base().stands(CONSUMER, &a, Fate::Skipped).is_right();
    base().tell(Fate::Discarded.of(CONSUMER, &a)).is_right();
    base().tell(Fate::Replayed.of(CONSUMER, &a)).handled(&a).is_right();
}

#[test]
fn a_reader_of_other_topics_need_not_get_an_event() {
    let a = of_key("k", 1);
    let elsewhere = Reader { topics: vec!["other".to_owned()], ..Reader::relay(RELAY) };
    let mut tale = Tale { history: History::new([elsewhere]), seconds: 0 };
    tale.committed(1, &a).is_right();
}
