//! A database or a broker that cannot be reached, at the start and in mid-work.

use super::{Scene, assert_once_and_in_order};
use outbox::postgres::{PostgresConfig, PostgresStore};
use outbox::sqlite::SqliteStore;
use outbox::{Outbox, RelayConfig, RunError};
use outbox_tests::on_each_store;
use outbox_tests::proxy::Proxy;
use outbox_tests::servers::{Nats, Postgres};
use outbox_tests::world::{TestStore, World, nats_broker, noted, quick};
use sqlx::postgres::PgPoolOptions;
use std::error::Error;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(2);
/// Room for a busy machine; without a limit of their own the drivers take half a minute and more.
const MARGIN: Duration = Duration::from_secs(20);
/// Longer than a notification takes on a busy machine, and shorter than the five seconds between two looks.
const LATE: Duration = Duration::from_secs(4);
/// Longer than a lease of the world, and than a few pauses between tries.
const OUTAGE: Duration = Duration::from_secs(4);

on_each_store! {
    an_outage_of_the_broker_is_waited_out_and_work_resumes_by_itself,
}

/// The address of the same database by way of the proxy.
fn by_way_of(proxy: &Proxy, url: &str, port: u16) -> String {
    url.replace(&port.to_string(), &proxy.address().port().to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_stays_unreachable_is_one_clear_error_after_the_patience() {
    let Some(postgres) = Postgres::shared().await else { return };
    let Some(nats) = Nats::shared().await else { return };
    let proxy = Proxy::to(postgres.port()).await;
    let url = by_way_of(&proxy, &postgres.fresh_database().await, postgres.port());
    for is_stalled in [false, true] {
        if is_stalled {
            proxy.stall()
        } else {
            proxy.cut()
        }
        let pool = PgPoolOptions::new().connect_lazy(&url).unwrap();
        let store = PostgresStore::with_pool(pool, PostgresConfig::default()).unwrap();
        let outbox = Outbox::builder(store).source("/world").build();
        let started = Instant::now();

        let runner = outbox.runner().relay(RelayConfig::default(), nats_broker(&nats.url(), None));
        let error = runner.settings(|settings| settings.patience = PATIENCE).start().await.unwrap_err();

        let took = started.elapsed();
        assert!(matches!(error, RunError::Store(_)), "{error:?}");
        assert!(error.source().is_some());
        assert!(took >= PATIENCE && took < PATIENCE + MARGIN, "took {took:?}; stalled: {is_stalled}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_stays_unreachable_is_one_clear_error_after_the_patience() {
    let Some(nats) = Nats::shared().await else { return };
    let Some(world) = World::<SqliteStore>::start().await else { return };
    let proxy = Proxy::to(nats.port()).await;
    let url = format!("nats://{}", proxy.address());
    for is_stalled in [false, true] {
        if is_stalled {
            proxy.stall()
        } else {
            proxy.cut()
        }
        let started = Instant::now();

        let runner = world.outbox.runner().relay(RelayConfig::default(), nats_broker(&url, None));
        let error = runner.settings(|settings| settings.patience = PATIENCE).start().await.unwrap_err();

        let took = started.elapsed();
        assert!(matches!(error, RunError::Broker(_)), "{error:?}");
        assert!(error.source().is_some());
        assert!(took >= PATIENCE && took < PATIENCE + MARGIN, "took {took:?}; stalled: {is_stalled}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_comes_up_within_the_patience_is_waited_for() {
    let Some(nats) = Nats::private().await else { return };
    let Some(world) = World::<SqliteStore>::start().await else { return };
    nats.kill();
    let runner =
        world.outbox.runner().relay(RelayConfig::default(), nats_broker(&nats.url(), None)).settings(quick);
    let starting = tokio::spawn(runner.start());
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!starting.is_finished());

    nats.restart().await;

    starting.await.unwrap().unwrap().stop().await.unwrap();
}

async fn an_outage_of_the_broker_is_waited_out_and_work_resumes_by_itself<S: TestStore>() {
    let Some(scene) = Scene::<S>::start().await else { return };
    let world = &scene.world;
    let proxy = Proxy::to(scene.nats().port()).await;
    let broker = || nats_broker(&format!("nats://{}", proxy.address()), None);
    let relay = world.relay(broker()).await;
    let consumer = world.runner().consume_from(broker()).start().await.unwrap();
    world.enqueue_each((0..20).map(|n| noted(&format!("key-{}", n % 5), n))).await;
    world.effects_of(20).await;

    proxy.cut();
    world.enqueue_each((20..40).map(|n| noted(&format!("key-{}", n % 5), n))).await;
    tokio::time::sleep(OUTAGE).await;
    assert!(world.outbox.store().effect_count().await < 40, "nothing was cut");
    proxy.resume();

    let effects = world.effects_of(40).await;
    assert_once_and_in_order(&effects, 40);
    consumer.stop().await.unwrap();
    relay.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outage_of_postgres_is_waited_out_and_notifications_wake_again() {
    let Some(postgres) = Postgres::shared().await else { return };
    let url = postgres.fresh_database().await;
    let proxy = Proxy::to(postgres.port()).await;
    let direct = World::<PostgresStore>::at(&url).await;
    let world = World::<PostgresStore>::at(&by_way_of(&proxy, &url, postgres.port())).await;
    // So rarely that only a notification explains what comes soon.
    let rarely = |settings: &mut outbox::Settings| settings.poll = Duration::from_secs(300);
    let runner = world.runner().consume_locally().settings(rarely).start().await.unwrap();
    direct.enqueue_each((0..20).map(|n| noted(&format!("key-{}", n % 5), n))).await;
    direct.effects_of(20).await;

    proxy.cut();
    direct.enqueue_each((20..40).map(|n| noted(&format!("key-{}", n % 5), n))).await;
    tokio::time::sleep(OUTAGE).await;
    assert_eq!(direct.outbox.store().effect_count().await, 20, "nothing was cut");
    proxy.resume();
    direct.effects_of(40).await;

    // Without notifications each of these waits for the next look, five seconds apart. Some may: they were sent while the
    // listening connection was being made again.
    let mut late = Vec::new();
    for n in 40..45 {
        let enqueued = Instant::now();
        direct.enqueue_each([noted("key-0", n)]).await;
        direct.effects_of(usize::try_from(n).unwrap() + 1).await;
        late.extend(Some(enqueued.elapsed()).filter(|took| *took > LATE));
    }
    assert!(late.len() <= 2, "notifications do not wake it: {late:?}");
    assert_once_and_in_order(&direct.outbox.store().effects().await, 45);
    runner.stop().await.unwrap();
}
