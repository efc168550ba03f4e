//! `outbox relay --broker redis://…`: what is typed is all it takes, and what is wrong is told without secrets.

use super::{Relay, Shop, failed, until};
use outbox::EventState;
use outbox_tests::servers::Redis;

// Several threads: the relay works on while this test waits for it.
#[tokio::test(flavor = "multi_thread")]
async fn a_relay_publishes_to_redis() {
    let Some(redis) = Redis::private().await else { return };
    let shop = Shop::migrated();
    let relay = Relay::start(shop.command(&["relay", "--broker", &redis.url()]));

    let (outbox, id) = shop.order().await;
    until(async || outbox.state(id).await.unwrap() == EventState::Settled).await;
    relay.stopped().await;

    assert_eq!(redis.count_messages("cli").await, 1);
}

// Several threads, as above.
#[tokio::test(flavor = "multi_thread")]
async fn a_relay_works_with_topics_of_the_number_of_partitions_that_is_typed() {
    let Some(redis) = Redis::private().await else { return };
    let shop = Shop::migrated();
    let (outbox, id) = shop.order().await;

    let relay = Relay::start(shop.command(&["relay", "--broker", &redis.url(), "--partitions", "3"]));
    until(async || outbox.state(id).await.unwrap() == EventState::Settled).await;
    relay.stopped().await;

    let marker: String = redis.run(redis_client::cmd("GET").arg("cli:outbox")).await;
    assert_eq!(marker, "partitions: 3");
}

#[tokio::test]
async fn a_wrong_password_for_redis_ends_a_relay_at_once_and_is_not_shown() {
    let Some(redis) = Redis::private_with(&["--requirepass", "right"]).await else { return };
    let shop = Shop::migrated();
    let address = format!("redis://:s3cret@127.0.0.1:{}", redis.port());

    let error = failed(&shop.run(&["relay", "--broker", &address, "--patience", "10m"]), 1);

    assert!(error.contains("does not accept these credentials"), "{error}");
    assert!(!error.contains("s3cret"), "{error}");
}
