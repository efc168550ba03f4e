//! What a server removes before a consumer has read it is counted, once, and told as an error: nobody passes it over in silence.

use super::parts::{event, publish_until_confirmed, receive, subscription};
use crate::measured::Counters;
use outbox::broker::{Broker, SubscriptionConfig, partition};
use outbox::kafka::{KafkaBroker, KafkaConfig};
use outbox::nats::{NatsBroker, NatsConfig};
use outbox::redis::{RedisBroker, RedisConfig};
use outbox_tests::servers::{Kafka, Nats, Redis};
use outbox_tests::warnings::Warnings;
use redis_client::cmd;
use std::time::Duration;

const TOLD: &str = "ERROR events were removed from the broker before this consumer handled them";

fn consumer(name: &str, topic: &str, partition: &str) -> SubscriptionConfig {
    SubscriptionConfig { consumer: name.to_owned(), ..subscription(topic, partition) }
}

async fn publish_some(broker: &dyn Broker, topic: &str, key: Option<&str>, count: usize) {
    for _ in 0..count {
        publish_until_confirmed(broker, &event(topic, key)).await;
    }
}

/// Subscribes as a consumer that was away does, and again; gives what was counted.
async fn counted(broker: &dyn Broker, config: &SubscriptionConfig) -> u64 {
    let counters = Counters::installed();
    let (warnings, _guard) = Warnings::listen();
    drop(broker.subscribe(config).await.unwrap());
    drop(broker.subscribe(config).await.unwrap());
    assert_eq!(warnings.lines().iter().filter(|line| *line == TOLD).count(), 1, "{:?}", warnings.lines());
    let counted = counters.of(&format!("consumer/{}", config.consumer));
    counted["outbox_events_total outcome=missed "]
}

#[tokio::test]
async fn kafka() {
    let Some(server) = Kafka::shared().await else { return };
    let (topic, timeout) = (server.fresh_topic(), Duration::from_secs(8));
    let config = KafkaConfig { servers: server.url(), request_timeout: timeout, ..KafkaConfig::default() };
    let broker = KafkaBroker::new(config);
    let reader = consumer("missed.kafka", &topic, "14");
    publish_some(&broker, &topic, Some("foobar"), 10).await;
    let mut reading = broker.subscribe(&reader).await.unwrap();
    receive(&mut *reading, 2).await;
    reading.flush().await.unwrap();
    drop(reading);

    server.forget_until(&topic, 14, 7).await;

    let counters = Counters::installed();
    let (warnings, _guard) = Warnings::listen();
    let mut reading = broker.subscribe(&reader).await.unwrap();
    receive(&mut *reading, 3).await;
    assert_eq!(warnings.lines(), [TOLD]);
    assert_eq!(counters.of("consumer/missed.kafka")["outbox_events_total outcome=missed "], 5);
}

#[tokio::test]
async fn nats() {
    let Some(server) = Nats::shared().await else { return };
    let (topic, partitions) = (server.fresh_topic(), 2);
    let stream = format!(
        r#"{{"name":"{topic}","description":"outbox topic, partitions: {partitions}","subjects":["{topic}.>"],"max_msgs":100}}"#
    );
    server.create_stream(&topic, &stream).await;
    let broker =
        || NatsBroker::new(NatsConfig { servers: server.url(), partitions, ..NatsConfig::default() });
    let reader = consumer("missed.nats", &topic, "any");
    let before = broker();
    for partition in partition::names(partitions) {
        before.subscribe(&consumer("missed.nats", &topic, &partition)).await.unwrap();
    }
    publish_some(&before, &topic, None, 10).await;
    let mut reading = before.subscribe(&reader).await.unwrap();
    receive(&mut *reading, 10).await;
    reading.flush().await.unwrap();
    drop(reading);

    publish_some(&before, &topic, None, 150).await;

    assert_eq!(counted(&broker(), &reader).await, 50);
}

#[tokio::test]
async fn redis() {
    let Some(server) = Redis::shared().await else { return };
    let topic = server.fresh_topic();
    let broker = RedisBroker::new(RedisConfig { server: server.url(), ..RedisConfig::default() });
    let reader = consumer("missed.redis", &topic, "14");
    publish_some(&broker, &topic, Some("foobar"), 10).await;
    let mut reading = broker.subscribe(&reader).await.unwrap();
    receive(&mut *reading, 10).await;
    drop(reading);

    publish_some(&broker, &topic, Some("foobar"), 10).await;
    server.run::<u64>(cmd("XTRIM").arg(format!("{topic}:14")).arg(&["MAXLEN", "=", "3"])).await;

    assert_eq!(counted(&broker, &reader).await, 7);
    let mut reading = broker.subscribe(&reader).await.unwrap();
    receive(&mut *reading, 3).await;
}

/// While a relay runs, somebody adds partitions: what it publishes from then on must stay where consumers read.
#[tokio::test]
async fn partitions_that_were_added_get_nothing_that_nobody_reads() {
    let Some(server) = Kafka::shared().await else { return };
    let (topic, timeout) = (server.fresh_topic(), Duration::from_secs(8));
    let settings = vec![("topic.metadata.refresh.interval.ms".to_owned(), "100".to_owned())];
    let config = KafkaConfig {
        servers: server.url(),
        request_timeout: timeout,
        partitions: 2,
        client: settings,
        ..KafkaConfig::default()
    };
    let broker = KafkaBroker::new(config);
    publish_some(&broker, &topic, None, 10).await;

    server.add_partitions(&topic, 16).await;
    publish_some(&broker, &topic, None, 200).await;

    let offsets = server.offsets(&topic).await;
    let count = |offsets: &[(i64, i64)]| offsets.iter().map(|(low, high)| high - low).sum::<i64>();
    assert!(count(&offsets[..2]) >= 210 && count(&offsets[2..]) == 0, "{offsets:?}");
}
