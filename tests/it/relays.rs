//! Several named relays over one log, each with what it wants, where it starts, and progress of its own.

use outbox::cursor::Filter;
use outbox::envelope::Seq;
use outbox::held::Stage;
use outbox::lease::Owner;
use outbox::store::{Retention, StoreError};
use outbox::{EventState, RelayConfig, RunError, Runner, Start, draft};
use outbox_tests::memory_broker::MemoryBroker;
use outbox_tests::on_each_store;
use outbox_tests::world::{Heard, TestStore, World, eventually, noted, quick, quick_relay};
use std::sync::Arc;
use std::time::Duration;

on_each_store! {
    each_relay_publishes_what_its_filter_wants_and_settles_the_rest,
    a_new_relay_starts_where_it_is_told,
    a_start_beyond_the_log_is_refused_before_anything_runs,
    retention_waits_for_the_slowest_relay,
    a_relay_whose_broker_is_down_holds_no_other_up,
}

fn named(name: &str, filter: Filter) -> RelayConfig {
    RelayConfig { name: name.to_owned(), filter, ..quick_relay() }
}

async fn run<S: TestStore>(
    world: &World<S>,
    relays: impl IntoIterator<Item = (RelayConfig, Arc<MemoryBroker>)>,
) -> Runner {
    let mut runner = world.outbox.runner().settings(quick);
    for (config, broker) in relays {
        runner = runner.relay(config, broker);
    }
    runner.start().await.unwrap()
}

async fn lag_of<S: TestStore>(world: &World<S>, name: &str) -> Option<u64> {
    let status = world.outbox.store().status().await.unwrap();
    status.into_iter().find(|stage| stage.stage == Stage::relay(name)).and_then(|stage| stage.lag)
}

async fn each_relay_publishes_what_its_filter_wants_and_settles_the_rest<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let of_type = |name: &str| Filter { event_types: vec![name.to_owned()], ..Filter::default() };
    let of_topic = |name: &str| Filter { topics: vec![name.to_owned()], ..Filter::default() };
    let headers = [("tenant".to_owned(), "acme".to_owned()), ("region".to_owned(), "eu".to_owned())];
    let of_both = Filter { headers: headers.into(), ..of_type("world.noted") };
    let relays = [
        ("all", Filter::default(), 30),
        ("notes", of_type("world.noted"), 20),
        ("heard", of_type("world.heard"), 10),
        ("elsewhere", of_topic("elsewhere"), 0),
        ("acme", of_both, 5),
    ]
    .map(|(name, filter, count)| (named(name, filter), Arc::new(MemoryBroker::default()), count));
    let runner = run(&world, relays.iter().map(|(config, broker, _)| (config.clone(), broker.clone()))).await;

    for n in 0..10 {
        let mut tx = world.outbox.begin().await.unwrap();
        let both = draft(&noted("a", n)).header("tenant", "acme");
        let both = both.header("region", if n % 2 == 0 { "eu" } else { "us" });
        world.outbox.enqueue(&mut tx, both).await.unwrap();
        world.outbox.enqueue(&mut tx, draft(&noted("b", n)).header("region", "eu")).await.unwrap();
        world.outbox.enqueue(&mut tx, &Heard { n }).await.unwrap();
        tx.commit().await.unwrap();
    }

    for (config, broker, count) in &relays {
        let name = &config.name;
        eventually(&format!("`{name}` has settled all"), async || lag_of(&world, name).await == Some(0))
            .await;
        let confirmed = broker.confirmed();
        assert_eq!(confirmed.len(), *count, "{name}");
        assert!(confirmed.iter().all(|envelope| config.filter.wants(envelope)), "{name}");
        assert!(confirmed.is_sorted_by_key(|envelope| envelope.seq) || *count > 20, "{name} is out of order");
    }
    runner.stop().await.unwrap();
}

