//! Kafka on a real server.

use super::parts::{
    PATIENCE, event, ids_of, is_confirmed, publish, publish_all, publish_each, publish_until_confirmed,
    receive, subscription, take,
};
use futures_util::future::BoxFuture;
use outbox::broker::kafka::{KafkaBroker, KafkaConfig};
use outbox::broker::{Broker, BrokerError, Published, Subscription, SubscriptionConfig, partition};
use outbox::conformance::broker::{Rig, Server, check};
use outbox::envelope::NewEvent;
use outbox_tests::{proxy::Proxy, servers::Kafka};
use std::time::{Duration, Instant};

struct KafkaRig {
    server: Kafka,
    broker: KafkaBroker,
}

impl KafkaRig {
    async fn start() -> Option<Self> {
        let server = Kafka::private().await?;
        let broker = KafkaBroker::new(config(server.guarded_url("s3cret")));
        Some(Self { server, broker })
    }
}

impl Rig for KafkaRig {
    fn name(&self) -> &str {
        "kafka"
    }

    fn broker(&self) -> Option<&dyn Broker> {
        Some(&self.broker)
    }

    fn fresh_topic(&self) -> String {
        self.server.fresh_topic()
    }

    fn subscribe<'a>(&'a self, config: &'a SubscriptionConfig) -> BoxFuture<'a, Box<dyn Subscription>> {
        // A connection of its own, as another process has.
        let broker = KafkaBroker::new(self::config(self.server.guarded_url("s3cret")));
        Box::pin(async move {
            let started = Instant::now();
            loop {
                match broker.subscribe(config).await {
                    Ok(subscription) => return subscription,
                    // As a consumer does: a server that was restarted just now may take its time.
                    Err(error) if error.is_transient() && started.elapsed() < PATIENCE => {}
                    Err(error) => panic!("the server is running: {error:?}"),
                }
            }
        })
    }

    fn server(&self) -> Option<&dyn Server> {
        Some(&self.server)
    }

    fn intruder(&self) -> Option<Box<dyn Broker>> {
        Some(Box::new(KafkaBroker::new(config(self.server.guarded_url("guess")))))
    }

    fn remove_topic<'a>(&'a self, topic: &'a str) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            self.server.delete_topic(topic).await;
            true
        })
    }
}

#[tokio::test]
async fn kafka_keeps_every_rule_of_a_broker() {
    let Some(rig) = KafkaRig::start().await else { return };
    check(&rig).await;
}

#[tokio::test]
async fn a_process_with_another_number_of_partitions_is_refused() {
    let Some(server) = Kafka::shared().await else { return };
    let topics = vec![server.fresh_topic()];
    let of = |partitions| KafkaConfig { partitions, topics: topics.clone(), ..config(server.url()) };
    KafkaBroker::new(of(16)).connect().await.unwrap();

    let error = KafkaBroker::new(of(8)).connect().await.unwrap_err();

    assert!(matches!(error, BrokerError::Mismatch { .. }) && !error.is_transient(), "{error:?}");
    assert!(error.to_string().contains("16 partitions") && error.to_string().contains('8'), "{error}");
    KafkaBroker::new(of(16)).connect().await.unwrap();
    assert!(!KafkaBroker::new(of(0)).connect().await.unwrap_err().is_transient());
}

#[tokio::test]
async fn an_event_reaches_the_partition_of_its_key_and_one_without_a_key_any() {
    let Some(server) = Kafka::shared().await else { return };
    let broker = KafkaBroker::new(config(server.url()));
    let topic = server.fresh_topic();
    let (keyed, unordered) = (event(&topic, Some("foobar")), event(&topic, None));
    publish(&broker, &keyed).await.unwrap();
    publish(&broker, &unordered).await.unwrap();

    let partitions = broker.partitions(&topic).await.unwrap();

    assert_eq!(partitions, (0..16).map(|partition| partition.to_string()).collect::<Vec<_>>());
    let mut seen = Vec::new();
    for partition in partitions {
        let mut subscription = broker.subscribe(&subscription(&topic, &partition)).await.unwrap();
        let deliveries = subscription.next(10, Duration::from_millis(200)).await.unwrap();
        let ids = deliveries.into_iter().map(|delivery| delivery.event.unwrap().id);
        seen.extend(ids.map(|id| (id, partition.clone())));
    }
    assert_eq!(seen.len(), 2, "{seen:?}");
    assert!(seen.contains(&(keyed.id, "14".to_owned())), "{seen:?}");
}

