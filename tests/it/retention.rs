//! Retention and those it waits for: one that is gone is waited for until somebody forgets it.

use outbox::broker::Broker;
use outbox::dead_letter::AuditAction;
use outbox::held::Stage;
use outbox::lease::Owner;
use outbox::store::{Forgetting, Retention};
use outbox::{AuditFilter, DeadLetterFilter, EventState, RelayConfig, Runner, Terms};
use outbox_tests::memory_broker::MemoryBroker;
use outbox_tests::on_each_store;
use outbox_tests::world::{TestStore, World, eventually, noted, quick, quick_relay};
use std::sync::Arc;
use std::time::Duration;

on_each_store! {
    a_relay_that_is_gone_is_forgotten_and_the_log_no_longer_kept_for_it,
    a_stage_with_undelivered_events_is_forgotten_only_together_with_them,
    a_dead_letter_past_its_retention_is_discarded_and_its_key_goes_on,
    a_consumer_that_was_forgotten_and_comes_back_applies_nothing_twice,
}

async fn run<S: TestStore>(world: &World<S>, name: &str, broker: Arc<dyn Broker>) -> Runner {
    let config = RelayConfig { name: name.to_owned(), ..quick_relay() };
    world.outbox.runner().relay(config, broker).settings(quick).start().await.unwrap()
}

async fn sweep<S: TestStore>(world: &World<S>) {
    let nothing_is_kept = Retention { log: Duration::ZERO, ..Retention::default() };
    while world.outbox.store().sweep(Owner::new(), &nothing_is_kept).await.unwrap().is_zero() {}
}

async fn names<S: TestStore>(world: &World<S>) -> Vec<String> {
    let status = world.outbox.store().status().await.unwrap();
    status.into_iter().map(|stage| stage.stage.to_string()).filter(|name| name != "upkeep").collect()
}

async fn a_relay_that_is_gone_is_forgotten_and_the_log_no_longer_kept_for_it<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let outbox = &world.outbox;
    let (gone, stays) = (Stage::relay("gone"), Stage::relay("stays"));
    assert_eq!(outbox.forget(&gone, None).await.unwrap(), Forgetting::Unknown);
    let down = Arc::new(MemoryBroker::default());
    down.set_down(true);
    let runner = run(&world, "gone", down).await;
    let discard = Terms::new("ann", "it is gone");
    eventually("it leads", async || outbox.forget(&gone, Some(&discard)).await.unwrap() == Forgetting::Led)
        .await;
    let mut tx = outbox.begin().await.unwrap();
    let id = outbox.enqueue(&mut tx, &noted("a", 1)).await.unwrap();
    tx.commit().await.unwrap();
    runner.stop().await.unwrap();
    let broker = Arc::new(MemoryBroker::default());
    let runner = run(&world, "stays", broker.clone()).await;
    eventually("the other has published it", async || broker.confirmed().len() == 1).await;
    sweep(&world).await;
    assert_eq!(outbox.state(id).await.unwrap(), EventState::Pending, "it is kept for the one that is gone");

    let forgotten = outbox.forget(&gone, None).await.unwrap();

    assert_eq!(forgotten, Forgetting::Forgotten { held: 0, dead_letters: 0 });
    assert_eq!(names(&world).await, [stays.as_str()]);
    eventually("it is removed", async || {
        sweep(&world).await;
        outbox.state(id).await.unwrap() == EventState::Unknown
    })
    .await;
    runner.stop().await.unwrap();
}

