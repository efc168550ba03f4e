//! What is wrong with topics of Kafka and the positions of their consumers.

use super::{assert_says, one};
use crate::broker::parts::{event, publish, receive, subscription};
use outbox::broker::{Broker, Examination};
use outbox::kafka::{KafkaBroker, KafkaConfig};
use outbox_tests::servers::Kafka;
use std::time::Duration;

fn broker(server: &Kafka) -> KafkaBroker {
    KafkaBroker::new(KafkaConfig {
        servers: server.url(),
        request_timeout: Duration::from_secs(8),
        ..KafkaConfig::default()
    })
}

fn of(topic: &str) -> Examination {
    Examination { topics: vec![topic.to_owned()], ..Examination::default() }
}

#[tokio::test]
async fn a_topic_of_ours_has_no_finding_and_a_missing_one_is_not_made() {
    let Some(server) = Kafka::shared().await else { return };
    let (broker, topic, missing) = (broker(server), server.fresh_topic(), server.fresh_topic());
    publish(&broker, &event(&topic, Some("foobar"))).await.unwrap();
    let mut reading = broker.subscribe(&subscription(&topic, "14")).await.unwrap();
    receive(&mut *reading, 1).await;
    reading.flush().await.unwrap();

    let both = Examination { topics: vec![topic, missing.clone()], ..Examination::default() };
    assert_eq!(broker.examine(&both).await.unwrap(), []);

    let made_only_here = KafkaConfig {
        create_topics: false,
        servers: server.url(),
        topics: vec![missing],
        ..KafkaConfig::default()
    };
    KafkaBroker::new(made_only_here).connect().await.unwrap_err();
}

#[tokio::test]
async fn each_setting_of_a_topic_that_hurts_is_named_with_what_to_set() {
    let Some(server) = Kafka::shared().await else { return };
    let broker = broker(server);
    for (settings, code, says) in [
        (&[("retention.ms", "60000")][..], "retention-short", "`retention.ms=604800000`"),
        (&[("retention.ms", "2592000000")], "retention-long", "keeps events for 30 d"),
        (&[("retention.ms", "-1")], "retention-long", "for ever"),
        (&[("retention.bytes", "1048576")], "limit-drops", "1 MiB a partition"),
        (&[("max.message.bytes", "1000000")], "events-too-large", "`max.message.bytes=1114112`"),
        (&[("cleanup.policy", "compact")], "topic-compacts", "`cleanup.policy=delete`"),
        (&[("min.insync.replicas", "2")], "copies-missing", "a partition has 1 copy,"),
    ] {
        let topic = server.fresh_topic();
        let fitting = [("retention.ms", "604800000"), ("max.message.bytes", "2000000")];
        let fitting = fitting.into_iter().filter(|(name, _)| settings.iter().all(|(other, _)| other != name));
        let all: Vec<_> = fitting.chain(settings.iter().copied()).collect();
        server.create_topic(&topic, 16, &all).await;

        let findings = broker.examine(&of(&topic)).await.unwrap();

        assert_eq!(findings.len(), 1, "{settings:?}: {findings:#?}");
        assert_eq!(findings[0].about, format!("topic/{topic}"));
        assert_says(one(&findings, code), &[says]);
    }
}

#[tokio::test]
async fn a_number_of_partitions_that_was_changed_is_named() {
    let Some(server) = Kafka::shared().await else { return };
    let (broker, topic) = (broker(server), server.fresh_topic());
    server.create_topic(&topic, 16, &[]).await;

    server.add_partitions(&topic, 20).await;

    let findings = broker.examine(&of(&topic)).await.unwrap();
    assert_says(one(&findings, "partitions-differ"), &["20 partitions", "16 partitions"]);
}

#[tokio::test]
async fn what_was_removed_before_a_consumer_read_it_is_counted() {
    let Some(server) = Kafka::shared().await else { return };
    let (broker, topic) = (broker(server), server.fresh_topic());
    for _ in 0..10 {
        publish(&broker, &event(&topic, Some("foobar"))).await.unwrap();
    }
    let mut reading = broker.subscribe(&subscription(&topic, "14")).await.unwrap();
    receive(&mut *reading, 2).await;
    reading.flush().await.unwrap();
    drop(reading);
    server.forget_until(&topic, 14, 7).await;

    let findings = broker.examine(&of(&topic)).await.unwrap();

    let lost = one(&findings, "position-lost");
    assert_eq!(lost.about, "consumer/billing.charge");
    assert_says(lost, &["at least 5 events", &topic, "outbox replay start"]);
}
