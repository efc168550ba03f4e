//! A handler that takes longer than RabbitMQ waits for an ack: the server ends the channel and leaves the connection as it is.

use super::assert_once_and_in_order;
use outbox::broker::partition;
use outbox::postgres::PostgresStore;
use outbox::{Event, consumer};
use outbox_tests::servers::RabbitMq;
use outbox_tests::world::{TestStore, World, broker_at, eventually, introduce};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlx::PgTransaction;
use std::time::{Duration, Instant};

const CONSUMER: &str = "late.writes";

/// Something that takes a handler some time.
#[derive(Debug, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "late.noted", version = 1, topic = "late")]
struct Noted {
    #[event(key)]
    key: String,
    n: i64,
    lasts: Duration,
}

#[consumer(name = "late.writes", timeout = "60s")]
async fn writes(event: Noted, tx: &mut PgTransaction<'_>) -> Result<(), sqlx::Error> {
    tokio::time::sleep(event.lasts).await;
    PostgresStore::write_effect(&mut *tx, &event.key, event.n).await
}

/// R18, G2, G7.
#[tokio::test(flavor = "multi_thread")]
async fn an_ack_that_comes_too_late_for_rabbitmq_stops_no_other_key_and_doubles_nothing() {
    const LASTS: Duration = Duration::from_secs(30);
    let Some(server) = RabbitMq::private_with("consumer_timeout = 8000").await else { return };
    // How often a channel looks: no line in the file of settings.
    server.control(&["eval", "application:set_env(rabbit, channel_tick_interval, 1000)."]).await;
    let Some(world) = World::<PostgresStore>::start().await else { return };
    let broker = broker_at(&server.url());
    introduce(&*broker, "late", &[CONSUMER]).await;
    // A key beside it, on the same queue.
    let partition = partition::of_key("slow", 4);
    let is_beside = |key: &String| partition::of_key(key, 4) == partition;
    let beside = (0..).map(|n| format!("key-{n}")).find(is_beside).unwrap();
    let enqueue = async |key: &str, n: i64, lasts: Duration| {
        let mut tx = world.outbox.begin().await.unwrap();
        world.outbox.enqueue(&mut tx, &Noted { key: key.to_owned(), n, lasts }).await.unwrap();
        tx.commit().await.unwrap();
    };
    let consume = async || world.runner_of([CONSUMER]).consume_from(broker.clone()).start().await.unwrap();
    let consumer = consume().await;
    let relay = world.relay(broker.clone()).await;
    let handled = async || world.outbox.store().effect_count().await;

    enqueue("slow", 0, LASTS).await;
    let (started, mut count, mut longest) = (Instant::now(), 0, Duration::ZERO);
    while started.elapsed() < LASTS {
        count += 1;
        let enqueued = Instant::now();
        enqueue(&beside, count as i64, Duration::ZERO).await;
        eventually("the other key is handled", async || handled().await >= count).await;
        longest = longest.max(enqueued.elapsed());
    }
    eventually("the slow one is handled", async || handled().await > count).await;

    assert!(longest < Duration::from_secs(10), "the other key stood still for {longest:?}");
    consumer.stop().await.unwrap();
    // A copy of the slow one may have come last.
    let queue = format!("late.{CONSUMER}.{partition}");
    eventually("the queue drains", async || {
        let again = consume().await;
        tokio::time::sleep(Duration::from_millis(500)).await;
        again.stop().await.unwrap();
        server.count_waiting(&queue).await == 0
    })
    .await;
    assert_once_and_in_order(&world.effects_of(count + 1).await, count + 1);
    relay.stop().await.unwrap();
}
