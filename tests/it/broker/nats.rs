//! NATS JetStream on every installed server version.

use super::assert_tells_what_is_new;
use super::parts::{
    event, ids_of, is_confirmed, publish, publish_all, publish_each, receive, receive_in_dropped_waits,
    subscription, take,
};
use futures_util::future::BoxFuture;
use outbox::broker::nats::{NatsBroker, NatsConfig};
use outbox::broker::{Broker, BrokerError, Published, Subscription, SubscriptionConfig};
use outbox::conformance::broker::{Rig, Server, check};
use outbox_tests::{
    proxy::Proxy,
    servers::{Nats, certificate},
};
use std::path::Path;
use std::time::{Duration, Instant};

/// What the server calls partition 14 of the consumer of [`subscription`].
const DURABLE: &str = "billing=charge-14";

struct NatsRig {
    server: Nats,
    tls_server: Nats,
    broker: NatsBroker,
}

impl NatsRig {
    async fn start(program: &Path) -> Self {
        let server = Nats::private_with(program, &Nats::GUARDED).await;
        let [certificate, key] =
            ["server.pem", "server.key"].map(|name| certificate(name).display().to_string());
        let tls = ["--tls", "--tlscert", &certificate, "--tlskey", &key];
        let tls_server = Nats::private_with(program, &tls).await;
        let broker = NatsBroker::new(config(address(&server, "s3cret")));
        Self { server, tls_server, broker }
    }
}

fn address(server: &Nats, password: &str) -> String {
    format!("nats://ann:{password}@127.0.0.1:{}", server.port())
}

impl Rig for NatsRig {
    fn name(&self) -> &str {
        "nats"
    }

    fn broker(&self) -> Option<&dyn Broker> {
        Some(&self.broker)
    }

    fn fresh_topic(&self) -> String {
        self.server.fresh_topic()
    }

    fn subscribe<'a>(&'a self, config: &'a SubscriptionConfig) -> BoxFuture<'a, Box<dyn Subscription>> {
        // A connection of its own, as another process has.
        let broker = NatsBroker::new(self::config(address(&self.server, "s3cret")));
        Box::pin(async move { broker.subscribe(config).await.expect("the server is running") })
    }

    fn server(&self) -> Option<&dyn Server> {
        Some(&self.server)
    }

    fn intruder(&self) -> Option<Box<dyn Broker>> {
        Some(Box::new(NatsBroker::new(config(address(&self.server, "guess")))))
    }

    fn over_tls(&self) -> BoxFuture<'_, Option<[Box<dyn Broker>; 2]>> {
        let of = |root_certificates| -> Box<dyn Broker> {
            let servers = format!("tls://127.0.0.1:{}", self.tls_server.port());
            Box::new(NatsBroker::new(NatsConfig { root_certificates, ..config(servers) }))
        };
        let brokers = [of(Some(certificate("authority.pem"))), of(None)];
        Box::pin(std::future::ready(Some(brokers)))
    }

    fn remove_topic<'a>(&'a self, topic: &'a str) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            self.server.remove_topic(topic).await;
            true
        })
    }
}

#[tokio::test]
async fn nats_keeps_every_rule_of_a_broker() {
    for program in Nats::installed() {
        eprintln!("on {}", program.display());
        assert_tells_what_is_new(&check(&NatsRig::start(&program).await).await);
    }
}

#[tokio::test]
async fn a_process_with_another_number_of_partitions_is_refused() {
    for program in Nats::installed() {
        let server = Nats::private_of(&program).await;
        let topics = vec![server.fresh_topic()];
        let of = |partitions| NatsConfig { partitions, topics: topics.clone(), ..config(server.url()) };
        NatsBroker::new(of(16)).connect().await.unwrap();

        let error = NatsBroker::new(of(8)).connect().await.unwrap_err();

        assert!(matches!(error, BrokerError::Mismatch { .. }) && !error.is_transient(), "{error:?}");
        assert!(error.to_string().contains("partitions: 16") && error.to_string().contains("partitions: 8"));
        NatsBroker::new(of(16)).connect().await.unwrap();
    }
}

