//! From the relay to the connector and back, under load and side by side: each event has one effect, each key in order.

use super::{Scene, until, writer::Writer};
use crate::end_to_end::assert_once_and_in_order;
use outbox_tests::servers::Connect;
use outbox_tests::world::{TestStore, broker_at};

#[tokio::test(flavor = "multi_thread")]
async fn a_switch_to_debezium_and_back_has_one_effect_for_each_event() {
    let Some(scene) = Scene::start().await else { return };
    let world = &scene.world;
    let broker = broker_at(&scene.kafka.url());
    let consumer = world.runner().consume_from(broker.clone()).start().await.unwrap();
    let writer = Writer::start(&world.outbox);

    // The relay alone, then both.
    let relay = world.relay(broker.clone()).await;
    let (connect, printed) = scene.connect().await;
    scene.handled(&connect, 500).await;
    // The connector alone.
    relay.stop().await.unwrap();
    scene.handled(&connect, 500).await;
    // Both, then the relay alone.
    let relay = world.relay(broker.clone()).await;
    scene.handled(&connect, 500).await;
    connect.kill();
    scene.forget_slot(&connect, &printed.slot).await;
    scene.handled(&connect, 500).await;
    // Nobody, then the connector alone, which finds its slot gone and reads what it needs from the log.
    relay.stop().await.unwrap();
    scene.written(&connect, 500).await;
    connect.restart();
    scene.handled(&connect, 500).await;

    let written = writer.stop().await;
    until(&connect, "all is handled", async || world.outbox.store().effect_count().await >= written).await;
    assert_once_and_in_order(&world.outbox.store().effects().await, written);
    consumer.stop().await.unwrap();
}

impl Scene {
    /// Waits until so many more events are handled.
    async fn handled(&self, connect: &Connect, more: usize) {
        let store = self.world.outbox.store();
        let wanted = store.effect_count().await + more;
        until(connect, "events are handled", async || store.effect_count().await >= wanted).await;
    }

    /// Waits until so many more events are in the log.
    async fn written(&self, connect: &Connect, more: i64) {
        let count = async || -> i64 {
            let asked = sqlx::query_scalar("SELECT count(*) FROM outbox_log");
            asked.fetch_one(self.world.outbox.store().pool()).await.unwrap()
        };
        let wanted = count().await + more;
        until(connect, "events are written", async || count().await >= wanted).await;
    }

    /// Removes the slot of a connector that was killed, as soon as the server has noticed its end.
    async fn forget_slot(&self, connect: &Connect, slot: &str) {
        let drop = "SELECT pg_drop_replication_slot($1)";
        until(connect, "the slot is dropped", async || {
            let dropped = sqlx::query(drop).bind(slot).execute(self.world.outbox.store().pool()).await;
            dropped.is_ok()
        })
        .await;
    }
}
