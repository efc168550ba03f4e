//! Scheduled events: they come when they are due, neither before nor a poll later, and can be taken back until then.

use outbox::envelope::{EventId, NewEvent};
use outbox::store::OpenTx;
use outbox::{Cancellation, EnqueueError, EventState, Outbox, ScheduledFilter, draft};
use outbox_tests::cutover::Priced;
use outbox_tests::memory_broker::MemoryBroker;
use outbox_tests::on_each_store;
use outbox_tests::world::{Noted, TestStore, World, eventually, noted, quick, quick_relay};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

on_each_store! {
    a_scheduled_event_comes_when_it_is_due_and_not_a_poll_later,
    what_is_scheduled_in_a_transaction_of_the_driver_comes_when_it_is_due,
    scheduled_events_survive_their_process_and_keep_what_they_are,
    a_time_that_is_past_is_due_at_once,
    an_event_is_taken_back_with_the_state_that_no_longer_asks_for_it,
    both_versions_of_a_cutover_are_due_together_and_name_each_other,
    a_batch_may_hold_events_for_now_and_for_later,
    a_scheduled_event_that_cannot_be_is_a_typed_error,
}

/// No reader polls within a test: who is late waited for the poll.
const NO_POLL: Duration = Duration::from_secs(600);

async fn relay_without_polls<S: TestStore>(world: &World<S>, broker: &Arc<MemoryBroker>) -> outbox::Runner {
    let settings = |settings: &mut outbox::Settings| {
        quick(settings);
        settings.poll = NO_POLL;
    };
    let runner = world.outbox.runner().relay(quick_relay(), broker.clone()).settings(settings);
    runner.start().await.unwrap()
}

async fn schedule<S: TestStore>(outbox: &Outbox<S>, event: &Noted, at: SystemTime) -> EventId {
    let mut tx = outbox.begin().await.unwrap();
    let id = outbox.enqueue(&mut tx, draft(event).at(at)).await.unwrap();
    tx.commit().await.unwrap();
    id
}

fn published(broker: &MemoryBroker) -> Vec<EventId> {
    broker.confirmed().iter().map(|event| event.id).collect()
}

async fn a_scheduled_event_comes_when_it_is_due_and_not_a_poll_later<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let broker = Arc::new(MemoryBroker::default());
    let relay = relay_without_polls(&world, &broker).await;
    // One that is due much later lets the leader wait long, before it hears of one that is due sooner.
    let far = schedule(&world.outbox, &noted("far", 1), SystemTime::now() + NO_POLL).await;
    let due = SystemTime::now() + Duration::from_secs(2);
    let near = schedule(&world.outbox, &noted("near", 2), due).await;
    assert_eq!(world.outbox.state(near).await.unwrap(), EventState::Scheduled);

    eventually("the event is published", async || !published(&broker).is_empty()).await;

    assert!(SystemTime::now() >= due, "it was published before it was due");
    assert_eq!(published(&broker), [near]);
    assert_eq!(world.outbox.state(far).await.unwrap(), EventState::Scheduled);
    relay.stop().await.unwrap();
}

async fn what_is_scheduled_in_a_transaction_of_the_driver_comes_when_it_is_due<S: TestStore>()
where
    S::Tx: OpenTx<S>,
{
    let Some(world) = World::<S>::start().await else { return };
    let broker = Arc::new(MemoryBroker::default());
    let relay = relay_without_polls(&world, &broker).await;
    // Such a commit tells nobody: the nudge comes before it.
    let mut tx = world.outbox.store().begin().await.unwrap();
    let soon = SystemTime::now() + Duration::from_millis(100);
    let id = world.outbox.enqueue(&mut tx, draft(&noted("k", 1)).at(soon)).await.unwrap();
    world.outbox.store().commit(tx).await.unwrap();

    eventually("the event is published", async || published(&broker) == [id]).await;
    relay.stop().await.unwrap();
}

async fn scheduled_events_survive_their_process_and_keep_what_they_are<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let soon = SystemTime::now() + Duration::from_millis(500);
    let mut tx = world.outbox.begin().await.unwrap();
    let event = draft(&noted("k", 7)).header("tenant", "acme").source("/elsewhere").at(soon);
    let id = world.outbox.enqueue(&mut tx, event).await.unwrap();
    tx.commit().await.unwrap();

    let reopened = World::<S>::at(&world.url).await;
    let broker = Arc::new(MemoryBroker::default());
    let relay = relay_without_polls(&reopened, &broker).await;
    eventually("the event is published", async || !broker.confirmed().is_empty()).await;

    let event: NewEvent = broker.confirmed()[0].event.clone();
    assert_eq!((event.id, event.key.as_deref(), event.source.as_str()), (id, Some("k"), "/elsewhere"));
    assert_eq!(event.headers.get("tenant").map(String::as_str), Some("acme"));
    relay.stop().await.unwrap();
}