#[tokio::test]
async fn a_key_is_where_the_java_client_of_kafka_would_put_it() {
    let Some(server) = Kafka::shared().await else { return };
    let (jars, broker, topic) =
        (Kafka::jars().unwrap(), KafkaBroker::new(config(server.url())), server.fresh_topic());
    let mut keys: Vec<String> = (0..500).map(|n| format!("key-{n}")).collect();
    keys.extend((0..300).map(|n| "ä😀x".repeat(n % 9 + 1) + &n.to_string()));
    let mut java = Kafka::java(&jars).unwrap();
    java.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/src/servers/kafka/Partitions.java")).arg("16").args(&keys);
    let output = java.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let chosen: Vec<u16> =
        String::from_utf8(output.stdout).unwrap().lines().map(|line| line.parse().unwrap()).collect();

    let ours: Vec<u16> = keys.iter().map(|key| partition::of_key(key, 16)).collect();
    assert_eq!(chosen, ours);
    // And they are there.
    let events: Vec<_> = keys[480..520].iter().map(|key| event(&topic, Some(key))).collect();
    assert!(publish_all(&broker, &events).await.unwrap().iter().all(is_confirmed));
    for (partition, (low, high)) in (0..).zip(server.offsets(&topic).await) {
        let expected = chosen[480..520].iter().filter(|chosen| **chosen == partition).count();
        assert_eq!(usize::try_from(high - low).unwrap(), expected, "partition {partition}");
    }
}

#[tokio::test]
async fn an_unreachable_server_is_a_transient_error_and_a_wrong_address_is_not() {
    let nobody = KafkaBroker::new(config("kafka://127.0.0.1:1".to_owned()));
    assert!(nobody.connect().await.unwrap_err().is_transient());
    for wrong in ["kafka://127.0.0.1:port", "http://127.0.0.1", "", "kafka+ssl://127.0.0.1:1"] {
        let error = KafkaBroker::new(config(wrong.to_owned())).connect().await.unwrap_err();
        assert!(!error.is_transient(), "{wrong}: {error:?}");
    }
    for name in ["linger.ms", "no.such.setting"] {
        let client = vec![(name.to_owned(), "s3cret".to_owned())];
        let wrong = KafkaBroker::new(KafkaConfig { client, ..config("kafka://127.0.0.1:1".to_owned()) });
        let error = wrong.connect().await.unwrap_err();
        assert!(!error.is_transient() && error.to_string().contains(name), "{error:?}");
        assert!(!format!("{error:?}{wrong:?}").contains("s3cret"), "{error:?}");
    }
}

#[tokio::test]
async fn who_may_not_write_or_read_is_told_so_for_good() {
    let rights = [
        "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users=User:ANONYMOUS",
    ];
    let Some(server) = Kafka::private_with(&rights, 0).await else { return };
    let topic = server.fresh_topic();
    server.create_topic(&topic, 16, &[]).await;
    let stranger = KafkaBroker::new(config(server.guarded_url("s3cret")));

    let published = publish(&stranger, &event(&topic, Some("foobar"))).await.unwrap();

    // Somebody may grant it: the event waits, and is not set aside.
    let Published::TryAgain(error) = published else { panic!("{published:?}") };
    assert!(!error.is_transient() && error.to_string().contains("grant"), "{error}");
    let Err(error) = stranger.subscribe(&subscription(&topic, "14")).await else { panic!("it may read") };
    assert!(!error.is_transient() && error.to_string().contains("grant"), "{error}");
}

#[tokio::test]
async fn a_topic_that_is_missing_is_made_only_where_it_may_be() {
    let Some(server) = Kafka::shared().await else { return };
    let topic = server.fresh_topic();
    let careful = KafkaBroker::new(KafkaConfig { create_topics: false, ..config(server.url()) });

    let published = publish(&careful, &event(&topic, Some("foobar"))).await.unwrap();

    let Published::TryAgain(error) = published else { panic!("{published:?}") };
    assert!(!error.is_transient() && error.to_string().contains("16 partitions"), "{error}");
    // The same broker goes on once it is there.
    server.create_topic(&topic, 16, &[]).await;
    publish_until_confirmed(&careful, &event(&topic, Some("foobar"))).await;
}

