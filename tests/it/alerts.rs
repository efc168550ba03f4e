//! Dead letters that come are told: once for each rise, until it got through.

use outbox::{Growth, RunnerBuilder};
use outbox_tests::memory_broker::MemoryBroker;
use outbox_tests::on_each_store;
use outbox_tests::world::{TestStore, World, eventually, noted, quick, quick_relay};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

on_each_store! {
    a_rise_is_told_once_by_one_process_and_the_next_rise_again,
    an_alert_that_fails_is_repeated_until_it_gets_through,
}

/// What was told, and how many of the first calls are to fail.
#[derive(Default)]
struct Told {
    growths: Mutex<Vec<Growth>>,
    calls: AtomicU32,
    failing: u32,
}

impl Told {
    fn count(&self) -> usize {
        self.growths.lock().unwrap().len()
    }

    fn listen<S: TestStore>(self: &Arc<Self>, runner: RunnerBuilder<S>) -> RunnerBuilder<S> {
        let told = Arc::clone(self);
        let hook = move |growth| {
            let told = Arc::clone(&told);
            async move {
                if told.calls.fetch_add(1, Ordering::SeqCst) < told.failing {
                    return Err("nobody answers".into());
                }
                told.growths.lock().unwrap().push(growth);
                Ok(())
            }
        };
        let every = |settings: &mut outbox::Settings| settings.alert_every = Duration::from_millis(50);
        runner.on_dead_letters(hook).settings(quick).settings(every)
    }
}

/// Waits for a look that finds no new ones, after which the next is another rise.
async fn calm(told: &Arc<Told>) {
    let before = told.count();
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(told.count(), before);
}

async fn a_rise_is_told_once_by_one_process_and_the_next_rise_again<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let broker = Arc::new(MemoryBroker::default());
    let told = Arc::new(Told::default());
    // Events of several topics' causes would pause the topic: one key, one cause.
    for key in ["a", "b"] {
        broker.refuse_key(key);
    }
    let mut runners = Vec::new();
    for _ in 0..2 {
        let runner = told.listen(world.outbox.runner().relay(quick_relay(), broker.clone()));
        runners.push(runner.start().await.unwrap());
    }
    world.enqueue_each([noted("a", 0), noted("good", 1)]).await;
    eventually("the first rise is told", async || told.count() == 1).await;
    calm(&told).await;

    world.enqueue_each([noted("b", 2), noted("good", 3)]).await;
    eventually("the second rise is told", async || told.count() == 2).await;
    calm(&told).await;

    let growths = told.growths.lock().unwrap().clone();
    for growth in &growths {
        assert_eq!((growth.stage.as_str(), growth.new), ("relay/default", 1));
        assert_eq!(
            (growth.groups[0].event_type.as_str(), growth.groups[0].reason.as_str()),
            ("world.noted", "refused")
        );
    }
    for runner in runners {
        runner.stop().await.unwrap();
    }
}

async fn an_alert_that_fails_is_repeated_until_it_gets_through<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let broker = Arc::new(MemoryBroker::default());
    broker.refuse_key("a");
    let told = Arc::new(Told { failing: 3, ..Told::default() });
    let runner =
        told.listen(world.outbox.runner().relay(quick_relay(), broker.clone())).start().await.unwrap();
    world.enqueue_each([noted("a", 0), noted("good", 1)]).await;

    eventually("it got through", async || told.count() == 1).await;

    assert_eq!(told.calls.load(Ordering::SeqCst), 4);
    runner.stop().await.unwrap();
}