async fn a_stage_with_undelivered_events_is_forgotten_only_together_with_them<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let outbox = &world.outbox;
    let broker = Arc::new(MemoryBroker::default());
    broker.refuse_key("bad");
    let runner = run(&world, "gone", broker.clone()).await;
    world.enqueue_each([noted("bad", 1), noted("bad", 2), noted("good", 3)]).await;
    eventually("one is set aside and one waits", async || {
        let status = outbox.store().status().await.unwrap();
        status.iter().any(|stage| stage.dead_letters == 1 && stage.held == 1)
    })
    .await;
    runner.stop().await.unwrap();
    outbox.replay(&DeadLetterFilter::default(), &outbox::Terms::new("test", "mended")).await.unwrap();

    let stage = Stage::relay("gone");
    let holds = outbox.forget(&stage, None).await.unwrap();
    assert_eq!(holds, Forgetting::Holds { held: 1, dead_letters: 1 });
    assert_eq!(names(&world).await, ["relay/gone"]);
    let letter = outbox.dead_letters(&DeadLetterFilter::default(), 1).await.unwrap().remove(0);
    let forgotten = outbox.forget(&stage, Some(&Terms::new("ann", "it is gone"))).await.unwrap();

    assert_eq!(forgotten, Forgetting::Forgotten { held: 1, dead_letters: 1 });
    let audit = outbox.audit(&AuditFilter::default(), 10).await.unwrap();
    for entry in &audit {
        let told = (entry.action, entry.asked_by.as_str(), entry.why.as_str(), &entry.stage);
        assert_eq!(told, (AuditAction::Discard, "ann", "it is gone", &stage));
        assert_eq!((entry.event_type.as_str(), entry.key.as_deref()), ("world.noted", Some("bad")));
        assert!(entry.asked_at <= entry.done_at);
    }
    let told: Vec<_> = audit.iter().map(|entry| (entry.dead_letter, entry.reason.as_str())).collect();
    assert_eq!(told, [(Some(letter.id), "refused"), (None, "held")]);
    assert_eq!((audit[0].event, audit[0].seq), (letter.envelope.id, letter.envelope.seq));
    assert_eq!(names(&world).await, [""; 0]);
    assert!(outbox.dead_letters(&DeadLetterFilter::default(), 10).await.unwrap().is_empty());
    // One that comes back under this name begins where a new one does, and nothing of before is in its way.
    broker.accept_key("bad");
    let before = broker.confirmed().len();
    let runner = run(&world, "gone", broker.clone()).await;
    eventually("all is published", async || broker.confirmed().len() == before + 3).await;
    runner.stop().await.unwrap();
}

async fn a_dead_letter_past_its_retention_is_discarded_and_its_key_goes_on<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let outbox = &world.outbox;
    let broker = Arc::new(MemoryBroker::default());
    broker.refuse_key("bad");
    let runner = run(&world, "default", broker.clone()).await;
    world.enqueue_each([noted("bad", 1), noted("bad", 2)]).await;
    let dead = async || outbox.dead_letters(&DeadLetterFilter::default(), 10).await.unwrap().len();
    eventually("one is set aside and one waits behind it", async || {
        let status = outbox.store().status().await.unwrap();
        status.iter().any(|stage| stage.dead_letters == 1 && stage.held == 1)
    })
    .await;
    broker.accept_key("bad");
    let young = Retention::default();
    outbox.store().sweep(Owner::new(), &young).await.unwrap();
    assert_eq!(dead().await, 1);

    let old = Retention { dead_letters: Duration::ZERO, ..Retention::default() };
    outbox.store().sweep(Owner::new(), &old).await.unwrap();

    eventually("the key goes on", async || broker.confirmed().len() == 1).await;
    assert!(broker.confirmed()[0].payload.contains("\"n\":2"), "{}", broker.confirmed()[0].payload);
    assert_eq!(dead().await, 0);
    let audit = outbox.audit(&AuditFilter::default(), 10).await.unwrap();
    let told: Vec<_> = audit.iter().map(|entry| (entry.asked_by.as_str(), entry.why.as_str())).collect();
    assert_eq!(told, [("retention", "past its retention")]);
    runner.stop().await.unwrap();
}

async fn a_consumer_that_was_forgotten_and_comes_back_applies_nothing_twice<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let consumer = world.consume().await;
    world.enqueue_each([noted("a", 1), noted("a", 2)]).await;
    assert_eq!(world.effects_of(2).await.len(), 2);
    consumer.stop().await.unwrap();
    let forgotten = world.outbox.forget(&Stage::consumer(S::CONSUMER), None).await.unwrap();
    assert_eq!(forgotten, Forgetting::Forgotten { held: 0, dead_letters: 0 });

    let consumer = world.consume().await;
    world.enqueue_each([noted("a", 3)]).await;

    let effects = world.effects_of(3).await;
    assert_eq!(effects.iter().map(|(_, n)| *n).collect::<Vec<_>>(), [1, 2, 3]);
    consumer.stop().await.unwrap();
}
