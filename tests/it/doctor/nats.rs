//! What is wrong with topics of NATS and the durables of their consumers, on each installed version of the server.

use super::{assert_says, one};
use crate::broker::parts::{event, publish, receive, subscription};
use outbox::broker::{Broker, Examination, partition};
use outbox::nats::{NatsBroker, NatsConfig};
use outbox_tests::servers::Nats;
use std::time::Duration;

const WEEK_NANOS: u64 = 7 * 24 * 3_600 * 1_000_000_000;
const PARTITIONS: u16 = 2;

fn broker(server: &Nats) -> NatsBroker {
    NatsBroker::new(NatsConfig {
        servers: server.url(),
        partitions: PARTITIONS,
        request_timeout: Duration::from_secs(2),
        ..NatsConfig::default()
    })
}

fn of(topic: &str) -> Examination {
    Examination { topics: vec![topic.to_owned()], ..Examination::default() }
}

/// A stream that somebody else has made, with our description and these settings.
async fn make_stream(server: &Nats, topic: &str, settings: &str) {
    let stream = format!(
        r#"{{"name":"{topic}","description":"outbox topic, partitions: {PARTITIONS}","subjects":["{topic}.>"],
            "retention":"limits","storage":"file","discard":"old",{settings}}}"#
    );
    server.create_stream(topic, &stream.replace('\n', " ")).await;
}

/// Makes the consumer known in each partition.
async fn introduce(broker: &NatsBroker, topic: &str) {
    for partition in partition::names(PARTITIONS) {
        broker.subscribe(&subscription(topic, &partition)).await.unwrap();
    }
}

#[tokio::test]
async fn a_topic_of_ours_has_no_finding_and_a_missing_one_is_not_made() {
    if Nats::private().await.is_none() {
        return;
    }
    for program in Nats::installed() {
        let server = Nats::private_of(&program).await;
        let (broker, topic, missing) = (broker(&server), server.fresh_topic(), server.fresh_topic());
        introduce(&broker, &topic).await;
        publish(&broker, &event(&topic, None)).await.unwrap();
        let mut reading = broker.subscribe(&subscription(&topic, "any")).await.unwrap();
        receive(&mut *reading, 1).await;

        let both = Examination { topics: vec![topic, missing.clone()], ..Examination::default() };
        assert_eq!(broker.examine(&both).await.unwrap(), [], "on {}", program.display());

        let answer = server.stream(&missing).await;
        assert!(answer["error"].is_object(), "{answer}");
    }
}

#[tokio::test]
async fn each_setting_of_a_stream_that_hurts_is_named_with_what_to_set() {
    let Some(server) = Nats::shared().await else { return };
    let broker = broker(server);
    let week = format!(r#""max_age":{WEEK_NANOS}"#);
    for (settings, code, says) in [
        (r#""max_age":60000000000"#.to_owned(), "retention-short", "`max_age: 604800s`"),
        (r#""max_age":0"#.to_owned(), "retention-long", "for ever"),
        (format!(r#"{week},"max_msgs":100"#), "limit-drops", "100 messages (`max_msgs`)"),
        (format!(r#"{week},"max_bytes":1048576"#), "limit-drops", "1 MiB (`max_bytes`)"),
        (format!(r#"{week},"max_msgs_per_subject":5"#), "limit-drops", "5 of a subject"),
        (format!(r#"{week},"description":"mine""#), "partitions-differ", "\"mine\""),
    ] {
        let topic = server.fresh_topic();
        make_stream(server, &topic, &settings).await;

        let findings = broker.examine(&of(&topic)).await.unwrap();

        assert_eq!(findings.len(), 1, "{settings:?}: {findings:#?}");
        assert_eq!(findings[0].about, format!("topic/{topic}"));
        assert_says(one(&findings, code), &[says]);
    }
    let topic = server.fresh_topic();
    make_stream(server, &topic, &format!(r#"{week},"max_msgs":100"#).replace("max_msgs", "max_consumers"))
        .await;
    assert_eq!(broker.examine(&of(&topic)).await.unwrap(), [], "it drops nothing");
}

#[tokio::test]
async fn what_a_stream_dropped_before_a_consumer_was_given_it_is_counted() {
    if Nats::private().await.is_none() {
        return;
    }
    for program in Nats::installed() {
        let server = Nats::private_of(&program).await;
        let (broker, topic) = (broker(&server), server.fresh_topic());
        make_stream(&server, &topic, &format!(r#""max_age":{WEEK_NANOS},"max_msgs":100"#)).await;
        introduce(&broker, &topic).await;
        for _ in 0..10 {
            publish(&broker, &event(&topic, None)).await.unwrap();
        }
        let mut reading = broker.subscribe(&subscription(&topic, "any")).await.unwrap();
        receive(&mut *reading, 10).await;
        reading.flush().await.unwrap();
        drop(reading);
        assert_eq!(
            super::codes(&broker.examine(&of(&topic)).await.unwrap(), "consumer/billing.charge"),
            [""; 0]
        );

        for _ in 0..150 {
            publish(&broker, &event(&topic, None)).await.unwrap();
        }

        let findings = broker.examine(&of(&topic)).await.unwrap();
        let lost = one(&findings, "position-lost");
        assert_eq!(lost.about, "consumer/billing.charge", "on {}", program.display());
        assert_says(lost, &["at least 50 events", &topic]);
    }
}

#[tokio::test]
async fn a_durable_that_gives_up_is_named() {
    let Some(server) = Nats::shared().await else { return };
    let (broker, topic) = (broker(server), server.fresh_topic());
    make_stream(server, &topic, &format!(r#""max_age":{WEEK_NANOS}"#)).await;
    server.create_durable(&topic, "billing=charge-1", r#""max_deliver":3,"ack_wait":1000000000"#).await;

    let findings = broker.examine(&of(&topic)).await.unwrap();

    let limited = one(&findings, "deliveries-limited");
    assert_eq!(limited.about, "consumer/billing.charge");
    assert_says(limited, &["3 times at most", "`max_deliver: -1`"]);
    broker.subscribe(&subscription(&topic, "1")).await.unwrap();
    assert_eq!(broker.examine(&of(&topic)).await.unwrap(), [], "who takes the partition sets it right");
}