#[tokio::test]
async fn a_topic_that_forgets_events_of_a_key_is_refused() {
    let Some(server) = Kafka::shared().await else { return };
    let topic = server.fresh_topic();
    server.create_topic(&topic, 16, &[("cleanup.policy", "compact")]).await;

    let broker = KafkaBroker::new(KafkaConfig { topics: vec![topic], ..config(server.url()) });

    let error = broker.connect().await.unwrap_err();
    assert!(matches!(error, BrokerError::Mismatch { .. }), "{error:?}");
}

#[tokio::test]
async fn what_a_topic_does_not_take_is_refused_alone() {
    let Some(server) = Kafka::shared().await else { return };
    let (broker, topic) = (KafkaBroker::new(config(server.url())), server.fresh_topic());
    // Less than the client puts together, so that events that fit are refused with those beside them.
    server.create_topic(&topic, 16, &[("max.message.bytes", "20000")]).await;
    let mut events: Vec<NewEvent> = keys_of_14(30).map(|key| event(&topic, Some(&key))).collect();
    for event in &mut events {
        pad(event, 5_000);
    }
    pad(&mut events[7], 30_000);

    let published = publish_all(&broker, &events).await.unwrap();

    for (place, published) in published.iter().enumerate() {
        match (place, published) {
            (7, Published::Refused(BrokerError::TooLarge { size, max: 20_000, .. })) => {
                assert!(*size > 30_000);
            }
            (place, Published::Confirmed { .. }) if place != 7 => {}
            other => panic!("{other:?}"),
        }
    }
    let mut subscription = broker.subscribe(&subscription(&topic, "14")).await.unwrap();
    assert_eq!(receive(&mut *subscription, 29).await.len(), 29);
}

#[tokio::test]
async fn only_what_is_acked_without_a_gap_is_never_given_again() {
    let Some(server) = Kafka::shared().await else { return };
    let (broker, topic) = (KafkaBroker::new(config(server.url())), server.fresh_topic());
    let sent = publish_each(&broker, &topic, 6).await;
    let mut leaving = broker.subscribe(&subscription(&topic, "14")).await.unwrap();
    let taken = take(&mut *leaving, 6).await;
    let tokens: Vec<_> = [0, 1, 3, 4].map(|place: usize| taken[place].token).into();
    leaving.ack(&tokens).await.unwrap();
    leaving.flush().await.unwrap();
    drop(leaving);

    let mut next = broker.subscribe(&subscription(&topic, "14")).await.unwrap();

    assert_eq!(receive(&mut *next, 4).await, ids_of(&sent[2..]));
}

/// The lease has passed on, but a process that was paused goes on to ack what it had.
#[tokio::test]
async fn an_older_position_that_a_paused_member_commits_loses_nothing() {
    let Some(server) = Kafka::shared().await else { return };
    let (broker, topic) = (KafkaBroker::new(config(server.url())), server.fresh_topic());
    let mut sent = publish_each(&broker, &topic, 5).await;
    let mut paused = broker.subscribe(&subscription(&topic, "14")).await.unwrap();
    let had = paused.next(1, Duration::from_secs(10)).await.unwrap();
    let mut second = broker.subscribe(&subscription(&topic, "14")).await.unwrap();
    assert_eq!(receive(&mut *second, 5).await, ids_of(&sent));
    second.flush().await.unwrap();
    drop(second);

    paused.ack(&[had[0].token]).await.unwrap();
    paused.flush().await.unwrap();
    drop(paused);
    sent.extend(publish_each(&broker, &topic, 2).await);

    let mut third = broker.subscribe(&subscription(&topic, "14")).await.unwrap();
    assert_eq!(receive(&mut *third, 6).await, ids_of(&sent[1..]));
}

#[tokio::test]
async fn what_the_server_has_removed_is_passed_over() {
    let Some(server) = Kafka::shared().await else { return };
    let (broker, topic) = (KafkaBroker::new(config(server.url())), server.fresh_topic());
    let sent = publish_each(&broker, &topic, 10).await;
    let mut early = broker.subscribe(&subscription(&topic, "14")).await.unwrap();
    assert_eq!(receive(&mut *early, 2).await, ids_of(&sent[..2]));
    early.flush().await.unwrap();
    drop(early);
    server.forget_until(&topic, 14, 5).await;

    let mut next = broker.subscribe(&subscription(&topic, "14")).await.unwrap();
    let other = SubscriptionConfig { consumer: "other".to_owned(), ..subscription(&topic, "14") };
    let mut other = broker.subscribe(&other).await.unwrap();

    assert_eq!(receive(&mut *next, 5).await, ids_of(&sent[5..]));
    assert_eq!(receive(&mut *other, 5).await, ids_of(&sent[5..]));
}

