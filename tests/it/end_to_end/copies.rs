//! What holds on each broker that drops no second copy: Kafka, RabbitMQ and Redis.

use super::{Scene, assert_once_and_in_order, wait_for_end};
use outbox::DeadLetterFilter;
use outbox_tests::world::{TestStore, eventually, noted};

/// The tests that all of them have, and those that one has of its own, on each store. The module around has `scene`, where
/// most take place, and `server`, whose server may be killed.
macro_rules! on_each_store_where_copies_stay {
    ($($own:ident),* $(,)?) => {
        outbox_tests::on_each_store! {
            what_is_enqueued_reaches_its_handler_once_and_in_order,
            two_processes_keep_the_order_of_a_failing_key_and_share_the_others,
            the_second_process_takes_all_over_within_the_lease_when_the_first_is_killed,
            a_consumer_killed_before_each_of_its_acks_has_each_effect_once,
            what_a_killed_relay_had_published_is_dropped_by_the_inbox,
            a_message_of_anybody_is_set_aside_and_the_next_event_is_handled,
            $($own),*
        }

        async fn what_is_enqueued_reaches_its_handler_once_and_in_order<S: TestStore>() {
            let Some(scene) = scene::<S>().await else { return };
            super::carry_a_hundred(scene).await;
        }

        async fn two_processes_keep_the_order_of_a_failing_key_and_share_the_others<S: TestStore>() {
            let Some(scene) = scene::<S>().await else { return };
            super::sharing::share_beside_a_failing_key(scene).await;
        }

        async fn the_second_process_takes_all_over_within_the_lease_when_the_first_is_killed<S: TestStore>() {
            let Some(scene) = scene::<S>().await else { return };
            super::sharing::take_over_from_a_killed_process(scene).await;
        }

        async fn a_consumer_killed_before_each_of_its_acks_has_each_effect_once<S: TestStore>() {
            let Some(scene) = scene::<S>().await else { return };
            super::once::repeat_what_was_never_acked(scene).await;
        }

        async fn what_a_killed_relay_had_published_is_dropped_by_the_inbox<S: TestStore>() {
            let Some(scene) = scene::<S>().await else { return };
            super::copies::publish_twice(scene).await;
        }

        async fn a_message_of_anybody_is_set_aside_and_the_next_event_is_handled<S: TestStore>() {
            let Some(scene) = scene::<S>().await else { return };
            super::copies::set_aside_what_is_anybodys(scene).await;
        }

        #[tokio::test(flavor = "multi_thread")]
        async fn sqlite_loses_nothing_when_the_process_then_the_broker_are_killed_in_a_drain() {
            let Some(server) = server().await else { return };
            let Some(scene) = Scene::start_on(server).await else { return };
            super::restart::drain_past_two_kills(scene).await;
        }

        #[tokio::test(flavor = "multi_thread")]
        async fn postgres_loses_nothing_when_it_then_the_broker_are_killed_in_a_drain() {
            let Some(server) = server().await else { return };
            super::restart::drain_past_a_kill_of_postgres_and(server).await;
        }
    };
}

pub(super) use on_each_store_where_copies_stay;

pub(super) async fn publish_twice<S: TestStore>(scene: Scene<S>) {
    let world = &scene.world;
    world.enqueue_each((0..60).map(|n| noted(&format!("key-{}", n % 7), n))).await;
    let consumer = scene.consume().await;

    wait_for_end(&mut scene.act("relay", &["--die-after", "1"])).await;
    assert_eq!(world.relay_lag().await, 60, "no settle told of what was published");
    let relay = scene.relay().await;

    eventually("all is handled", async || world.outbox.store().effect_count().await >= 60).await;
    eventually("the relay has settled", async || world.relay_lag().await == 0).await;
    assert!(scene.server.count_messages("world").await > 60, "nothing was published twice");
    world.enqueue_each([noted("key-0", 60)]).await;
    assert_once_and_in_order(&world.effects_of(61).await, 61);
    consumer.stop().await.unwrap();
    relay.stop().await.unwrap();
}

/// R14, and R08: two of one id in two partitions are two.
pub(super) async fn set_aside_what_is_anybodys<S: TestStore>(scene: Scene<S>) {
    let world = &scene.world;
    let (relay, consumer) = (scene.relay().await, scene.consume().await);
    world.enqueue_each([noted("key-0", 0)]).await;
    world.effects_of(1).await;
    for partition in 0..4 {
        for payload in ["", "null", "[]"] {
            scene.server.put_foreign("world", partition, payload).await.unwrap();
        }
    }

    let dead = async || world.outbox.dead_letters(&DeadLetterFilter::default(), 100).await.unwrap();
    eventually("all of them are set aside", async || dead().await.len() == 12).await;
    world.enqueue_each((1..9).map(|n| noted(&format!("key-{n}"), n))).await;
    assert_once_and_in_order(&world.effects_of(9).await, 9);
    assert!(dead().await.iter().all(|letter| letter.reason == "undecodable"), "{:?}", dead().await);
    consumer.stop().await.unwrap();
    relay.stop().await.unwrap();
}
