//! What holds on every store, each test named after its promise.

use outbox::DeadLetterFilter;
use outbox::EventState;
use outbox::Terms;
use outbox_tests::memory_broker::MemoryBroker;
use outbox_tests::on_each_store;
use outbox_tests::world::{Plan, TestStore, World, eventually, name_in, noted, numbers_of, planned};
use std::sync::Arc;

on_each_store! {
    a_rolled_back_transaction_publishes_nothing,
    a_committed_event_is_published_and_handled,
    an_event_delivered_twice_has_one_effect,
    a_batch_with_one_refused_event_settles_the_rest,
    a_handler_that_swallows_a_database_error_and_returns_ok_has_failed,
    a_handler_that_commits_by_itself_and_then_fails_has_its_effect_once,
    a_panic_or_a_timeout_is_a_failed_attempt_and_the_process_lives,
    later_events_of_a_key_wait_for_its_failing_one_and_other_keys_flow,
    an_error_for_good_skips_the_retries,
    a_dead_letter_is_replayed_and_its_key_goes_on_in_order,
    a_discarded_dead_letter_lets_its_key_go_on,
    a_relay_keeps_the_order_of_a_key_whose_event_is_not_confirmed,
    a_refused_event_parks_its_key_until_it_is_replayed,
    a_broker_that_is_down_costs_no_attempt,
    an_outbox_tells_where_an_event_stands,
}

async fn a_rolled_back_transaction_publishes_nothing<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let broker = Arc::new(MemoryBroker::default());

    let mut tx = world.outbox.begin().await.unwrap();
    world.outbox.enqueue(&mut tx, &noted("a", 1)).await.unwrap();
    tx.rollback().await;
    world.enqueue_each([noted("a", 2)]).await;

    let relay = world.relay(broker.clone()).await;
    eventually("the committed event is published", async || !broker.confirmed().is_empty()).await;
    relay.stop().await.unwrap();
    let published: Vec<_> = broker.confirmed().into_iter().map(|envelope| envelope.event.payload).collect();
    assert_eq!(published.len(), 1, "{published:?}");
    assert!(published[0].contains("\"n\":2"), "{published:?}");
}

async fn a_committed_event_is_published_and_handled<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let broker = Arc::new(MemoryBroker::default());
    let (relay, consumer) = (world.relay(broker.clone()).await, world.consume().await);

    world.enqueue_each((0..50).map(|n| noted(&format!("key-{}", n % 7), n))).await;

    world.effects_of(50).await;
    eventually("all is published", async || broker.confirmed().len() == 50).await;
    assert_promises_kept(&world, Some(&broker), true).await;
    consumer.stop().await.unwrap();
    relay.stop().await.unwrap();
}

async fn an_event_delivered_twice_has_one_effect<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    world.enqueue_each((0..20).map(|n| noted("a", n))).await;
    let consumer = world.consume().await;
    world.effects_of(20).await;
    consumer.stop().await.unwrap();

    // The same log again, from its beginning.
    S::forget_progress(world.outbox.store()).await;
    let consumer = world.consume().await;
    world.enqueue_each([noted("a", 20)]).await;

    let effects = world.effects_of(21).await;
    assert_eq!(numbers_of(&effects, "a"), (0..=20).collect::<Vec<_>>());
    assert_promises_kept(&world, None, true).await;
    consumer.stop().await.unwrap();
}

async fn a_batch_with_one_refused_event_settles_the_rest<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let broker = Arc::new(MemoryBroker::default());
    broker.refuse_key("key-3");
    world.enqueue_each((0..10).map(|n| noted(&format!("key-{n}"), n))).await;

    let relay = world.relay(broker.clone()).await;

    eventually("the others are published", async || broker.confirmed().len() == 9).await;
    eventually("the refused one is set aside", async || dead_letters(&world).await.len() == 1).await;
    let dead = dead_letters(&world).await.remove(0);
    assert_eq!((dead.envelope.key.as_deref(), dead.reason.as_str()), (Some("key-3"), "refused"));
    relay.stop().await.unwrap();
    let status = world.outbox.store().status().await.unwrap();
    let relay = status.iter().find(|stage| stage.stage.as_str() == "relay/default").unwrap();
    assert_eq!((relay.lag, relay.dead_letters), (Some(0), 1));
}

async fn a_handler_that_swallows_a_database_error_and_returns_ok_has_failed<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    // The error needs a row that is there already.
    world
        .enqueue_each([
            noted("z", 0),
            planned("a", 1, Plan::SwallowFirst(99)),
            planned("b", 2, Plan::SwallowFirst(1)),
        ])
        .await;

    let consumer = world.consume().await;

    eventually("the first is set aside", async || dead_letters(&world).await.len() == 1).await;
    let dead = dead_letters(&world).await.remove(0);
    assert_eq!((dead.reason.as_str(), dead.attempts), ("handler-broke-transaction", 4));
    let effects = world.effects_of(2).await;
    assert_eq!(numbers_of(&effects, "a"), Vec::<i64>::new());
    assert_eq!(numbers_of(&effects, "b"), [2]);
    consumer.stop().await.unwrap();
}

