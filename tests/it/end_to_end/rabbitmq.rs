//! The same on RabbitMQ, which gives a consumer only what is published once it has its queues.

use super::{Scene, assert_once_and_in_order, carry_a_hundred, once, redis, restart, sharing};
use outbox::DeadLetterFilter;
use outbox::sqlite::SqliteStore;
use outbox_tests::on_each_store;
use outbox_tests::servers::{BrokerServer, RabbitMq};
use outbox_tests::world::{TestStore, World, eventually, introduce, noted};

on_each_store! {
    what_is_enqueued_reaches_its_handler_once_and_in_order,
    what_is_enqueued_before_there_is_any_consumer_waits_in_the_store,
    what_is_enqueued_once_a_new_consumer_has_started_reaches_it,
    two_processes_keep_the_order_of_a_failing_key_and_share_the_others,
    the_second_process_takes_all_over_within_the_lease_when_the_first_is_killed,
    a_consumer_killed_before_each_of_its_acks_has_each_effect_once,
    what_a_killed_relay_had_published_is_dropped_by_the_inbox,
    a_message_of_anybody_is_set_aside_and_the_next_event_is_handled,
}

async fn scene<S: TestStore>() -> Option<Scene<S>> {
    Scene::start_on(BrokerServer::RabbitMq(RabbitMq::shared_host().await?)).await
}

async fn what_is_enqueued_reaches_its_handler_once_and_in_order<S: TestStore>() {
    let Some(scene) = scene::<S>().await else { return };
    carry_a_hundred(scene).await;
}

async fn what_is_enqueued_before_there_is_any_consumer_waits_in_the_store<S: TestStore>() {
    let Some(rabbitmq) = RabbitMq::shared_host().await else { return };
    let Some(world) = World::<S>::start().await else { return };
    let scene = Scene { world, server: BrokerServer::RabbitMq(rabbitmq) };
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
    let Some(rabbitmq) = RabbitMq::shared_host().await else { return };
    let Some(world) = World::<S>::start().await else { return };
    let scene = Scene { world, server: BrokerServer::RabbitMq(rabbitmq) };
    introduce(&*scene.broker(), "world", &[BrokerServer::WITNESS]).await;
    let relay = scene.relay().await;

    let consumer = scene.consume().await;
    scene.world.enqueue_each((0..50).map(|n| noted(&format!("key-{}", n % 20), n))).await;

    assert_once_and_in_order(&scene.world.effects_of(50).await, 50);
    consumer.stop().await.unwrap();
    relay.stop().await.unwrap();
}

async fn two_processes_keep_the_order_of_a_failing_key_and_share_the_others<S: TestStore>() {
    let Some(scene) = scene::<S>().await else { return };
    sharing::share_beside_a_failing_key(scene).await;
}

async fn the_second_process_takes_all_over_within_the_lease_when_the_first_is_killed<S: TestStore>() {
    let Some(scene) = scene::<S>().await else { return };
    sharing::take_over_from_a_killed_process(scene).await;
}

async fn a_consumer_killed_before_each_of_its_acks_has_each_effect_once<S: TestStore>() {
    let Some(scene) = scene::<S>().await else { return };
    once::repeat_what_was_never_acked(scene).await;
}

async fn what_a_killed_relay_had_published_is_dropped_by_the_inbox<S: TestStore>() {
    let Some(scene) = scene::<S>().await else { return };
    redis::publish_twice(scene).await;
}

async fn a_message_of_anybody_is_set_aside_and_the_next_event_is_handled<S: TestStore>() {
    let Some(scene) = scene::<S>().await else { return };
    redis::set_aside_what_is_anybodys(scene).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_loses_nothing_when_the_process_then_rabbitmq_are_killed_in_a_drain() {
    let Some(rabbitmq) = RabbitMq::private().await else { return };
    let Some(scene) = Scene::<SqliteStore>::start_on(BrokerServer::RabbitMq(rabbitmq)).await else { return };
    restart::drain_past_two_kills(scene).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_loses_nothing_when_it_then_rabbitmq_are_killed_in_a_drain() {
    let Some(rabbitmq) = RabbitMq::private().await else { return };
    restart::drain_past_a_kill_of_postgres_and(BrokerServer::RabbitMq(rabbitmq)).await;
}
