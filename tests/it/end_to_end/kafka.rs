//! The same on Kafka, which drops no second copy and keeps one position for each partition.

use super::{Scene, carry_a_hundred, once, redis, restart, sharing};
use outbox::sqlite::SqliteStore;
use outbox_tests::on_each_store;
use outbox_tests::servers::{BrokerServer, Kafka};
use outbox_tests::world::TestStore;

on_each_store! {
    what_is_enqueued_reaches_its_handler_once_and_in_order,
    two_processes_keep_the_order_of_a_failing_key_and_share_the_others,
    the_second_process_takes_all_over_within_the_lease_when_the_first_is_killed,
    a_consumer_killed_before_each_of_its_acks_has_each_effect_once,
    what_a_killed_relay_had_published_is_dropped_by_the_inbox,
    a_message_of_anybody_is_set_aside_and_the_next_event_is_handled,
}

async fn scene<S: TestStore>() -> Option<Scene<S>> {
    Scene::start_on(BrokerServer::Kafka(Kafka::private().await?)).await
}

async fn what_is_enqueued_reaches_its_handler_once_and_in_order<S: TestStore>() {
    let Some(scene) = scene::<S>().await else { return };
    carry_a_hundred(scene).await;
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
async fn sqlite_loses_nothing_when_the_process_then_kafka_are_killed_in_a_drain() {
    let Some(scene) = scene::<SqliteStore>().await else { return };
    restart::drain_past_two_kills(scene).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_loses_nothing_when_it_then_kafka_are_killed_in_a_drain() {
    let Some(kafka) = Kafka::private().await else { return };
    restart::drain_past_a_kill_of_postgres_and(BrokerServer::Kafka(kafka)).await;
}