async fn a_handler_that_commits_by_itself_and_then_fails_has_its_effect_once<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    // Its writes and the note that the event was handled are one commit, whoever makes it.
    world.enqueue_each([planned("a", 0, Plan::CommitAndFailFirst(9)), noted("a", 1), noted("b", 2)]).await;

    let consumer = world.consume().await;

    let effects = world.effects_of(3).await;
    assert_eq!(numbers_of(&effects, "a"), [0, 1]);
    let held =
        async || world.outbox.store().status().await.unwrap().iter().map(|stage| stage.held).sum::<u64>();
    eventually("nothing waits any more", async || held().await == 0).await;
    // The connection that was left in the middle harms nobody.
    world.enqueue_each((3..20).map(|n| noted("a", n))).await;
    assert_eq!(
        numbers_of(&world.effects_of(20).await, "a"),
        [&[0, 1][..], &(3..20).collect::<Vec<_>>()].concat()
    );
    assert!(dead_letters(&world).await.is_empty());
    consumer.stop().await.unwrap();
}

async fn a_panic_or_a_timeout_is_a_failed_attempt_and_the_process_lives<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    world
        .enqueue_each([planned("a", 1, Plan::PanicFirst(2)), planned("b", 2, Plan::HangFirst), noted("c", 3)])
        .await;

    let consumer = world.consume().await;

    let mut effects = world.effects_of(3).await;
    effects.sort();
    assert_eq!(effects, [("a".to_owned(), 1), ("b".to_owned(), 2), ("c".to_owned(), 3)]);
    assert!(dead_letters(&world).await.is_empty());
    consumer.stop().await.unwrap();
}

async fn later_events_of_a_key_wait_for_its_failing_one_and_other_keys_flow<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let mut events = vec![planned("a", 0, Plan::FailFirst(3))];
    events.extend((1..10).map(|n| noted(if n % 2 == 0 { "a" } else { "b" }, n)));
    world.enqueue_each(events).await;

    let consumer = world.consume().await;

    let effects = world.effects_of(10).await;
    assert_eq!(numbers_of(&effects, "a"), [0, 2, 4, 6, 8]);
    assert_eq!(numbers_of(&effects, "b"), [1, 3, 5, 7, 9]);
    let of_a = effects.iter().position(|(key, _)| key == "a").unwrap();
    assert!(of_a >= 1, "the other key went on while the first waited: {effects:?}");
    assert_promises_kept(&world, None, true).await;
    consumer.stop().await.unwrap();
}

async fn an_error_for_good_skips_the_retries<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    world.enqueue_each([planned("a", 1, Plan::FailForGood)]).await;

    let consumer = world.consume().await;

    eventually("it is set aside", async || dead_letters(&world).await.len() == 1).await;
    let dead = dead_letters(&world).await.remove(0);
    assert_eq!((dead.reason.as_str(), dead.attempts), ("handler-error", 1));
    assert!(dead.error_chain.ends_with("the plan says that no retry can help"), "{}", dead.error_chain);
    consumer.stop().await.unwrap();
}

async fn a_dead_letter_is_replayed_and_its_key_goes_on_in_order<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    world
        .enqueue_each([planned("a", 0, Plan::FailUntilMended), noted("a", 1), noted("b", 2), noted("a", 3)])
        .await;
    let consumer = world.consume().await;
    eventually("it is set aside", async || dead_letters(&world).await.len() == 1).await;
    assert_eq!(world.effects_of(1).await, [("b".to_owned(), 2)], "the key waits for a person");
    world.mend();

    let asked =
        world.outbox.replay(&DeadLetterFilter::default(), &Terms::new("test", "mended")).await.unwrap();

    assert_eq!(asked, 1);
    let effects = world.effects_of(4).await;
    assert_eq!(numbers_of(&effects, "a"), [0, 1, 3]);
    eventually("no dead letter is left", async || dead_letters(&world).await.is_empty()).await;
    assert_eq!(
        world.outbox.replay(&DeadLetterFilter::default(), &Terms::new("test", "mended")).await.unwrap(),
        0
    );
    consumer.stop().await.unwrap();
}

