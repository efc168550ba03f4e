//! What is wrong with topics of RabbitMQ and the queues of their consumers, as far as the protocol tells.

use super::{assert_says, codes, one};
use crate::broker::parts::{event, publish, subscription};
use lapin::options::{QueueDeclareOptions, QueueDeleteOptions};
use lapin::types::{AMQPValue, FieldTable};
use outbox::broker::{Broker, Examination};
use outbox::rabbitmq::{RabbitMqBroker, RabbitMqConfig};
use outbox_tests::servers::RabbitMq;
use std::time::Duration;

const STAGE: &str = "consumer/billing.charge";

fn broker(server: &RabbitMq, partitions: u16) -> RabbitMqBroker {
    RabbitMqBroker::new(RabbitMqConfig {
        server: server.url(),
        partitions,
        request_timeout: Duration::from_secs(5),
        ..RabbitMqConfig::default()
    })
}

fn of(topic: &str) -> Examination {
    Examination {
        topics: vec![topic.to_owned()],
        consumers: vec!["billing.charge".to_owned(), "nobody".to_owned()],
        ..Examination::default()
    }
}

#[tokio::test]
async fn queues_that_hurt_are_named_and_those_of_ours_are_not() {
    let Some(server) = RabbitMq::shared().await else { return };
    let (ours, topic) = (broker(server, 2), server.fresh_topic());
    let both = Examination { topics: vec![topic.clone(), server.fresh_topic()], ..of(&topic) };
    let reading = ours.subscribe(&subscription(&topic, "any")).await.unwrap();
    publish(&ours, &event(&topic, None)).await.unwrap();
    assert_eq!(ours.examine(&both).await.unwrap(), []);

    let findings = broker(server, 3).examine(&of(&topic)).await.unwrap();
    assert_says(one(&findings, "partitions-differ"), &["3 partitions"]);

    let (_connection, channel) = server.connect().await.unwrap();
    let queue = format!("{topic}.billing.charge.1");
    channel.queue_delete(queue.as_str().into(), QueueDeleteOptions::default()).await.unwrap();
    let findings = ours.examine(&of(&topic)).await.unwrap();
    assert_eq!(codes(&findings, STAGE), ["queue-missing"]);
    assert_says(&findings[0], &[&queue]);

    let mut arguments = FieldTable::default();
    arguments.insert("x-queue-type".into(), AMQPValue::LongString("quorum".into()));
    arguments.insert("x-max-length".into(), AMQPValue::LongInt(100));
    let options = QueueDeclareOptions { durable: true, ..QueueDeclareOptions::default() };
    channel.queue_declare(queue.as_str().into(), options, arguments).await.unwrap();
    let findings = ours.examine(&of(&topic)).await.unwrap();
    assert_eq!(one(&findings, "queue-differs").about, format!("queue/{queue}"));

    drop(reading);
    for _ in 0..1_001 {
        publish(&ours, &event(&topic, None)).await.unwrap();
    }
    let unread = async || codes(&ours.examine(&of(&topic)).await.unwrap(), STAGE) == ["queue-unread"];
    outbox_tests::world::eventually("nobody reads it", unread).await;
}
