//! The connection of a handler breaks: an outage is not charged, and an event that breaks it by itself is set aside.

use outbox::postgres::PostgresStore;
use outbox::{Context, DeadLetter, DeadLetterFilter, Event, Outbox, Runner, Start, State, consumer};
use outbox_tests::proxy::Proxy;
use outbox_tests::servers::Postgres;
use outbox_tests::world::{TestStore, World, eventually, quick};
use rustix::process::{Pid, Signal, kill_process};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlx::PgTransaction;
use std::sync::{Arc, Mutex};

const NAME: &str = "connection.breaks";
const ATTEMPTS: u32 = 2;

/// Something that breaks the connection of its handler, or not.
#[derive(Debug, Clone, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "connection.noted", version = 1, topic = "connection")]
struct Noted {
    #[event(key)]
    key: String,
    n: i64,
    how: How,
}

/// How a handler is to fare, after it wrote its effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
enum How {
    Well,
    /// It is in a statement for so many milliseconds.
    Waits(u32),
    /// Its connection breaks in so many calls.
    BreaksFirst(usize),
    /// Its connection breaks each time, and it returns Ok.
    BreaksInSilence,
    /// It panics when its connection breaks, each time.
    BreaksAndPanics,
    /// The server ends, each time, and starts again.
    EndsServer,
}

/// The calls of the handler: key, number, and which attempt it was told.
type Calls = Arc<Mutex<Vec<(String, i64, u32)>>>;

#[consumer(name = "connection.breaks", timeout = "20s", retry(attempts = 2, base = "10ms", max = "50ms"))]
async fn breaks(
    event: Noted,
    tx: &mut PgTransaction<'_>,
    ctx: &Context,
    calls: State<Calls>,
) -> Result<(), sqlx::Error> {
    PostgresStore::write_effect(&mut *tx, &event.key, event.n).await?;
    let earlier = {
        let mut calls = calls.lock().unwrap();
        calls.push((event.key.clone(), event.n, ctx.attempt()));
        calls.iter().filter(|(key, n, _)| (key, *n) == (&event.key, event.n)).count() - 1
    };
    let breaks = "SELECT pg_terminate_backend(pg_backend_pid())";
    match event.how {
        How::Well => {}
        How::Waits(millis) => {
            let wait = sqlx::query("SELECT pg_sleep($1)").bind(f64::from(millis) / 1_000.0);
            wait.execute(&mut **tx).await?;
        }
        How::BreaksFirst(times) if earlier < times => {
            sqlx::query(breaks).execute(&mut **tx).await?;
        }
        How::BreaksFirst(_) => {}
        How::BreaksInSilence => {
            let _ = sqlx::query(breaks).execute(&mut **tx).await;
        }
        How::BreaksAndPanics => {
            sqlx::query(breaks).execute(&mut **tx).await.expect("its connection stands");
        }
        How::EndsServer => {
            let pid: i32 = sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(&mut **tx).await?;
            kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
            sqlx::query(breaks).execute(&mut **tx).await?;
        }
    }
    Ok(())
}

/// A database, its consumer, and what that was called with.
struct Scene {
    world: World<PostgresStore>,
    calls: Calls,
}

impl Scene {
    async fn at(url: &str) -> Self {
        Self { world: World::at(url).await, calls: Calls::default() }
    }

    async fn enqueue(&self, events: impl IntoIterator<Item = (String, How)>) {
        for (n, (key, how)) in (0..).zip(events) {
            let mut tx = self.world.outbox.begin().await.unwrap();
            self.world.outbox.enqueue(&mut tx, &Noted { key, n, how }).await.unwrap();
            tx.commit().await.unwrap();
        }
    }

    /// Runs the consumer on the database at that address, which may be that of a proxy.
    async fn consume(&self, url: &str) -> Runner {
        let outbox = Outbox::builder(PostgresStore::open(url).await).source("/connection").build();
        let catalog = outbox::Catalog::collect().unwrap();
        let others = catalog.consumers().iter().map(|consumer| consumer.name).filter(|other| *other != NAME);
        let runner =
            outbox.runner().only([NAME]).elsewhere(others).start_at(Start::Earliest).consume_locally();
        runner.state(Arc::clone(&self.calls)).settings(quick).start().await.unwrap()
    }

    async fn dead_letters(&self) -> Vec<DeadLetter> {
        self.world.outbox.dead_letters(&DeadLetterFilter::default(), 100).await.unwrap()
    }