async fn a_new_relay_starts_where_it_is_told<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    world.enqueue_each((0..5).map(|n| noted("a", n))).await;
    let first = Arc::new(MemoryBroker::default());
    let runner = run(&world, [(named("first", Filter::default()), first.clone())]).await;
    eventually("the first relay is done", async || first.confirmed().len() == 5).await;
    runner.stop().await.unwrap();
    let seqs: Vec<Seq> = first.confirmed().iter().map(|envelope| envelope.seq).collect();

    let start = |name: &str, start| {
        let config = RelayConfig { start: Some(start), ..named(name, Filter::default()) };
        (config, Arc::new(MemoryBroker::default()))
    };
    let relays = [
        (start("earliest", Start::Earliest), 6),
        (start("latest", Start::Latest), 1),
        (start("third", Start::From(seqs[2])), 4),
        (start("new", Start::At(time::OffsetDateTime::now_utc() + Duration::from_secs(3_600))), 1),
    ];
    let runner = run(&world, relays.iter().map(|(relay, _)| relay.clone())).await;
    world.enqueue_each([noted("a", 5)]).await;

    for ((config, broker), count) in &relays {
        let name = &config.name;
        eventually(&format!("`{name}` is done"), async || lag_of(&world, name).await == Some(0)).await;
        assert_eq!(broker.confirmed().len(), *count, "{name}");
    }
    runner.stop().await.unwrap();
    // Once it has progress, where it was to start says nothing any more.
    world.enqueue_each([noted("a", 6)]).await;
    let again = start("third", Start::Latest);
    let runner = run(&world, [again.clone()]).await;
    eventually("it goes on", async || again.1.confirmed().len() == 1).await;
    runner.stop().await.unwrap();
}

async fn a_start_beyond_the_log_is_refused_before_anything_runs<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let start = Some(Start::From(Seq(Seq::ORIGIN.0 + 77)));
    let config = RelayConfig { start, ..named("beyond", Filter::default()) };

    let relay = world.outbox.runner().relay(config, Arc::new(MemoryBroker::default()));
    let refused = relay.start().await.unwrap_err();

    assert!(matches!(refused, RunError::Store(StoreError::StartUnknown { .. })), "{refused:?}");
}

async fn retention_waits_for_the_slowest_relay<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let (quick, slow) = (Arc::new(MemoryBroker::default()), Arc::new(MemoryBroker::default()));
    slow.set_down(true);
    let relays = [
        (named("quick", Filter::default()), quick.clone()),
        (named("slow", Filter::default()), slow.clone()),
    ];
    let runner = run(&world, relays).await;
    let mut tx = world.outbox.begin().await.unwrap();
    let id = world.outbox.enqueue(&mut tx, &noted("a", 1)).await.unwrap();
    tx.commit().await.unwrap();
    eventually("one has settled it", async || lag_of(&world, "quick").await == Some(0)).await;
    let nothing_is_kept = Retention { log: Duration::ZERO, ..Retention::default() };
    let sweep = async || {
        while world.outbox.store().sweep(Owner::new(), &nothing_is_kept).await.unwrap().is_zero() {}
        world.outbox.state(id).await.unwrap()
    };

    assert_eq!(sweep().await, EventState::Pending);
    slow.set_down(false);
    eventually("the other has settled it", async || lag_of(&world, "slow").await == Some(0)).await;

    eventually("it is removed", async || sweep().await == EventState::Unknown).await;
    assert_eq!((quick.confirmed().len(), slow.confirmed().len()), (1, 1));
    runner.stop().await.unwrap();
}

async fn a_relay_whose_broker_is_down_holds_no_other_up<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let (well, down) = (Arc::new(MemoryBroker::default()), Arc::new(MemoryBroker::default()));
    down.set_down(true);
    let relays =
        [(named("down", Filter::default()), down.clone()), (named("well", Filter::default()), well.clone())];
    let runner = run(&world, relays).await;

    world.enqueue_each((0..20).map(|n| noted("a", n))).await;

    eventually("the other has published all", async || well.confirmed().len() == 20).await;
    assert_eq!(down.confirmed().len(), 0);
    down.set_down(false);
    eventually("it catches up", async || down.confirmed().len() == 20).await;
    runner.stop().await.unwrap();
}
