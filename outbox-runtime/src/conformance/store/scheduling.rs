//! What a scheduled event waits for, how it is taken back, and how it enters the log.

use super::{LONG, event, events_of, lead, open, read};
use crate::{
    envelope::{EventId, NewEvent, Twin},
    held::Stage,
    scheduled::{Cancellation, NewScheduled, ScheduledFilter},
    store::{EventState, Store},
};
use std::time::{Duration, Instant};
use time::OffsetDateTime;

/// An event of that key that is due so many seconds from now.
fn due_in(secs: i64, key: &str, number: u32) -> NewScheduled {
    let due = OffsetDateTime::now_utc() + time::Duration::seconds(secs);
    // As exact as every store keeps it.
    let due =
        due.replace_nanosecond(due.millisecond() as u32 * 1_000_000).expect("a millisecond of a second");
    NewScheduled { due, event: NewEvent { id: EventId::at(due), ..event(Some(key), number) } }
}

async fn schedule<S: Store>(store: &S, events: &[NewScheduled]) {
    let mut tx = store.begin().await.expect("a transaction begins");
    store.schedule(S::connection(&mut tx), events).await.expect("events are scheduled");
    store.commit(tx).await.expect("a transaction commits");
}

async fn cancel<S: Store>(store: &S, id: EventId) -> Cancellation {
    let mut tx = store.begin().await.expect("a transaction begins");
    let answer = store.cancel(S::connection(&mut tx), id).await.expect("an event is cancelled");
    store.commit(tx).await.expect("a transaction commits");
    answer
}

async fn scheduled<S: Store>(store: &S, filter: &ScheduledFilter) -> Vec<NewScheduled> {
    let found = store.scheduled(filter, 100).await.expect("scheduled events are read");
    found.into_iter().map(|one| NewScheduled { due: one.due, event: one.event }).collect()
}

/// What stands in the log.
async fn logged<S: Store>(store: &S) -> Vec<NewEvent> {
    let fence = lead(store, &Stage::relay("any")).await;
    let mut log = open(store, &fence).await;
    let events = events_of(&read::<S>(&mut log).await);
    store.release(&fence.lease(), fence.owner).await.expect("a lease is given back");
    events
}

pub(super) async fn a_scheduled_event_enters_the_log_when_it_is_due_and_unchanged<S: Store>(store: S) {
    let fence = lead(&store, &Stage::upkeep()).await;
    assert_eq!(store.due_in().await.expect("a look at what is due"), None);
    let (mut past, future) = (due_in(-10, "past", 1), due_in(600, "future", 2));
    past.event.headers.insert("tenant".to_owned(), "acme".to_owned());
    schedule(&store, std::slice::from_ref(&future)).await;
    let wait = store.due_in().await.expect("a look at what is due").expect("one is scheduled");
    assert!(wait > Duration::from_secs(500) && wait <= LONG, "{wait:?}");
    assert_eq!(store.move_due(&fence, 10).await.expect("a move"), 0);
    schedule(&store, &[past.clone()]).await;
    assert_eq!(store.state(past.event.id).await.expect("a state"), EventState::Scheduled);

    assert_eq!(store.due_in().await.expect("a look at what is due"), Some(Duration::ZERO));
    assert_eq!(store.move_due(&fence, 10).await.expect("a move"), 1);

    assert_eq!(logged(&store).await, [past.event.clone()]);
    assert_eq!(store.state(past.event.id).await.expect("a state"), EventState::Pending);
    assert_eq!(scheduled(&store, &ScheduledFilter::default()).await, [future]);
}

pub(super) async fn events_enter_the_log_in_the_order_in_which_they_are_due<S: Store>(store: S) {
    let fence = lead(&store, &Stage::upkeep()).await;
    // Scheduled in another order than due; 2 and 3 are due at the same time.
    let first = due_in(-30, "k", 1);
    let second = due_in(-20, "k", 2);
    let third = NewScheduled { due: second.due, ..due_in(-20, "k", 3) };
    let fourth = due_in(-10, "k", 4);
    schedule(&store, &[fourth.clone(), second.clone()]).await;
    schedule(&store, &[third.clone(), first.clone()]).await;

    // In steps that are smaller than what is due.
    assert_eq!(store.move_due(&fence, 3).await.expect("a move"), 3);
    assert_eq!(store.move_due(&fence, 3).await.expect("a move"), 1);
    assert_eq!(store.move_due(&fence, 3).await.expect("a move"), 0);

    assert_eq!(logged(&store).await, [first, second, third, fourth].map(|one| one.event));
}

pub(super) async fn an_event_that_was_scheduled_in_a_rolled_back_transaction_never_was<S: Store>(store: S) {
    let mut tx = store.begin().await.expect("a transaction begins");
    let event = due_in(600, "k", 1);
    store
        .schedule(S::connection(&mut tx), std::slice::from_ref(&event))
        .await
        .expect("an event is scheduled");
    store.rollback(tx).await;
    assert_eq!(scheduled(&store, &ScheduledFilter::default()).await, []);
    assert_eq!(store.state(event.event.id).await.expect("a state"), EventState::Unknown);
    assert_eq!(cancel(&store, event.event.id).await, Cancellation::Unknown);
}

