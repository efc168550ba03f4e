//! What a commit publishes, and what a stage reads of it.

use super::{event, events_of, lead, open, publish, read, settle};
use crate::{
    cursor::{Filter, LogCursor, Page, Start},
    envelope::{EventId, Seq, Twin},
    held::Stage,
    store::{EventState, Store, StoreError},
};
use outbox_schema::OnPoison;
use std::time::Duration;

pub(super) async fn a_rolled_back_transaction_publishes_nothing<S: Store>(store: S) {
    let mut tx = store.begin().await.expect("a transaction begins");
    store.insert(S::connection(&mut tx), &[event(None, 1)]).await.expect("an event is written");
    store.rollback(tx).await;
    let committed = event(None, 2);
    publish(&store, std::slice::from_ref(&committed)).await;

    let fence = lead(&store, &Stage::relay("r")).await;
    let page = read::<S>(&mut open(&store, &fence).await).await;

    assert_eq!(events_of(&page), [committed]);
}

pub(super) async fn an_event_is_read_as_it_was_written<S: Store>(store: S) {
    let full = crate::envelope::NewEvent {
        headers: [("tenant".to_owned(), "ä \"q\" \\u0000 \\ 🚀".to_owned())].into(),
        payload: r#"{"eventType":"t","eventVersion":2,"a":1.50,"a":2,"text":"line\nü \\u0000"}"#.to_owned(),
        traceparent: Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned()),
        tracestate: Some("vendor=1".to_owned()),
        twin: Some(Twin { id: EventId::now(), version: 7 }),
        event_version: 2,
        on_poison: OnPoison::Block,
        ..event(Some("k / é"), 1)
    };
    let bare = crate::envelope::NewEvent { on_poison: OnPoison::Skip, ..event(None, 2) };
    publish(&store, std::slice::from_ref(&full)).await;
    publish(
        &store,
        &[bare.clone(), full.clone()].map(|event| crate::envelope::NewEvent { id: EventId::now(), ..event }),
    )
    .await;

    let fence = lead(&store, &Stage::relay("r")).await;
    let page = read::<S>(&mut open(&store, &fence).await).await;

    let found = events_of(&page);
    assert_eq!(found.len(), 3);
    assert_eq!(found[0], full);
    assert_eq!(found[1], crate::envelope::NewEvent { id: found[1].id, ..bare });
    assert_eq!(found[2], crate::envelope::NewEvent { id: found[2].id, ..full });
    assert!(page.events.iter().all(|read| read.envelope.seq.to_string().len() == 19 && !read.late));
    assert_eq!(page.through, page.events.last().map(|read| read.envelope.seq));
}

pub(super) async fn events_of_one_batch_keep_their_order<S: Store>(store: S) {
    let batch: Vec<_> = (0..50).map(|number| event(Some("k"), number)).collect();
    publish(&store, &batch).await;

    let fence = lead(&store, &Stage::relay("r")).await;
    let page = read::<S>(&mut open(&store, &fence).await).await;

    assert_eq!(events_of(&page), batch);
}

pub(super) async fn what_is_settled_is_not_read_again<S: Store>(store: S) {
    let fence = lead(&store, &Stage::relay("r")).await;
    publish(&store, &[event(None, 1), event(None, 2)]).await;
    let mut log = open(&store, &fence).await;
    let page = read::<S>(&mut log).await;
    settle::<S>(&mut log, &fence, &page).await;
    let later = event(None, 3);
    publish(&store, std::slice::from_ref(&later)).await;

    for log in [&mut log, &mut open(&store, &fence).await] {
        assert_eq!(events_of(&read::<S>(log).await), std::slice::from_ref(&later));
    }
}

pub(super) async fn what_is_not_settled_is_read_again<S: Store>(store: S) {
    let fence = lead(&store, &Stage::relay("r")).await;
    let events = [event(None, 1), event(None, 2), event(None, 3)];
    publish(&store, &events).await;
    let mut log = open(&store, &fence).await;
    let page = log.read(2).await.expect("the log is read");
    assert!(page.full, "a third event is there");
    let first = page.events[0].envelope.seq;
    let settled = crate::cursor::Settled { through: Some(first), late: Vec::new() };
    log.settle(&fence, &settled, &[]).await.expect("the first event is settled");

    assert_eq!(events_of(&read::<S>(&mut log).await), events[2..], "a cursor reads on from where it is");
    assert_eq!(events_of(&read::<S>(&mut open(&store, &fence).await).await), events[1..]);
}

pub(super) async fn a_filter_hides_rows_without_holding_the_others_up<S: Store>(store: S) {
    let fence = lead(&store, &Stage::relay("r")).await;
    let hidden = crate::envelope::NewEvent { topic: "other".to_owned(), ..event(None, 1) };
    let wanted = event(None, 2);
    let filter = Filter {
        topics: vec!["orders".to_owned()],
        event_types: vec!["orders.placed".to_owned()],
        ..Filter::default()
    };
    publish(
        &store,
        &[hidden.clone(), wanted.clone(), hidden.clone()]
            .map(|event| crate::envelope::NewEvent { id: EventId::now(), ..event }),
    )
    .await;
    let mut log = store.open_log(&fence, filter, Start::Earliest).await.expect("the log opens");

    let page = read::<S>(&mut log).await;

    assert_eq!(page.events.len(), 1);
    assert_eq!(page.events[0].envelope.payload, wanted.payload);
    assert!(page.through > Some(page.events[0].envelope.seq), "the hidden row behind it is read too");
    settle::<S>(&mut log, &fence, &page).await;
    assert_eq!(read::<S>(&mut log).await.through, None);
}