async fn a_discarded_dead_letter_lets_its_key_go_on<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    world.enqueue_each([planned("a", 0, Plan::FailForGood), noted("a", 1)]).await;
    let consumer = world.consume().await;
    eventually("it is set aside", async || dead_letters(&world).await.len() == 1).await;

    world.outbox.discard(&DeadLetterFilter::default(), &Terms::new("test", "mended")).await.unwrap();
    world.enqueue_each([noted("a", 2)]).await;

    assert_eq!(numbers_of(&world.effects_of(2).await, "a"), [1, 2]);
    assert!(dead_letters(&world).await.is_empty());
    consumer.stop().await.unwrap();
}

async fn a_relay_keeps_the_order_of_a_key_whose_event_is_not_confirmed<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let broker = Arc::new(MemoryBroker::default());
    broker.be_unsure_of("a", 3);
    world.enqueue_each((0..20).map(|n| noted(if n % 2 == 0 { "a" } else { "b" }, n))).await;

    let relay = world.relay(broker.clone()).await;

    eventually("all is published", async || broker.confirmed().len() == 20).await;
    let published = published(&broker);
    assert_eq!(numbers_of(&published, "a"), [0, 2, 4, 6, 8, 10, 12, 14, 16, 18]);
    assert_eq!(numbers_of(&published, "b"), [1, 3, 5, 7, 9, 11, 13, 15, 17, 19]);
    assert_eq!(broker.attempts_of("a"), 13);
    assert_promises_kept(&world, Some(&broker), false).await;
    relay.stop().await.unwrap();
}

async fn a_refused_event_parks_its_key_until_it_is_replayed<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let broker = Arc::new(MemoryBroker::default());
    broker.refuse_key("a");
    let relay = world.relay(broker.clone()).await;
    world.enqueue_each([noted("a", 0), noted("a", 1), noted("b", 2), noted("a", 3)]).await;
    eventually("it is set aside", async || dead_letters(&world).await.len() == 1).await;
    eventually("the other key flows", async || broker.confirmed().len() == 1).await;
    broker.accept_key("a");

    world.outbox.replay(&DeadLetterFilter::default(), &Terms::new("test", "mended")).await.unwrap();

    eventually("all is published", async || broker.confirmed().len() == 4).await;
    assert_eq!(numbers_of(&published(&broker), "a"), [0, 1, 3]);
    assert!(dead_letters(&world).await.is_empty());
    relay.stop().await.unwrap();
}

async fn a_broker_that_is_down_costs_no_attempt<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let broker = Arc::new(MemoryBroker::default());
    broker.set_down(true);
    let relay = world.relay(broker.clone()).await;
    world.enqueue_each((0..5).map(|n| noted("a", n))).await;
    eventually("it was tried more often than attempts allow", async || broker.calls() > 6).await;

    broker.set_down(false);

    eventually("all is published", async || broker.confirmed().len() == 5).await;
    assert_eq!(numbers_of(&published(&broker), "a"), [0, 1, 2, 3, 4]);
    assert!(dead_letters(&world).await.is_empty());
    relay.stop().await.unwrap();
}

async fn an_outbox_tells_where_an_event_stands<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let mut tx = world.outbox.begin().await.unwrap();
    let (good, bad) = (noted("a", 1), planned("b", 2, Plan::FailForGood));
    let ids = world.outbox.enqueue_batch(&mut tx, [&good, &bad]).await.unwrap();
    tx.commit().await.unwrap();
    let state = async |id| world.outbox.state(id).await.unwrap();
    assert_eq!(state(ids[0]).await, EventState::Pending);
    assert_eq!(state(outbox::EventId::now()).await, EventState::Unknown);

    let consumer = world.consume().await;

    eventually("the good one is settled", async || state(ids[0]).await == EventState::Settled).await;
    eventually("the bad one is dead", async || matches!(state(ids[1]).await, EventState::Dead(_))).await;
    consumer.stop().await.unwrap();
}

async fn dead_letters<S: TestStore>(world: &World<S>) -> Vec<outbox::DeadLetter> {
    world.outbox.dead_letters(&DeadLetterFilter::default(), 100).await.unwrap()
}

/// Fails unless the history of this world keeps the promises.
async fn assert_promises_kept<S: TestStore>(
    world: &World<S>,
    relayed: Option<&MemoryBroker>,
    consumed: bool,
) {
    let published = |broker: &MemoryBroker| {
        broker.confirmed().iter().map(|envelope| name_in(&envelope.payload)).collect()
    };
    let history = world.history(relayed.map(published), consumed).await;
    history.check().unwrap_or_else(|fault| panic!("{fault}"));
}

fn published(broker: &MemoryBroker) -> Vec<(String, i64)> {
    let note = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    let of =
        |note: serde_json::Value| (note["key"].as_str().unwrap().to_owned(), note["n"].as_i64().unwrap());
    broker.confirmed().iter().map(|envelope| of(note(&envelope.payload))).collect()
}
