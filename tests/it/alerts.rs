//! Dead letters that come are told: once for each rise, until it got through.

use outbox::{Growth, RunnerBuilder, Settings, Webhook};
use outbox_tests::memory_broker::MemoryBroker;
use outbox_tests::on_each_store;
use outbox_tests::receiver::{Answer, Receiver};
use outbox_tests::world::{TestStore, World, eventually, noted, quick, quick_relay};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

on_each_store! {
    a_rise_is_told_once_by_one_process_and_the_next_rise_again,
    an_alert_that_fails_is_repeated_until_it_gets_through,
    a_hook_that_fails_makes_no_other_be_called_twice_or_late,
    a_webhook_gets_a_rise_again_until_it_takes_it_and_then_no_more,
    a_rise_whose_process_died_amid_the_post_is_posted_again_under_the_same_id,
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
        runner.on_dead_letters(hook).settings(quick).settings(looking_often)
    }
}

fn looking_often(settings: &mut Settings) {
    settings.alert_every = Duration::from_millis(50);
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
    assert_ne!(growths[0].id, growths[1].id);
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

async fn a_hook_that_fails_makes_no_other_be_called_twice_or_late<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let broker = Arc::new(MemoryBroker::default());
    for key in ["a", "b"] {
        broker.refuse_key(key);
    }
    let deaf = Arc::new(Told { failing: u32::MAX, ..Told::default() });
    let told = Arc::new(Told::default());
    let runner = world.outbox.runner().relay(quick_relay(), broker.clone());
    let runner = told.listen(deaf.listen(runner)).start().await.unwrap();

    world.enqueue_each([noted("a", 0), noted("good", 1)]).await;
    eventually("the first rise is told", async || told.count() == 1).await;
    eventually("the other hook failed", async || deaf.calls.load(Ordering::SeqCst) >= 2).await;
    calm(&told).await;
    world.enqueue_each([noted("b", 2), noted("good", 3)]).await;
    eventually("the second rise is told", async || told.count() == 2).await;

    assert_eq!(told.calls.load(Ordering::SeqCst), 2);
    runner.stop().await.unwrap();
}

async fn a_webhook_gets_a_rise_again_until_it_takes_it_and_then_no_more<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let broker = Arc::new(MemoryBroker::default());
    broker.refuse_key("a");
    let receiver = Receiver::start([Answer::Status(503), Answer::Close]).await;
    let webhook = Webhook::new(&receiver.url().replace("//", "//hilda:secret@")).unwrap();
    let runner = world.outbox.runner().relay(quick_relay(), broker.clone()).settings(quick);
    let runner = runner.dead_letter_webhook(webhook.header("x-team", "orders").unwrap());
    let runner = runner.settings(looking_often).start().await.unwrap();
    world.enqueue_each([noted("a", 0), noted("good", 1)]).await;

    eventually("it got through", async || receiver.posts().len() == 3).await;

    tokio::time::sleep(Duration::from_millis(500)).await;
    let posts = receiver.posts();
    assert_eq!(posts.len(), 3);
    assert!(posts.iter().all(|post| *post == posts[0]), "{posts:#?}");
    assert_eq!(posts[0].line, "POST /dead-letters HTTP/1.1");
    let header = |name| posts[0].header(name);
    assert_eq!(header("content-type"), Some("application/json"));
    assert_eq!(header("authorization"), Some("Basic aGlsZGE6c2VjcmV0"));
    assert_eq!(header("x-team"), Some("orders"));
    let body: serde_json::Value = serde_json::from_str(&posts[0].body).unwrap();
    let id = body["id"].as_str().unwrap();
    assert!(id.starts_with("relay/default/"), "{id}");
    assert_eq!(header("idempotency-key"), Some(id));
    assert_eq!((&body["stage"], &body["new"]), (&"relay/default".into(), &1.into()));
    let group = &body["groups"][0];
    assert_eq!((&group["type"], &group["reason"]), (&"world.noted".into(), &"refused".into()));
    runner.stop().await.unwrap();
}

async fn a_rise_whose_process_died_amid_the_post_is_posted_again_under_the_same_id<S: TestStore>() {
    let Some(world) = World::<S>::start().await else { return };
    let broker = Arc::new(MemoryBroker::default());
    broker.refuse_key("a");
    let receiver = Receiver::start([Answer::Silence]).await;
    let start = async || {
        let runner = world.outbox.runner().relay(quick_relay(), broker.clone()).settings(quick);
        let runner = runner.dead_letter_webhook(Webhook::new(&receiver.url()).unwrap());
        runner.settings(looking_often).start().await.unwrap()
    };
    let dying = start().await;
    world.enqueue_each([noted("a", 0), noted("good", 1)]).await;
    eventually("it is posted", async || receiver.posts().len() == 1).await;
    drop(dying);

    let successor = start().await;
    eventually("it is posted again", async || receiver.posts().len() == 2).await;

    let posts = receiver.posts();
    assert_eq!(posts[1], posts[0]);
    successor.stop().await.unwrap();
}