async fn a_time_that_is_past_is_due_at_once<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let broker = Arc::new(MemoryBroker::default());
    let relay = relay_without_polls(&world, &broker).await;
    let id = schedule(&world.outbox, &noted("k", 1), SystemTime::UNIX_EPOCH - Duration::from_secs(1)).await;
    eventually("the event is published", async || published(&broker) == [id]).await;
    eventually("it is found", async || world.outbox.state(id).await.unwrap() == EventState::Settled).await;
    relay.stop().await.unwrap();
}

async fn an_event_is_taken_back_with_the_state_that_no_longer_asks_for_it<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let outbox = &world.outbox;
    let later = SystemTime::now() + NO_POLL;
    let (kept, gone) =
        (schedule(outbox, &noted("k", 1), later).await, schedule(outbox, &noted("k", 2), later).await);
    let mut tx = outbox.begin().await.unwrap();
    assert_eq!(outbox.cancel(&mut tx, kept).await.unwrap(), Cancellation::Cancelled);
    tx.rollback().await;
    let mut tx = outbox.begin().await.unwrap();
    assert_eq!(outbox.cancel(&mut tx, gone).await.unwrap(), Cancellation::Cancelled);
    tx.commit().await.unwrap();

    let waiting = outbox.scheduled(&ScheduledFilter::default(), 10).await.unwrap();
    assert_eq!(waiting.iter().map(|one| one.event.id).collect::<Vec<_>>(), [kept]);
    let mut tx = outbox.begin().await.unwrap();
    let published = outbox.enqueue(&mut tx, &noted("k", 3)).await.unwrap();
    assert_eq!(
        outbox.cancel(&mut tx, published).await.unwrap(),
        Cancellation::TooLate,
        "it is published at once"
    );
    tx.rollback().await;
}

async fn both_versions_of_a_cutover_are_due_together_and_name_each_other<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let outbox = &world.outbox;
    let priced = Priced { thing: "k".to_owned(), n: 1, fails: false };
    let mut tx = outbox.begin().await.unwrap();
    let id = outbox.enqueue(&mut tx, draft(&priced).at(SystemTime::now() + NO_POLL)).await.unwrap();
    tx.commit().await.unwrap();

    let waiting = outbox.scheduled(&ScheduledFilter::default(), 10).await.unwrap();
    let [newer, lower] = &waiting[..] else { panic!("a pair is two events: {waiting:?}") };
    assert_eq!((newer.event.id, newer.due), (id, lower.due));
    assert_eq!(newer.event.twin.map(|twin| twin.id), Some(lower.event.id));
    assert_eq!(lower.event.twin.map(|twin| twin.id), Some(id));

    let mut tx = outbox.begin().await.unwrap();
    assert_eq!(outbox.cancel(&mut tx, id).await.unwrap(), Cancellation::Cancelled);
    tx.commit().await.unwrap();
    assert_eq!(outbox.scheduled(&ScheduledFilter::default(), 10).await.unwrap(), []);
}

async fn a_batch_may_hold_events_for_now_and_for_later<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let notes = [noted("k", 1), noted("k", 2), noted("k", 3)];
    let later = SystemTime::now() + NO_POLL;
    let mut tx = world.outbox.begin().await.unwrap();
    let drafts = [draft(&notes[0]), draft(&notes[1]).at(later), draft(&notes[2]).locked()];
    let ids = world.outbox.enqueue_batch(&mut tx, drafts).await.unwrap();
    tx.commit().await.unwrap();

    let state = async |at: usize| world.outbox.state(ids[at]).await.unwrap();
    assert_eq!(
        [state(0).await, state(1).await, state(2).await],
        [EventState::Pending, EventState::Scheduled, EventState::Pending]
    );
}

async fn a_scheduled_event_that_cannot_be_is_a_typed_error<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let note = noted("k", 1);
    let never = SystemTime::UNIX_EPOCH + Duration::from_secs(260_000_000_000);
    let mut tx = world.outbox.begin().await.unwrap();
    let refused = world.outbox.enqueue(&mut tx, draft(&note).at(never)).await;
    assert!(matches!(refused, Err(EnqueueError::NeverDue { .. })), "{refused:?}");
    let too_long =
        world.outbox.enqueue(&mut tx, draft(&noted(&"x".repeat(600), 1)).at(SystemTime::now())).await;
    assert!(matches!(too_long, Err(EnqueueError::Refused { .. })), "{too_long:?}");
    tx.commit().await.unwrap();
    let refused = world.outbox.statement(draft(&note).at(SystemTime::now()));
    assert!(matches!(refused, Err(EnqueueError::Unscheduled { .. })), "{refused:?}");
}