    fn attempts_of(&self, key: &str) -> Vec<u32> {
        self.calls.lock().unwrap().iter().filter(|(of, ..)| of == key).map(|(.., attempt)| *attempt).collect()
    }

    /// The keys of the effects, sorted; an error when the server is away.
    async fn keys(&self) -> Vec<String> {
        let mut keys: Vec<_> =
            self.world.outbox.store().effects().await.into_iter().map(|(key, _)| key).collect();
        keys.sort();
        keys
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handler_whose_connection_broke_is_charged_no_attempt() {
    let Some(postgres) = Postgres::shared().await else { return };
    let url = postgres.fresh_database().await;
    let scene = Scene::at(&url).await;
    scene.enqueue([("once".to_owned(), How::BreaksFirst(1)), ("well".to_owned(), How::Well)]).await;

    let consumer = scene.consume(&url).await;
    scene.world.effects_of(2).await;

    assert_eq!(scene.attempts_of("once"), [1, 1]);
    assert_eq!(scene.dead_letters().await, []);
    consumer.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outage_in_the_middle_of_many_handlers_is_charged_to_none() {
    const COUNT: usize = 12;
    let Some(postgres) = Postgres::shared().await else { return };
    let url = postgres.fresh_database().await;
    let scene = Scene::at(&url).await;
    let proxy = Proxy::to(postgres.port()).await;
    let by_proxy = url.replace(&postgres.port().to_string(), &proxy.address().port().to_string());
    scene.enqueue((0..COUNT).map(|n| (format!("key-{n:02}"), How::Waits(300)))).await;
    let consumer = scene.consume(&by_proxy).await;
    eventually("handlers run", async || scene.calls.lock().unwrap().len() >= 4).await;

    // Every connection breaks, and the database can be reached at once.
    proxy.cut();
    proxy.resume();

    scene.world.effects_of(COUNT).await;
    assert_eq!(scene.keys().await, (0..COUNT).map(|n| format!("key-{n:02}")).collect::<Vec<_>>());
    let calls = scene.calls.lock().unwrap().clone();
    assert!(calls.len() > COUNT, "the cut met no handler");
    assert!(calls.iter().all(|(.., attempt)| *attempt == 1), "{calls:?}");
    consumer.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_breaks_its_connection_each_time_is_set_aside_and_delays_no_other() {
    let Some(postgres) = Postgres::shared().await else { return };
    for how in [How::BreaksFirst(usize::MAX), How::BreaksInSilence, How::BreaksAndPanics] {
        let url = postgres.fresh_database().await;
        let scene = Scene::at(&url).await;
        let good = (0..10).map(|n| (format!("good-{n}"), How::Well));
        scene.enqueue([("bad".to_owned(), how)].into_iter().chain(good)).await;

        let consumer = scene.consume(&url).await;
        eventually("it is set aside", async || !scene.dead_letters().await.is_empty()).await;
        scene.world.effects_of(10).await;

        assert_eq!(scene.attempts_of("bad"), [1, 1, 2], "{how:?}: one is free, and the others are charged");
        let dead = scene.dead_letters().await;
        assert_eq!((dead[0].reason.as_str(), dead[0].attempts), ("connection-lost", ATTEMPTS), "{how:?}");
        assert!(scene.keys().await.iter().all(|key| key.starts_with("good")));
        assert_eq!((dead.len(), scene.keys().await.len()), (1, 10));
        consumer.stop().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_ends_the_server_each_time_is_alone_set_aside() {
    let Some(postgres) = Postgres::private().await else { return };
    let url = postgres.fresh_database().await;
    let scene = Scene::at(&url).await;
    let good = (0..12).map(|n| (format!("good-{n}"), How::Waits(50)));
    scene.enqueue([("bad".to_owned(), How::EndsServer)].into_iter().chain(good)).await;
    let consumer = scene.consume(&url).await;

    let store = scene.world.outbox.store();
    eventually("all others are handled", async || {
        store.try_effect_count().await.is_ok_and(|count| count == 12)
    })
    .await;
    eventually("it is set aside", async || {
        let dead = scene.world.outbox.dead_letters(&DeadLetterFilter::default(), 100).await;
        dead.is_ok_and(|dead| !dead.is_empty())
    })
    .await;

    let dead = scene.dead_letters().await;
    let found: Vec<_> =
        dead.iter().map(|dead| (dead.envelope.key.as_deref(), dead.reason.as_str())).collect();
    assert_eq!(found, [(Some("bad"), "connection-lost")]);
    assert_eq!(scene.keys().await.len(), 12, "each has one effect");
    consumer.stop().await.unwrap();
}
