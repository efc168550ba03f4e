//! The same on RabbitMQ, which gives a consumer only what is published once it has its queues.

use super::copies::on_each_store_where_copies_stay;
use super::{Scene, assert_once_and_in_order};
use outbox::DeadLetterFilter;
use outbox_tests::servers::{BrokerServer, RabbitMq};
use outbox_tests::world::{TestStore, World, eventually, introduce, noted};

on_each_store_where_copies_stay! {
    what_is_enqueued_before_there_is_any_consumer_waits_in_the_store,
    what_is_enqueued_once_a_new_consumer_has_started_reaches_it,
}

async fn scene<S: TestStore>() -> Option<Scene<S>> {
    Scene::start_on(host().await?).await
}

/// A virtual host of its own: a server takes long to start.
async fn host() -> Option<BrokerServer> {
    RabbitMq::shared_host().await.map(BrokerServer::RabbitMq)
}

async fn server() -> Option<BrokerServer> {
    RabbitMq::private().await.map(BrokerServer::RabbitMq)
}

async fn what_is_enqueued_before_there_is_any_consumer_waits_in_the_store<S: TestStore>() {
    let (Some(world), Some(server)) = (World::<S>::start().await, host().await) else { return };
    let scene = Scene { world, server };
    let relay = scene.relay().await;
    scene.world.enqueue_each((0..50).map(|n| noted(&format!("key-{}", n % 7), n))).await;
    let status = async || scene.world.outbox.store().status().await.unwrap();
    eventually("they are held", async || status().await.iter().any(|stage| stage.held == 50)).await;

    let consumer = scene.consume().await;

    assert_once_and_in_order(&scene.world.effects_of(50).await, 50);
    assert!(scene.world.outbox.dead_letters(&DeadLetterFilter::default(), 10).await.unwrap().is_empty());
    consumer.stop().await.unwrap();
    relay.stop().await.unwrap();
}

/// Another consumer has its queues, so nothing that is published waits for one.
async fn what_is_enqueued_once_a_new_consumer_has_started_reaches_it<S: TestStore>() {
    let (Some(world), Some(server)) = (World::<S>::start().await, host().await) else { return };
    let scene = Scene { world, server };
    introduce(&*scene.broker(), "world", &[BrokerServer::WITNESS]).await;
    let relay = scene.relay().await;

    let consumer = scene.consume().await;
    scene.world.enqueue_each((0..50).map(|n| noted(&format!("key-{}", n % 20), n))).await;

    assert_once_and_in_order(&scene.world.effects_of(50).await, 50);
    consumer.stop().await.unwrap();
    relay.stop().await.unwrap();
}