#[tokio::test]
async fn an_event_reaches_its_subject_and_every_other_partition_stays_empty() {
    let Some(server) = Nats::shared().await else { return };
    let broker = NatsBroker::new(config(server.url()));
    let topic = server.fresh_topic();
    let keyed = event(&topic, Some("foobar"));
    let unordered = event(&topic, None);
    publish(&broker, &keyed).await.unwrap();
    publish(&broker, &unordered).await.unwrap();

    let partitions = broker.partitions(&topic).await.unwrap();

    assert_eq!(partitions.len(), 17);
    for partition in partitions {
        let mut subscription = broker.subscribe(&subscription(&topic, &partition)).await.unwrap();
        let deliveries = subscription.next(10, Duration::from_millis(50)).await.unwrap();
        let ids: Vec<_> = deliveries.into_iter().map(|delivery| delivery.event.unwrap().id).collect();
        match partition.as_str() {
            "14" => assert_eq!(ids, [keyed.id]),
            "any" => assert_eq!(ids, [unordered.id]),
            other => assert!(ids.is_empty(), "partition {other} has {ids:?}"),
        }
    }
}

#[tokio::test]
async fn an_unreachable_server_is_a_transient_error_and_a_wrong_address_is_not() {
    let nobody = NatsBroker::new(config("nats://127.0.0.1:1".to_owned()));
    assert!(nobody.connect().await.unwrap_err().is_transient());
    let malformed = NatsBroker::new(config("nats://127.0.0.1:port".to_owned()));
    assert!(!malformed.connect().await.unwrap_err().is_transient());
}

#[tokio::test]
async fn deliveries_lost_with_a_connection_come_before_newer_ones() {
    let Some(server) = Nats::shared().await else { return };
    let proxy = Proxy::to(server.port()).await;
    let through_proxy = NatsBroker::new(config(format!("nats://{}", proxy.address())));
    let direct = NatsBroker::new(config(server.url()));
    let topic = server.fresh_topic();
    let mut subscription = through_proxy.subscribe(&subscription(&topic, "14")).await.unwrap();
    let mut sent = publish_each(&direct, &topic, 1).await;
    let mut received = receive(&mut *subscription, 1).await;
    // The next request stands at the server when the route dies, so what follows is sent into the void.
    assert!(subscription.next(10, Duration::from_secs(2)).await.unwrap().is_empty());
    let waiting = subscription.next(10, Duration::from_millis(100)).await.unwrap();
    assert!(waiting.is_empty());
    proxy.stall();
    sent.extend(publish_each(&direct, &topic, 5).await);
    proxy.cut();
    proxy.resume();
    sent.extend(publish_each(&direct, &topic, 5).await);

    received.extend(receive(&mut *subscription, 10).await);

    assert_eq!(received, ids_of(&sent));
}

#[tokio::test]
async fn what_a_crashed_consumer_left_between_acks_comes_first() {
    for program in Nats::installed() {
        let server = Nats::private_of(&program).await;
        let broker = NatsBroker::new(config(server.url()));
        let topic = server.fresh_topic();
        let mut sent = publish_each(&broker, &topic, 10).await;
        let mut crashed = broker.subscribe(&subscription(&topic, "14")).await.unwrap();
        let held = take(&mut *crashed, 10).await;
        crashed.ack(&[held[0].token, held[4].token, held[5].token]).await.unwrap();
        crashed.flush().await.unwrap();
        drop(crashed);
        sent.extend(publish_each(&broker, &topic, 2).await);

        let mut next = broker.subscribe(&subscription(&topic, "14")).await.unwrap();
        let received = receive(&mut *next, 9).await;

        let missing: Vec<_> = [1, 2, 3, 6, 7, 8, 9, 10, 11].map(|place| sent[place].id).into();
        assert_eq!(received, missing, "on {}", program.display());
    }
}

#[tokio::test]
async fn a_subscription_that_is_dropped_in_every_wait_still_catches_up() {
    let Some(server) = Nats::shared().await else { return };
    let proxy = Proxy::to(server.port()).await;
    let broker = NatsBroker::new(config(server.url()));
    let slow = NatsBroker::new(config(format!("nats://{}", proxy.address())));
    let topic = server.fresh_topic();
    let mut sent = publish_each(&broker, &topic, 1).await;
    let mut crashed = broker.subscribe(&subscription(&topic, "14")).await.unwrap();
    assert_eq!(crashed.next(1, Duration::from_secs(10)).await.unwrap().len(), 1);
    drop(crashed);
    sent.extend(publish_each(&broker, &topic, 1).await);

    let mut next = slow.subscribe(&subscription(&topic, "14")).await.unwrap();
    // Every answer takes longer than a wait.
    proxy.delay(Duration::from_millis(25));

    let received = receive_in_dropped_waits(&mut *next, 2).await;

    assert_eq!(received, ids_of(&sent));
}