pub(super) async fn a_stage_that_starts_at_latest_sees_only_what_comes_after<S: Store>(store: S) {
    publish(&store, &[event(None, 1)]).await;
    let fence = lead(&store, &Stage::consumer("c")).await;
    let mut log = store.open_log(&fence, Filter::default(), Start::Latest).await.expect("the log opens");
    let later = event(None, 2);
    publish(&store, std::slice::from_ref(&later)).await;

    assert_eq!(events_of(&read::<S>(&mut log).await), [later]);
}

pub(super) async fn a_filter_by_headers_wants_each_of_them_with_its_value<S: Store>(store: S) {
    let with = |headers: &[(&str, &str)]| crate::envelope::NewEvent {
        headers: headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        ..event(None, 1)
    };
    let odd = "ä \"q\" \\u0041 \\ 🚀 \u{7f}";
    let (wanted, longer) =
        (with(&[("tenant", odd), ("region", "eu")]), with(&[("tenant", odd), ("region", "eu"), ("a", "b")]));
    let others = [with(&[]), with(&[("tenant", odd)]), with(&[("tenant", "eu"), ("region", odd)])];
    let fence = lead(&store, &Stage::relay("r")).await;
    publish(&store, &others).await;
    publish(&store, &[wanted.clone(), longer.clone()]).await;
    let filter = Filter { headers: wanted.headers.clone(), ..Filter::default() };
    let mut log = store.open_log(&fence, filter, Start::Earliest).await.expect("the log opens");

    let page = read::<S>(&mut log).await;

    assert_eq!(events_of(&page), [wanted, longer]);
}

pub(super) async fn a_stage_starts_at_the_seq_it_is_given<S: Store>(store: S) {
    let events = [event(None, 1), event(None, 2), event(None, 3)];
    publish(&store, &events).await;
    let all = lead(&store, &Stage::relay("all")).await;
    let page = read::<S>(&mut open(&store, &all).await).await;
    let (second, last) = (page.events[1].envelope.seq, page.events[2].envelope.seq);

    let start = async |name: &str, start| {
        let fence = lead(&store, &Stage::relay(name)).await;
        store.open_log(&fence, Filter::default(), start).await
    };
    let mut from_second = start("second", Start::From(second)).await.expect("the log opens");
    let mut from_next = start("next", Start::From(Seq(last.0 + 1))).await.expect("the log opens");
    let mut from_none = start("none", Start::From(Seq(1))).await.expect("the log opens");
    let beyond = start("beyond", Start::From(Seq(last.0 + 2))).await;

    assert_eq!(events_of(&read::<S>(&mut from_second).await), events[1..]);
    assert_eq!(events_of(&read::<S>(&mut from_next).await), []);
    assert_eq!(events_of(&read::<S>(&mut from_none).await), events);
    assert!(
        matches!(beyond, Err(StoreError::StartUnknown { last: found, .. }) if found == last),
        "a start beyond the log was taken, or refused otherwise"
    );
}

pub(super) async fn a_stage_starts_at_the_time_it_is_given<S: Store>(store: S) {
    let all = lead(&store, &Stage::relay("all")).await;
    publish(&store, &[event(None, 1)]).await;
    // Until the database's clock has moved on, so that the times differ.
    let events = loop {
        publish(&store, &[event(None, 2)]).await;
        let page = read::<S>(&mut open(&store, &all).await).await;
        let times = page.events.iter().map(|read| read.envelope.occurred_at);
        if times.clone().max() > times.min() {
            break page.events;
        }
    };
    let time = events.last().expect("two at least").envelope.occurred_at;
    let ids = |page: &Page| page.events.iter().map(|read| read.envelope.id).collect::<Vec<_>>();

    let fence = lead(&store, &Stage::relay("at")).await;
    let mut at = store.open_log(&fence, Filter::default(), Start::At(time)).await.expect("the log opens");
    let fence = lead(&store, &Stage::relay("later")).await;
    let later = Start::At(time + Duration::from_secs(3_600));
    let mut later = store.open_log(&fence, Filter::default(), later).await.expect("the log opens");
    let fence = lead(&store, &Stage::relay("before")).await;
    let before = Start::At(time - Duration::from_secs(3_600));
    let mut before = store.open_log(&fence, Filter::default(), before).await.expect("the log opens");

    let first = events.iter().position(|read| read.envelope.occurred_at >= time).expect("the last at least");
    let expected: Vec<_> = events.iter().map(|read| read.envelope.id).collect();
    assert_eq!(ids(&read::<S>(&mut at).await), expected[first..]);
    assert_eq!(ids(&read::<S>(&mut later).await), []);
    assert_eq!(ids(&read::<S>(&mut before).await), expected);
}

pub(super) async fn stages_settle_apart<S: Store>(store: S) {
    let (one, other) = (lead(&store, &Stage::relay("a")).await, lead(&store, &Stage::relay("b")).await);
    let events = [event(None, 1)];
    publish(&store, &events).await;
    let mut log = open(&store, &one).await;
    let page = read::<S>(&mut log).await;
    settle::<S>(&mut log, &one, &page).await;

    assert_eq!(events_of(&read::<S>(&mut open(&store, &other).await).await), events);
}

pub(super) async fn state_tells_where_an_event_stands<S: Store>(store: S) {
    let fence = lead(&store, &Stage::relay("r")).await;
    let mut log = open(&store, &fence).await;
    let event = event(Some("k"), 1);
    let state = async || store.state(event.id).await.expect("the state is read");
    assert_eq!(state().await, EventState::Unknown);

    publish(&store, std::slice::from_ref(&event)).await;
    assert_eq!(state().await, EventState::Pending);

    let page = read::<S>(&mut log).await;
    settle::<S>(&mut log, &fence, &page).await;
    assert_eq!(state().await, EventState::Settled);
}
