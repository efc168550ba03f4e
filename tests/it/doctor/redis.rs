//! What is wrong with a server of Redis, its topics and the groups of their consumers.

use super::{assert_says, codes, one};
use crate::broker::parts::{event, publish, receive, subscription};
use outbox::broker::{Broker, Examination};
use outbox::redis::{RedisBroker, RedisConfig};
use outbox_tests::servers::Redis;
use redis_client::cmd;
use std::time::Duration;

fn broker(server: &Redis, partitions: u16) -> RedisBroker {
    RedisBroker::new(RedisConfig {
        server: server.url(),
        partitions,
        request_timeout: Duration::from_secs(2),
        ..RedisConfig::default()
    })
}

fn of(topic: &str) -> Examination {
    Examination { topics: vec![topic.to_owned()], ..Examination::default() }
}

#[tokio::test]
async fn a_topic_of_ours_has_no_finding_and_one_of_another_number_of_partitions_is_named() {
    let Some(server) = Redis::shared().await else { return };
    let (ours, topic, missing) = (broker(server, 16), server.fresh_topic(), server.fresh_topic());
    publish(&ours, &event(&topic, Some("foobar"))).await.unwrap();
    let mut reading = ours.subscribe(&subscription(&topic, "14")).await.unwrap();
    receive(&mut *reading, 1).await;

    let both = Examination { topics: vec![topic.clone(), missing.clone()], ..Examination::default() };
    assert_eq!(ours.examine(&both).await.unwrap(), []);

    let keys: Vec<String> = server.run(cmd("KEYS").arg(format!("{missing}:*"))).await;
    assert_eq!(keys, [""; 0], "nothing was made");
    let findings = broker(server, 8).examine(&of(&topic)).await.unwrap();
    assert_says(one(&findings, "partitions-differ"), &["partitions: 16", "8 partitions"]);
}

#[tokio::test]
async fn a_server_that_evicts_or_keeps_nothing_on_disk_is_named() {
    let Some(server) = Redis::private().await else { return };
    let broker = broker(&server, 16);
    assert_eq!(broker.examine(&Examination::default()).await.unwrap(), []);
    let set = async |name: &str, value: &str| {
        server.run::<()>(cmd("CONFIG").arg("SET").arg(name).arg(value)).await;
    };
    set("maxmemory", "104857600").await;
    assert_eq!(
        broker.examine(&Examination::default()).await.unwrap(),
        [],
        "a full server takes nothing more"
    );

    set("maxmemory-policy", "allkeys-lru").await;
    set("appendonly", "no").await;

    let findings = broker.examine(&Examination::default()).await.unwrap();
    assert_eq!(codes(&findings, "server"), ["memory-evicts", "confirmed-in-memory"]);
    assert_says(&findings[0], &["allkeys-lru", "100 MiB", "noeviction"]);
    assert_says(&findings[1], &["appendonly yes"]);
}

#[tokio::test]
async fn what_was_removed_before_a_consumer_read_it_is_counted() {
    let Some(server) = Redis::shared().await else { return };
    let (broker, topic) = (broker(server, 16), server.fresh_topic());
    for _ in 0..10 {
        publish(&broker, &event(&topic, Some("foobar"))).await.unwrap();
    }
    let mut reading = broker.subscribe(&subscription(&topic, "14")).await.unwrap();
    receive(&mut *reading, 10).await;
    drop(reading);
    for _ in 0..10 {
        publish(&broker, &event(&topic, Some("foobar"))).await.unwrap();
    }
    let trim = async |left: u32| {
        server.run::<u64>(cmd("XTRIM").arg(format!("{topic}:14")).arg(&["MAXLEN", "="]).arg(left)).await;
    };
    trim(10).await;
    assert_eq!(broker.examine(&of(&topic)).await.unwrap(), [], "what is gone was read");

    trim(3).await;

    let findings = broker.examine(&of(&topic)).await.unwrap();
    let lost = one(&findings, "position-lost");
    assert_eq!(lost.about, "consumer/billing.charge");
    assert_says(lost, &["at least 7 events"]);
}