#[tokio::test]
async fn a_topic_that_was_made_anew_is_read_from_its_start() {
    let Some(server) = Kafka::shared().await else { return };
    let (broker, topic) = (KafkaBroker::new(config(server.url())), server.fresh_topic());
    publish_each(&broker, &topic, 5).await;
    let mut reading = broker.subscribe(&subscription(&topic, "14")).await.unwrap();
    receive(&mut *reading, 5).await;

    server.delete_topic(&topic).await;
    let mut newer = Vec::new();
    for _ in 0..2 {
        let event = event(&topic, Some("foobar"));
        publish_until_confirmed(&broker, &event).await;
        newer.push(event);
    }

    // As a consumer does, which subscribes again after an error.
    let mut received = Vec::new();
    while received.len() < 2 {
        match reading.next(10, Duration::from_secs(5)).await {
            Ok(deliveries) => {
                let tokens: Vec<_> = deliveries.iter().map(|delivery| delivery.token).collect();
                reading.ack(&tokens).await.unwrap();
                received.extend(deliveries.into_iter().map(|delivery| delivery.event.unwrap().id));
            }
            Err(error) => {
                assert!(error.is_transient(), "{error:?}");
                reading = broker.subscribe(&subscription(&topic, "14")).await.unwrap();
            }
        }
    }
    assert_eq!(received, ids_of(&newer));
}

#[tokio::test]
async fn what_a_dropped_publish_left_unsent_is_never_sent() {
    let Some(server) = Kafka::private().await else { return };
    let (broker, topic) = (KafkaBroker::new(config(server.url())), server.fresh_topic());
    publish_each(&broker, &topic, 1).await;
    server.kill();
    let given_up = event(&topic, Some("foobar"));
    let call = publish(&broker, &given_up);
    assert!(tokio::time::timeout(Duration::from_millis(300), call).await.is_err(), "nobody could confirm it");
    server.restart().await;

    let after = event(&topic, Some("foobar"));
    publish_until_confirmed(&broker, &after).await;

    assert_eq!(server.count_messages(&topic).await, 2);
}

#[tokio::test]
async fn a_route_that_stalls_and_is_cut_loses_nothing_and_keeps_the_order() {
    let Some(server) = Kafka::private_with(&[], 1).await else { return };
    let route = server.next_route();
    let proxy = Proxy::between(route.advertised, route.listener).await.unwrap();
    let through_proxy = KafkaBroker::new(config(format!("kafka://{}", proxy.address())));
    let (direct, topic) = (KafkaBroker::new(config(server.url())), server.fresh_topic());
    let mut subscription = through_proxy.subscribe(&subscription(&topic, "14")).await.unwrap();
    let mut sent = publish_each(&direct, &topic, 1).await;
    let mut received = receive(&mut *subscription, 1).await;
    assert!(subscription.next(10, Duration::from_millis(100)).await.unwrap().is_empty());
    proxy.stall();
    sent.extend(publish_each(&direct, &topic, 5).await);
    proxy.cut();
    proxy.resume();
    sent.extend(publish_each(&direct, &topic, 5).await);

    received.extend(receive(&mut *subscription, 10).await);

    assert_eq!(received, ids_of(&sent));
}

fn config(servers: String) -> KafkaConfig {
    KafkaConfig { servers, request_timeout: Duration::from_secs(8), ..KafkaConfig::default() }
}

/// Keys of the partition 14 of 16.
fn keys_of_14(count: usize) -> impl Iterator<Item = String> {
    (0..).map(|n| format!("key-{n}")).filter(|key| partition::of_key(key, 16) == 14).take(count)
}

fn pad(event: &mut NewEvent, bytes: usize) {
    let fill = "x".repeat(bytes);
    event.payload = format!(r#"{{"eventType":"tests.happened","eventVersion":1,"fill":"{fill}"}}"#);
}