/// G7: a delivery to a request that was given up would come again only after the ack wait.
#[tokio::test]
async fn what_is_delivered_to_a_request_that_came_late_to_a_slow_server_is_not_lost() {
    let Some(server) = Nats::shared().await else { return };
    let proxy = Proxy::to(server.port()).await;
    let slow = NatsBroker::new(config(format!("nats://{}", proxy.address())));
    let direct = NatsBroker::new(config(server.url()));
    let topic = server.fresh_topic();
    let config = SubscriptionConfig { ack_wait: Duration::from_secs(300), ..subscription(&topic, "14") };
    let mut subscription = slow.subscribe(&config).await.unwrap();
    assert!(subscription.next(1, Duration::from_millis(300)).await.unwrap().is_empty());
    // A request is under way for longer than it is waited for after its end.
    proxy.delay(Duration::from_millis(400));
    let mut sent = Vec::new();
    let mut received = Vec::new();
    for _ in 0..10 {
        sent.extend(publish_each(&direct, &topic, 1).await);
        for delivery in subscription.next(10, Duration::from_millis(130)).await.unwrap() {
            subscription.ack(&[delivery.token]).await.unwrap();
            received.push(delivery.event.unwrap().id);
        }
    }
    let missing = sent.len() - received.len();
    received.extend(receive(&mut *subscription, missing).await);

    assert_eq!(received, ids_of(&sent));
}

/// R19: what was acked does not come again, and what was not does.
#[tokio::test]
async fn a_durable_that_somebody_removed_is_made_again_behind_what_was_acked() {
    for program in Nats::installed() {
        let server = Nats::private_of(&program).await;
        let broker = NatsBroker::new(config(server.url()));
        let topic = server.fresh_topic();
        let mut sent = publish_each(&broker, &topic, 4).await;
        let mut subscription = broker.subscribe(&subscription(&topic, "14")).await.unwrap();
        receive(&mut *subscription, 3).await;
        subscription.flush().await.unwrap();

        assert_eq!(server.remove_durables(&topic, "billing=charge").await, 1);
        sent.extend(publish_each(&broker, &topic, 1).await);

        let received = receive(&mut *subscription, 2).await;
        assert_eq!(received, ids_of(&sent[3..]), "on {}", program.display());
    }
}

