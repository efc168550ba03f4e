//! `outbox relay --broker amqp://…`: an event that no queue takes waits, and what is wrong is told without secrets.

use super::{Ordered, Relay, Shop, failed, until};
use outbox::rabbitmq::{RabbitMqBroker, RabbitMqConfig};
use outbox::{Event, EventState};
use outbox_tests::servers::RabbitMq;
use outbox_tests::world::introduce;

// Several threads: the relay works on while this test waits for it.
#[tokio::test(flavor = "multi_thread")]
async fn a_relay_publishes_to_rabbitmq_what_a_queue_takes_and_logs_no_payload() {
    let Some(rabbitmq) = RabbitMq::shared().await else { return };
    let shop = Shop::migrated();
    let mut relay = Relay::start(shop.command(&["relay", "--broker", &rabbitmq.url()]));

    let (outbox, id) = shop.order().await;
    until(async || relay.logged().contains("no queue takes it")).await;
    assert_ne!(outbox.state(id).await.unwrap(), EventState::Settled);
    let broker = RabbitMqBroker::new(RabbitMqConfig { server: rabbitmq.url(), ..RabbitMqConfig::default() });
    introduce(&broker, Ordered::TOPIC, &["cli.witness"]).await;
    until(async || outbox.state(id).await.unwrap() == EventState::Settled).await;
    let logged = relay.logged();
    relay.stopped().await;

    let mut waiting = 0;
    for partition in 0..16 {
        waiting += rabbitmq.count_waiting(&format!("{}.cli.witness.{partition}", Ordered::TOPIC)).await;
    }
    assert_eq!(waiting, 1);
    // Neither as text nor as the numbers of its bytes, of which these are `{"e`.
    assert!(!logged.contains("eventType") && !logged.contains("123, 34, 101"), "{logged}");
}

#[tokio::test]
async fn a_wrong_password_for_rabbitmq_ends_a_relay_at_once_and_is_not_shown() {
    let Some(rabbitmq) = RabbitMq::shared().await else { return };
    let shop = Shop::migrated();
    let address = format!("amqp://guest:s3cret@127.0.0.1:{}/%2f", rabbitmq.port());

    let error = failed(&shop.run(&["relay", "--broker", &address, "--patience", "10m"]), 1);

    assert!(error.contains("does not accept these credentials"), "{error}");
    assert!(!error.contains("s3cret"), "{error}");
}