pub(super) async fn an_event_is_taken_back_until_it_is_due<S: Store>(store: S) {
    let fence = lead(&store, &Stage::upkeep()).await;
    let (early, due) = (due_in(600, "k", 1), due_in(-1, "k", 2));
    schedule(&store, &[early.clone(), due.clone()]).await;
    let mut tx = store.begin().await.expect("a transaction begins");
    let answer = store.cancel(S::connection(&mut tx), early.event.id).await;
    assert_eq!(answer.expect("an event is cancelled"), Cancellation::Cancelled);
    store.rollback(tx).await;
    assert_eq!(store.state(early.event.id).await.expect("a state"), EventState::Scheduled);

    assert_eq!(cancel(&store, early.event.id).await, Cancellation::Cancelled);
    assert_eq!(cancel(&store, early.event.id).await, Cancellation::Unknown, "it was cancelled before");
    assert_eq!(cancel(&store, due.event.id).await, Cancellation::TooLate, "it waits for its move");
    assert_eq!(store.move_due(&fence, 10).await.expect("a move"), 1);
    assert_eq!(cancel(&store, due.event.id).await, Cancellation::TooLate, "it was moved");
    assert_eq!(logged(&store).await, [due.event]);
}

pub(super) async fn an_event_becomes_due_by_the_clock_of_the_database<S: Store>(store: S) {
    let fence = lead(&store, &Stage::upkeep()).await;
    let soon = due_in(1, "k", 1);
    schedule(&store, std::slice::from_ref(&soon)).await;
    let started = Instant::now();
    while store.move_due(&fence, 10).await.expect("a move") == 0 {
        assert!(started.elapsed() < LONG, "the event is never due");
        let wait = store.due_in().await.expect("a look at what is due").expect("one is scheduled");
        tokio::time::sleep(wait).await;
    }
    assert_eq!(cancel(&store, soon.event.id).await, Cancellation::TooLate);
    assert_eq!(logged(&store).await, [soon.event]);
}

pub(super) async fn a_pair_is_moved_and_taken_back_as_one<S: Store>(store: S) {
    let fence = lead(&store, &Stage::upkeep()).await;
    let pair = |secs| {
        let (mut newer, mut lower) = (due_in(secs, "k", 2), due_in(secs, "k", 1));
        lower.due = newer.due;
        newer.event.twin = Some(Twin { id: lower.event.id, version: 1 });
        lower.event.twin = Some(Twin { id: newer.event.id, version: 2 });
        [newer, lower]
    };
    let (due, [newer, lower]) = (pair(-1), pair(600));
    let [_, other_lower] = pair(600);
    schedule(&store, &due).await;
    schedule(&store, &[newer.clone(), lower.clone(), other_lower.clone()]).await;
    assert_eq!(store.move_due(&fence, 10).await.expect("a move"), 2);
    assert_eq!(logged(&store).await, due.map(|one| one.event));
    assert_eq!(cancel(&store, lower.event.id).await, Cancellation::Cancelled);
    assert_eq!(cancel(&store, newer.event.id).await, Cancellation::Unknown);
    assert_eq!(scheduled(&store, &ScheduledFilter::default()).await, [other_lower]);
}

pub(super) async fn an_owner_that_lost_upkeep_moves_nothing<S: Store>(store: S) {
    let old = lead(&store, &Stage::upkeep()).await;
    let events: Vec<NewScheduled> = (0..20).map(|number| due_in(-1, "k", number)).collect();
    schedule(&store, &events).await;
    assert_eq!(store.move_due(&old, 5).await.expect("a move"), 5);
    store.release(&old.lease(), old.owner).await.expect("a lease is given back");
    let next = lead(&store, &Stage::upkeep()).await;

    // The one before woke up late and believes itself the leader; both work at once.
    let all = async |fence| while matches!(store.move_due(fence, 1).await, Ok(moved) if moved > 0) {};
    tokio::join!(all(&old), all(&next));
    while store.move_due(&next, 5).await.expect("a move") > 0 {}
    assert_eq!(store.move_due(&old, 5).await.unwrap_or(0), 0);

    let mut payloads: Vec<String> = logged(&store).await.into_iter().map(|event| event.payload).collect();
    payloads.sort();
    let mut wanted: Vec<String> = events.into_iter().map(|one| one.event.payload).collect();
    wanted.sort();
    assert_eq!(payloads, wanted, "each is moved once");
}

pub(super) async fn scheduled_events_are_filtered_and_paged<S: Store>(store: S) {
    let events: Vec<NewScheduled> =
        (0..5).map(|at| due_in(600 - i64::from(at), if at == 2 { "two" } else { "k" }, at)).collect();
    schedule(&store, &events).await;
    let by_key = ScheduledFilter { key: Some("two".to_owned()), ..ScheduledFilter::default() };
    assert_eq!(scheduled(&store, &by_key).await, events[2..3]);
    let by_type =
        ScheduledFilter { event_type: Some("orders.lost".to_owned()), ..ScheduledFilter::default() };
    assert_eq!(scheduled(&store, &by_type).await, []);
    let until = ScheduledFilter { until: Some(events[3].due), ..ScheduledFilter::default() };
    assert_eq!(scheduled(&store, &until).await, events[4..]);

    let mut filter = ScheduledFilter::default();
    let mut paged = Vec::new();
    while let Some(last) = {
        let page = store.scheduled(&filter, 2).await.expect("scheduled events are read");
        let last = page.last().map(|last| (last.due, last.number));
        paged.extend(page.into_iter().map(|one| one.event));
        last
    } {
        filter.after = Some(last);
    }
    let in_order: Vec<NewEvent> = events.into_iter().rev().map(|one| one.event).collect();
    assert_eq!(paged, in_order);
}
