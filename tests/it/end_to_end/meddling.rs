//! Somebody closes connections, and removes consumers and topics, under work.

use super::{Scene, assert_once_and_in_order};
use outbox::sqlite::SqliteStore;
use outbox::{DeadLetterFilter, RelayConfig, RunError};
use outbox_tests::servers::{BrokerServer, Kafka, Nats, RabbitMq};
use outbox_tests::world::{TestStore, World, broker_at, noted, quick};
use std::time::{Duration, Instant};

/// How long a start may take to say why the server refuses it.
const REFUSED_WITHIN: Duration = Duration::from_secs(10);

/// Enqueues `count` events more, of a few keys.
async fn enqueue_more<S: TestStore>(scene: &Scene<S>, from: i64, count: i64) {
    let events = (from..from + count).map(|n| noted(&format!("key-{}", n % 7), n));
    scene.world.enqueue_each(events).await;
}

/// Every event so far had its effect, and none was set aside on the way.
async fn assert_all_handled<S: TestStore>(scene: &Scene<S>, count: usize) {
    assert_once_and_in_order(&scene.world.effects_of(count).await, count);
    let dead = scene.world.outbox.dead_letters(&DeadLetterFilter::default(), 10).await.unwrap();
    assert!(dead.is_empty(), "{dead:?}");
}

/// R17: a client of RabbitMQ may wait for ever for a server that has closed its connection.
#[tokio::test(flavor = "multi_thread")]
async fn a_virtual_host_or_a_password_that_is_wrong_is_told_at_the_start() {
    let Some(server) = RabbitMq::shared().await else { return };
    let Some(world) = World::<SqliteStore>::start().await else { return };
    let right = server.url();
    for (wrong, says) in [
        (format!("{right}/nowhere"), "there is no such virtual host"),
        (right.replace("guest:guest", "guest:wrong"), "the server does not accept these credentials"),
    ] {
        let started = Instant::now();
        let runner = world.outbox.runner().relay(RelayConfig::default(), broker_at(&wrong));

        let error = runner.settings(quick).start().await.unwrap_err();

        let RunError::Broker(error) = error else { panic!("{error:?}") };
        assert!(error.to_string().contains(says), "{wrong}: {error}");
        assert!(started.elapsed() < REFUSED_WITHIN, "{wrong}: {:?}", started.elapsed());
    }
}

/// R17, G2: fifty times, one after the other, while events flow.
#[tokio::test(flavor = "multi_thread")]
async fn connections_that_rabbitmq_closes_again_and_again_lose_nothing() {
    let Some(server) = RabbitMq::private().await else { return };
    let Some(scene) = Scene::<SqliteStore>::start_on(BrokerServer::RabbitMq(server)).await else { return };
    let BrokerServer::RabbitMq(server) = &scene.server else { panic!("it is one of RabbitMQ") };
    let (relay, consumer) = (scene.relay().await, scene.consume().await);
    let close = "[begin [rabbit_networking:close_connection(P, \"closed by a test\") || P <- rabbit_networking:connections()], \
                 timer:sleep(300) end || _ <- lists:seq(1, 50)].";

    let closing = async {
        server.control(&["eval", close]).await;
    };
    let enqueuing = async {
        for from in (0..1_000).step_by(20) {
            enqueue_more(&scene, from, 20).await;
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
    };
    tokio::join!(closing, enqueuing);

    assert_all_handled(&scene, 1_000).await;
    consumer.stop().await.unwrap();
    relay.stop().await.unwrap();
}

/// R19: NATS says nothing to a client whose durable is gone.
#[tokio::test(flavor = "multi_thread")]
async fn a_durable_that_somebody_removes_is_made_again() {
    let Some(scene) = Scene::<SqliteStore>::start().await else { return };
    let (relay, consumer) = (scene.relay().await, scene.consume().await);
    enqueue_more(&scene, 0, 50).await;
    scene.world.effects_of(50).await;

    remove_durables(&scene).await;
    enqueue_more(&scene, 50, 50).await;

    assert_all_handled(&scene, 100).await;
    consumer.stop().await.unwrap();
    relay.stop().await.unwrap();
}

/// R19: the same while the consumer's connection is cut.
#[tokio::test(flavor = "multi_thread")]
async fn a_durable_that_somebody_removes_behind_a_cut_is_made_again() {
    let Some(scene) = Scene::<SqliteStore>::start().await else { return };
    let proxy = outbox_tests::proxy::Proxy::to(scene.server.port()).await;
    let broker = broker_at(&format!("nats://{}", proxy.address()));
    let relay = scene.relay().await;
    let consumer = scene.world.runner().consume_from(broker).start().await.unwrap();
    enqueue_more(&scene, 0, 50).await;
    scene.world.effects_of(50).await;

    proxy.cut();
    remove_durables(&scene).await;
    enqueue_more(&scene, 50, 50).await;
    proxy.resume();

    assert_all_handled(&scene, 100).await;
    consumer.stop().await.unwrap();
    relay.stop().await.unwrap();
}

/// R19: a server that comes back with nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_nats_that_lost_all_it_had_gets_its_topics_and_consumers_again() {
    let Some(scene) = Scene::<SqliteStore>::start().await else { return };
    let (relay, consumer) = (scene.relay().await, scene.consume().await);
    enqueue_more(&scene, 0, 50).await;
    scene.world.effects_of(50).await;

    scene.nats().restart_empty().await;
    enqueue_more(&scene, 50, 50).await;

    assert_all_handled(&scene, 100).await;
    consumer.stop().await.unwrap();
    relay.stop().await.unwrap();
}

async fn remove_durables<S: TestStore>(scene: &Scene<S>) {
    let nats: &Nats = scene.nats();
    let removed = nats.remove_durables("world", &S::CONSUMER.replace('.', "=")).await;
    assert_eq!(removed, 5, "one for each partition");
}

/// R15: an idempotent producer whose topic was made anew may be dead for good.
#[tokio::test(flavor = "multi_thread")]
async fn a_topic_of_kafka_that_somebody_removes_under_load_gets_what_comes_then() {
    let Some(server) = Kafka::private().await else { return };
    let Some(scene) = Scene::<SqliteStore>::start_on(BrokerServer::Kafka(server)).await else { return };
    let BrokerServer::Kafka(server) = &scene.server else { panic!("it is one of Kafka") };
    let (relay, consumer) = (scene.relay().await, scene.consume().await);
    enqueue_more(&scene, 0, 200).await;
    scene.world.effects_of(200).await;

    for round in 1..4 {
        server.delete_topic("world").await;
        enqueue_more(&scene, round * 200, 200).await;
        scene.world.effects_of(usize::try_from(round).unwrap() * 200 + 200).await;
    }

    assert_all_handled(&scene, 800).await;
    consumer.stop().await.unwrap();
    relay.stop().await.unwrap();
}
