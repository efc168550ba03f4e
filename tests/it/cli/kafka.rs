//! `outbox relay --broker kafka://…`: what is typed is all it takes, and what is wrong is told without secrets.

use super::{Relay, Shop, failed, until};
use outbox::EventState;
use outbox_tests::servers::Kafka;

// Several threads: the relay works on while this test waits for it.
#[tokio::test(flavor = "multi_thread")]
async fn a_relay_publishes_to_kafka_and_a_wrong_password_ends_one_at_once() {
    let Some(kafka) = Kafka::private().await else { return };
    let shop = Shop::migrated();
    let error =
        failed(&shop.run(&["relay", "--broker", &kafka.guarded_url("guess"), "--patience", "10m"]), 1);
    assert!(error.contains("does not accept these credentials"), "{error}");
    assert!(!error.contains("guess"), "{error}");
    let relay = Relay::start(shop.command(&["relay", "--broker", &kafka.guarded_url("s3cret")]));

    let (outbox, id) = shop.order().await;
    until(async || outbox.state(id).await.unwrap() == EventState::Settled).await;
    relay.stopped().await;

    assert_eq!(kafka.count_messages("cli").await, 1);
}

#[tokio::test]
async fn a_relay_whose_client_has_no_tls_is_told_how_to_get_it() {
    let shop = Shop::migrated();

    let error = failed(&shop.run(&["relay", "--broker", "kafka+ssl://ann:s3cret@127.0.0.1:1"]), 1);

    assert!(error.contains("features = [\"ssl\"]"), "{error}");
    assert!(!error.contains("s3cret"), "{error}");
}