/// R21: a server that gets more than it takes ends the connection, and with it what others have under way.
#[tokio::test]
async fn a_limit_that_is_lowered_under_work_refuses_what_is_larger_and_nothing_else() {
    let programs = Nats::installed();
    let newest = programs.iter().skip(1).last().cloned().unwrap_or_default();
    for program in programs {
        let dir = tempfile::tempdir().unwrap();
        let settings = dir.path().join("nats.conf");
        std::fs::write(&settings, "jetstream: enabled\nmax_payload: 500000").unwrap();
        let server = Nats::private_with(&program, &["-c", settings.to_str().unwrap()]).await;
        let broker = NatsBroker::new(config(server.url()));
        let topic = server.fresh_topic();
        let mut events: Vec<_> = (0..100).map(|n| event(&topic, Some(&format!("key-{n}")))).collect();
        events[50].payload =
            format!(r#"{{"eventType":"tests.happened","eventVersion":1,"pad":"{:30000}"}}"#, "");
        publish(&broker, &events[50]).await.unwrap();

        std::fs::write(&settings, "jetstream: enabled\nmax_payload: 20000").unwrap();
        // Version 2.9 reads no settings again where its folder is named on the command line.
        if program == newest {
            server.reload()
        } else {
            server.restart().await
        }

        let started = Instant::now();
        loop {
            let published = publish_all(&broker, &events).await;
            let is_refused = |published: &Published| {
                matches!(published, Published::Refused(BrokerError::TooLarge { max: 20_000, .. }))
            };
            let large = published.as_ref().map(|published| &published[50]);
            if large.is_ok_and(is_refused) {
                let confirmed = published.iter().flatten().filter(|one| is_confirmed(one));
                assert_eq!(confirmed.count(), 99, "on {}: {published:?}", program.display());
                break;
            }
            // Until the server has read its settings, and the client has heard of it.
            assert!(started.elapsed() < Duration::from_secs(30), "on {}: {large:?}", program.display());
            // An answer that needs no server gives the client no turn on this thread to reach one.
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

#[tokio::test]
async fn a_message_that_is_no_event_is_malformed_and_keeps_its_bytes() {
    let Some(server) = Nats::shared().await else { return };
    let broker = NatsBroker::new(config(server.url()));
    let topic = server.fresh_topic();
    let mut foreign = event(&topic, Some("foobar"));
    foreign.payload = "[1, 2]".to_owned();
    publish(&broker, &foreign).await.unwrap();

    let mut subscription = broker.subscribe(&subscription(&topic, "14")).await.unwrap();
    let deliveries = subscription.next(1, Duration::from_secs(10)).await.unwrap();

    let malformed = deliveries[0].event.as_ref().unwrap_err();
    assert_eq!(malformed.envelope.payload, foreign.payload);
    assert_eq!(malformed.envelope.key, foreign.key);
    assert!(malformed.problem.contains("not a JSON object"), "{}", malformed.problem);
}

/// The first answer that a restarted server gives about a durable is as old as its start.
#[tokio::test(flavor = "multi_thread")]
async fn deliveries_lost_after_a_restart_of_the_server_come_before_newer_ones() {
    for program in Nats::installed() {
        let server = Nats::private_of(&program).await;
        let (topic, broker) = (server.fresh_topic(), NatsBroker::new(config(server.url())));
        publish_each(&broker, &topic, 1).await;
        let mut subscription = broker.subscribe(&subscription(&topic, "14")).await.unwrap();
        receive(&mut *subscription, 1).await;
        subscription.flush().await.unwrap();
        // The open request for deliveries comes to its end, so that nothing fails with the server.
        tokio::time::sleep(Duration::from_secs(1)).await;
        server.restart().await;
        let started = Instant::now();
        while broker.connect().await.is_err() {
            assert!(started.elapsed() < Duration::from_secs(30), "it does not connect again");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let mut sent = publish_each(&broker, &topic, 3).await;
        server.take_raw(&topic, DURABLE, 3).await;
        sent.extend(publish_each(&broker, &topic, 2).await);

        let received = receive(&mut *subscription, 5).await;

        assert_eq!(received, ids_of(&sent), "on {}", program.display());
    }
}

/// What another process acks is not waited for any more, though it is held here.
#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_lost_beside_one_that_another_process_acks_comes_before_newer_ones() {
    let Some(server) = Nats::shared().await else { return };
    let (topic, broker) = (server.fresh_topic(), NatsBroker::new(config(server.url())));
    publish_each(&broker, &topic, 3).await;
    let mut subscription = broker.subscribe(&subscription(&topic, "14")).await.unwrap();
    take(&mut *subscription, 3).await;
    // The open request for deliveries comes to its end.
    tokio::time::sleep(Duration::from_secs(1)).await;
    server.ack_raw(&topic, DURABLE, 3).await;
    let mut sent = publish_each(&broker, &topic, 1).await;
    server.take_raw(&topic, DURABLE, 1).await;
    sent.extend(publish_each(&broker, &topic, 1).await);

    let received = receive(&mut *subscription, 2).await;

    assert_eq!(received, ids_of(&sent));
}

/// The server looks at its deliveries when it has time, and may find the ack wait set right again.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_did_not_repeat_in_time_is_asked_again_before_the_ack_wait() {
    let Some(server) = Nats::shared().await else { return };
    let (topic, broker) = (server.fresh_topic(), NatsBroker::new(config(server.url())));
    let sent = publish_each(&broker, &topic, 1).await;
    let config = subscription(&topic, "14");
    let mut receiving = broker.subscribe(&config).await.unwrap();
    server.take_raw(&topic, DURABLE, 1).await;
    let started = Instant::now();
    let disturb = async {
        // Each declares the durable with the whole ack wait.
        while started.elapsed() < Duration::from_secs(2) {
            broker.subscribe(&config).await.unwrap();
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };

    let (received, ()) = tokio::join!(receive(&mut *receiving, 1), disturb);

    assert_eq!(received, ids_of(&sent));
    assert!(started.elapsed() < config.ack_wait - Duration::from_secs(5), "took {:?}", started.elapsed());
}

/// What the server keeps back for longer than twice the ack wait is still older than what comes meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_that_the_server_keeps_back_comes_before_newer_ones_however_long_it_takes() {
    for program in Nats::installed() {
        let server = Nats::private_of(&program).await;
        let (topic, broker) = (server.fresh_topic(), NatsBroker::new(config(server.url())));
        let config = SubscriptionConfig { ack_wait: Duration::from_secs(1), ..subscription(&topic, "14") };
        let mut sent = publish_each(&broker, &topic, 2).await;
        let mut receiving = broker.subscribe(&config).await.unwrap();
        server.take_raw(&topic, DURABLE, 2).await;
        server.nack_raw(&topic, DURABLE, 1, Duration::from_secs(6)).await;
        sent.extend(publish_each(&broker, &topic, 1).await);

        let received = receive(&mut *receiving, 3).await;

        assert_eq!(received, ids_of(&sent), "on {}", program.display());
    }
}

/// G7: whatever the server was told by somebody else.
#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_that_the_server_would_keep_back_for_long_is_asked_for_by_its_place() {
    const KEPT_BACK: Duration = Duration::from_secs(120);
    for program in Nats::installed() {
        let server = Nats::private_of(&program).await;
        let (topic, broker) = (server.fresh_topic(), NatsBroker::new(config(server.url())));
        let sent = publish_each(&broker, &topic, 3).await;
        let config = SubscriptionConfig { ack_wait: Duration::from_secs(60), ..subscription(&topic, "14") };
        let mut receiving = broker.subscribe(&config).await.unwrap();
        server.take_raw(&topic, DURABLE, 2).await;
        server.nack_raw(&topic, DURABLE, 1, KEPT_BACK).await;

        // Within its patience of 30 s.
        let received = receive(&mut *receiving, 3).await;

        assert_eq!(received, ids_of(&sent), "on {}", program.display());
    }
}

/// Only one of two is missing, and the other one's ack by another process makes the number of those awaited right.
#[tokio::test(flavor = "multi_thread")]
async fn an_ack_by_another_process_makes_up_for_no_delivery_that_is_missing() {
    for program in Nats::installed() {
        let server = Nats::private_of(&program).await;
        let (topic, broker) = (server.fresh_topic(), NatsBroker::new(config(server.url())));
        let config = subscription(&topic, "14");
        let mut sent = publish_each(&broker, &topic, 3).await;
        let mut receiving = broker.subscribe(&config).await.unwrap();
        server.take_raw(&topic, DURABLE, 3).await;
        server.nack_raw(&topic, DURABLE, 1, Duration::from_secs(36)).await;
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs(2) {
            assert!(receiving.next(1, Duration::from_millis(100)).await.unwrap().is_empty());
        }
        server.ack_raw(&topic, DURABLE, 2).await;
        sent.extend(publish_each(&broker, &topic, 1).await);

        let received = receive(&mut *receiving, 3).await;

        // What was acked elsewhere may come here too.
        let expected = ids_of(&sent);
        let is_expected = received == expected[..3] || received == [expected[0], expected[2], expected[3]];
        assert!(is_expected, "on {}: {received:?} of {expected:?}", program.display());
    }
}

/// A server that crashed may have stored that a message was removed, and not that no ack of it is awaited any more.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_gone_from_the_stream_is_waited_for_no_longer() {
    for program in Nats::installed() {
        let server = Nats::private_of(&program).await;
        let (topic, broker) = (server.fresh_topic(), NatsBroker::new(config(server.url())));
        // What is removed stands in the middle of the stream.
        publish(&broker, &event(&topic, None)).await.unwrap();
        let mut sent = publish_each(&broker, &topic, 3).await;
        broker.subscribe(&subscription(&topic, "14")).await.unwrap();
        server.take_raw(&topic, DURABLE, 3).await;
        let before = server.stored_durable(&topic, DURABLE, 3).await;
        server.delete_raw(&topic, 2).await;
        server.restart_with_durable(&topic, DURABLE, &before).await;
        let broker = NatsBroker::new(config(server.url()));
        sent.extend(publish_each(&broker, &topic, 1).await);
        let mut receiving = broker.subscribe(&subscription(&topic, "14")).await.unwrap();

        let received = receive(&mut *receiving, 3).await;

        assert_eq!(received, ids_of(&sent[1..]), "on {}", program.display());
    }
}

fn config(servers: String) -> NatsConfig {
    NatsConfig { servers, request_timeout: Duration::from_secs(2), ..NatsConfig::default() }
}
