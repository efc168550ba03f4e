//! Redis Streams on a real server.

use super::assert_tells_what_is_new;
use super::parts::{
    event, ids_of, is_confirmed, publish, publish_all, publish_each, receive, receive_in_dropped_waits,
    subscription, take,
};
use futures_util::future::BoxFuture;
use outbox::broker::redis::{RedisBroker, RedisConfig};
use outbox::broker::{Broker, BrokerError, Published, Subscription, SubscriptionConfig};
use outbox::conformance::broker::{Rig, Server, check};
use outbox::envelope::NewEvent;
use outbox_tests::{
    proxy::Proxy,
    servers::{Redis, certificate},
};
use redis_client::cmd;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

struct RedisRig {
    server: Redis,
    broker: RedisBroker,
}

impl RedisRig {
    async fn start() -> Option<Self> {
        let server = Redis::private_with(&["--requirepass", "s3cret"]).await?;
        let broker = RedisBroker::new(config(address(&server, "s3cret")));
        Some(Self { server, broker })
    }
}

fn address(server: &Redis, password: &str) -> String {
    format!("redis://:{password}@127.0.0.1:{}", server.port())
}

impl Rig for RedisRig {
    fn name(&self) -> &str {
        "redis"
    }

    fn broker(&self) -> Option<&dyn Broker> {
        Some(&self.broker)
    }

    fn fresh_topic(&self) -> String {
        self.server.fresh_topic()
    }

    fn subscribe<'a>(&'a self, config: &'a SubscriptionConfig) -> BoxFuture<'a, Box<dyn Subscription>> {
        // A connection of its own, as another process has.
        let broker = RedisBroker::new(self::config(address(&self.server, "s3cret")));
        Box::pin(async move { broker.subscribe(config).await.expect("the server is running") })
    }

    fn server(&self) -> Option<&dyn Server> {
        Some(self)
    }

    fn intruder(&self) -> Option<Box<dyn Broker>> {
        Some(Box::new(RedisBroker::new(config(address(&self.server, "guess")))))
    }

    fn over_tls(&self) -> BoxFuture<'_, Option<[Box<dyn Broker>; 2]>> {
        let of = |root_certificates| -> Box<dyn Broker> {
            let server = self.server.tls_url().replace("://", "://:s3cret@");
            Box::new(RedisBroker::new(RedisConfig { root_certificates, ..config(server) }))
        };
        let brokers = [of(Some(certificate("authority.pem"))), of(None)];
        Box::pin(std::future::ready(Some(brokers)))
    }

    fn remove_topic<'a>(&'a self, topic: &'a str) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            let client = redis_client::Client::open(address(&self.server, "s3cret")).unwrap();
            let mut connection = client.get_multiplexed_async_connection().await.unwrap();
            let keys: Vec<String> =
                cmd("KEYS").arg(format!("{topic}:*")).query_async(&mut connection).await.unwrap();
            cmd("DEL").arg(keys).exec_async(&mut connection).await.unwrap();
            true
        })
    }
}

impl Server for RedisRig {
    fn kill(&self) {
        self.server.kill();
    }

    fn restart(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            self.server.restart().await;
            // With a password it answers before it has loaded its file.
            let client = redis_client::Client::open(address(&self.server, "s3cret")).unwrap();
            let mut connection = client.get_multiplexed_async_connection().await.unwrap();
            while cmd("PING").exec_async(&mut connection).await.is_err() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        })
    }

    fn pause(&self) {
        self.server.pause();
    }

    fn resume(&self) {
        self.server.resume();
    }
}

#[tokio::test]
async fn redis_keeps_every_rule_of_a_broker() {
    let Some(rig) = RedisRig::start().await else { return };
    assert_tells_what_is_new(&check(&rig).await);
}

#[tokio::test]
async fn a_process_with_another_number_of_partitions_is_refused() {
    let Some(server) = Redis::shared().await else { return };
    let topics = vec![server.fresh_topic()];
    let of = |partitions| RedisConfig { partitions, topics: topics.clone(), ..config(server.url()) };
    RedisBroker::new(of(16)).connect().await.unwrap();

    let error = RedisBroker::new(of(8)).connect().await.unwrap_err();

    assert!(matches!(error, BrokerError::Mismatch { .. }) && !error.is_transient(), "{error:?}");
    assert!(error.to_string().contains("partitions: 16") && error.to_string().contains("partitions: 8"));
    RedisBroker::new(of(16)).connect().await.unwrap();
    assert!(!RedisBroker::new(of(0)).connect().await.unwrap_err().is_transient());
}

#[tokio::test]
async fn an_event_reaches_its_stream_and_every_other_partition_stays_empty() {
    let Some(server) = Redis::shared().await else { return };
    let broker = RedisBroker::new(config(server.url()));
    let topic = server.fresh_topic();
    let (keyed, unordered) = (event(&topic, Some("foobar")), event(&topic, None));
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
    let nobody = RedisBroker::new(config("redis://127.0.0.1:1".to_owned()));
    assert!(nobody.connect().await.unwrap_err().is_transient());
    for malformed in ["redis://127.0.0.1:port", "http://127.0.0.1", ""] {
        let error = RedisBroker::new(config(malformed.to_owned())).connect().await.unwrap_err();
        assert!(!error.is_transient(), "{malformed}: {error:?}");
    }
}

#[tokio::test]
async fn who_may_not_write_or_come_in_is_told_so_for_good() {
    let Some(server) = Redis::private_with(&["--requirepass", "s3cret"]).await else { return };
    let topic = server.fresh_topic();
    let without = RedisBroker::new(config(server.url()));
    assert!(!without.connect().await.unwrap_err().is_transient());
    let owner = redis_client::Client::open(address(&server, "s3cret")).unwrap();
    let mut owner = owner.get_multiplexed_async_connection().await.unwrap();
    let reader = ["SETUSER", "reader", "on", ">pw", "~*", "+@all", "-xadd"];
    cmd("ACL").arg(&reader).exec_async(&mut owner).await.unwrap();

    let reading = RedisBroker::new(config(format!("redis://reader:pw@127.0.0.1:{}", server.port())));
    let published = publish(&reading, &event(&topic, Some("foobar"))).await.unwrap();

    // Somebody may grant it: the event waits, and is not set aside.
    let Published::TryAgain(error) = published else { panic!("{published:?}") };
    assert!(!error.is_transient() && error.to_string().contains("ACL SETUSER"), "{error}");
}

/// As the documentation of the broker names them.
#[tokio::test]
async fn the_rights_of_a_relay_and_of_a_consumer_are_enough() {
    let Some(server) = Redis::private().await else { return };
    let topic = server.fresh_topic();
    let relay = "+xadd +setnx +get +eval +exists +time +xtrim +xinfo +xpending";
    let consumer = "+setnx +get +xgroup +xreadgroup +xautoclaim +xpending +xack +eval +xinfo";
    let as_user = async |name: &str, rights: &str| {
        let mut grant = cmd("ACL");
        grant
            .arg(&["SETUSER", name, "on", ">pw", &format!("~{topic}:*")])
            .arg(rights.split(' ').collect::<Vec<_>>());
        server.run::<()>(&grant).await;
        RedisBroker::new(config(format!("redis://{name}:pw@127.0.0.1:{}", server.port())))
    };
    let (relay, consumer) = (as_user("relay", relay).await, as_user("consumer", consumer).await);
    relay.connect().await.unwrap();
    consumer.connect().await.unwrap();

    let sent = publish_each(&relay, &topic, 3).await;
    for _ in 0..2 {
        let mut crashed = consumer.subscribe(&subscription(&topic, "14")).await.unwrap();
        assert!(!crashed.next(1, Duration::from_secs(10)).await.unwrap().is_empty());
    }
    let mut subscription = consumer.subscribe(&subscription(&topic, "14")).await.unwrap();
    assert_eq!(receive(&mut *subscription, 3).await, ids_of(&sent));

    // What failed of the scripts is only told in the log.
    let denied: Vec<redis_client::Value> = server.run(cmd("ACL").arg("LOG")).await;
    let denied = format!("{denied:?}");
    assert!(!denied.contains("xtrim") && !denied.contains("eval") && !denied.contains("xgroup"), "{denied}");
}

/// R20: what a server throws away is no broker.
#[tokio::test]
async fn a_server_that_evicts_topics_is_refused_at_the_start() {
    let options = ["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"];
    let Some(server) = Redis::private_with(&options).await else { return };

    let error = RedisBroker::new(config(server.url())).connect().await.unwrap_err();

    assert!(!error.is_transient() && error.to_string().contains("noeviction"), "{error}");
}

#[tokio::test]
async fn a_full_server_is_down_until_it_has_memory_again() {
    let Some(server) = Redis::private().await else { return };
    let (broker, topic) = (RedisBroker::new(config(server.url())), server.fresh_topic());
    let event = event(&topic, Some("foobar"));
    publish(&broker, &event).await.unwrap();
    let limit = |bytes| cmd("CONFIG").arg("SET").arg("maxmemory").arg(bytes).take();
    server.run::<()>(&limit(1)).await;

    // The whole batch fails: that costs no event an attempt.
    let error = publish(&broker, &event).await.unwrap_err();

    assert!(error.is_transient(), "{error:?}");
    server.run::<()>(&limit(0)).await;
    assert!(matches!(publish(&broker, &event).await.unwrap(), Published::Confirmed { .. }));
}

#[tokio::test]
async fn another_value_at_the_key_of_a_stream_is_named_and_stops_no_other_event() {
    let Some(server) = Redis::shared().await else { return };
    let (broker, topic) = (RedisBroker::new(config(server.url())), server.fresh_topic());
    server.run::<()>(cmd("SET").arg(format!("{topic}:14")).arg("text")).await;

    let published = publish(&broker, &event(&topic, Some("foobar"))).await.unwrap();

    let key = format!("{topic}:14");
    let names_it = |error: &BrokerError| matches!(error, BrokerError::Mismatch { name, .. } if *name == key);
    assert!(matches!(&published, Published::TryAgain(error) if names_it(error)), "{published:?}");
    let unordered = publish(&broker, &event(&topic, None)).await.unwrap();
    assert!(matches!(unordered, Published::Confirmed { .. }));
    let error = broker.subscribe(&subscription(&topic, "14")).await.err().unwrap();
    assert!(names_it(&error) && !error.is_transient(), "{error:?}");
}

/// G2: a batch goes out in several pipelines.
#[tokio::test]
async fn the_answers_to_a_large_batch_are_those_of_its_events() {
    let Some(server) = Redis::shared().await else { return };
    let broker = RedisBroker::new(config(server.url()));
    let (topic, spoilt) = (server.fresh_topic(), server.fresh_topic());
    server.run::<()>(cmd("SET").arg(format!("{spoilt}:14")).arg("text")).await;
    // The pattern of one pipeline is that of no other.
    let is_spoilt = |n: usize| (n * n % 911).is_multiple_of(5);
    let topic_of = |n| if is_spoilt(n) { &spoilt } else { &topic };
    let events: Vec<NewEvent> = (0..1_100).map(|n| event(topic_of(n), Some("foobar"))).collect();

    let published = publish_all(&broker, &events).await.unwrap();

    let refused: Vec<bool> = published.iter().map(|published| !is_confirmed(published)).collect();
    assert_eq!(refused, (0..events.len()).map(is_spoilt).collect::<Vec<bool>>());
}

/// R14: what others wrote into the stream.
#[tokio::test]
async fn an_entry_that_is_no_event_is_malformed_and_the_next_one_flows() {
    let Some(server) = Redis::shared().await else { return };
    let (broker, topic) = (RedisBroker::new(config(server.url())), server.fresh_topic());
    let stream = format!("{topic}:14");
    server.run::<String>(cmd("XADD").arg(&stream).arg("*").arg("who").arg("me")).await;
    server.run::<String>(cmd("XADD").arg(&stream).arg("*").arg("ce_id").arg(&[0xff_u8][..])).await;
    server.run::<String>(cmd("XADD").arg(&stream).arg("*").arg(&[0_u8][..]).arg(&[0_u8, 0xff][..])).await;
    let good = event(&topic, Some("foobar"));
    publish(&broker, &good).await.unwrap();

    let mut subscription = broker.subscribe(&subscription(&topic, "14")).await.unwrap();
    let deliveries = take(&mut *subscription, 4).await;

    let malformed: Vec<_> =
        deliveries[..3].iter().map(|delivery| delivery.event.as_ref().unwrap_err()).collect();
    assert_eq!(malformed[0].envelope.headers["who"], "me");
    assert!(malformed[1].problem.contains("`id` is not UTF-8"), "{}", malformed[1].problem);
    let ids: HashSet<_> = malformed.iter().map(|malformed| malformed.envelope.id).collect();
    assert_eq!(ids.len(), 3);
    assert_eq!(deliveries[3].event.as_ref().unwrap().id, good.id);
}

/// R22: entries that were trimmed or deleted while somebody held them.
#[tokio::test]
async fn entries_that_are_gone_while_pending_stop_nothing_and_leave_no_trace() {
    let Some(server) = Redis::shared().await else { return };
    let (broker, topic) = (RedisBroker::new(config(server.url())), server.fresh_topic());
    let stream = format!("{topic}:14");
    let sent = publish_each(&broker, &topic, 8).await;
    let mut crashed = broker.subscribe(&subscription(&topic, "14")).await.unwrap();
    take(&mut *crashed, 8).await;
    drop(crashed);
    let entries: Vec<(String, Vec<(String, String)>)> =
        server.run(cmd("XRANGE").arg(&stream).arg("-").arg("+")).await;
    server.run::<()>(cmd("XTRIM").arg(&stream).arg("MINID").arg(&entries[2].0)).await;
    server.run::<()>(cmd("XDEL").arg(&stream).arg(&entries[5].0)).await;

    let mut next = broker.subscribe(&subscription(&topic, "14")).await.unwrap();
    let received = receive(&mut *next, 5).await;

    assert_eq!(received, [2, 3, 4, 6, 7].map(|place| sent[place].id));
    let newer = publish_each(&broker, &topic, 1).await;
    assert_eq!(receive(&mut *next, 1).await, [newer[0].id]);
    assert_eq!(pending(server, &stream).await, 0);
}

/// The lease has passed on, but the server still serves a read that a paused process left behind.
#[tokio::test]
async fn what_a_paused_member_was_given_comes_before_newer_entries() {
    let Some(server) = Redis::shared().await else { return };
    let (broker, topic) = (RedisBroker::new(config(server.url())), server.fresh_topic());
    let stream = format!("{topic}:14");
    let mut subscription = broker.subscribe(&subscription(&topic, "14")).await.unwrap();
    let mut paused = server.connect().await.unwrap();
    let take = ["GROUP", "billing.charge", "paused", "COUNT", "1", "STREAMS", &stream, ">"];

    // While this side waits at the server, it gets the first; then the other one gets the second.
    let mut sent = publish_each(&broker, &topic, 1).await;
    let mut received = receive(&mut *subscription, 1).await;
    sent.extend(publish_each(&broker, &topic, 1).await);
    cmd("XREADGROUP").arg(&take).exec_async(&mut paused).await.unwrap();
    sent.extend(publish_each(&broker, &topic, 3).await);
    received.extend(receive(&mut *subscription, 4).await);

    assert_eq!(received, ids_of(&sent));
    assert_eq!(pending(server, &stream).await, 0);
}

#[tokio::test]
async fn members_that_are_gone_are_removed_and_none_that_holds_something() {
    let Some(server) = Redis::shared().await else { return };
    let (broker, topic) = (RedisBroker::new(config(server.url())), server.fresh_topic());
    publish_each(&broker, &topic, 2).await;
    for _ in 0..5 {
        let mut crashed = broker.subscribe(&subscription(&topic, "14")).await.unwrap();
        assert!(!crashed.next(1, Duration::from_secs(10)).await.unwrap().is_empty());
    }
    let members: Vec<HashMap<String, redis_client::Value>> =
        server.run(cmd("XINFO").arg("CONSUMERS").arg(format!("{topic}:14")).arg("billing.charge")).await;
    assert_eq!(members.len(), 1, "{members:?}");
}

#[tokio::test]
async fn a_group_or_a_stream_that_somebody_removed_is_made_again_and_read_from_its_start() {
    let Some(server) = Redis::shared().await else { return };
    let (broker, topic) = (RedisBroker::new(config(server.url())), server.fresh_topic());
    let stream = format!("{topic}:14");
    let sent = publish_each(&broker, &topic, 2).await;
    let mut subscription = broker.subscribe(&subscription(&topic, "14")).await.unwrap();
    receive(&mut *subscription, 2).await;
    // A read waits at the server when the group goes.
    assert!(subscription.next(1, Duration::from_millis(50)).await.unwrap().is_empty());

    server.run::<()>(cmd("XGROUP").arg(&["DESTROY", &stream, "billing.charge"])).await;
    assert_eq!(receive(&mut *subscription, 2).await, ids_of(&sent));
    assert!(subscription.next(1, Duration::from_millis(50)).await.unwrap().is_empty());
    server.run::<()>(cmd("DEL").arg(&stream)).await;
    let newer = publish_each(&broker, &topic, 1).await;
    assert_eq!(receive(&mut *subscription, 1).await, ids_of(&newer));
}

#[tokio::test]
async fn deliveries_lost_with_a_connection_come_before_newer_ones() {
    let Some(server) = Redis::shared().await else { return };
    let proxy = Proxy::to(server.port()).await;
    let through_proxy = RedisBroker::new(config(format!("redis://{}", proxy.address())));
    let direct = RedisBroker::new(config(server.url()));
    let topic = server.fresh_topic();
    let mut subscription = through_proxy.subscribe(&subscription(&topic, "14")).await.unwrap();
    let mut sent = publish_each(&direct, &topic, 1).await;
    let mut received = receive(&mut *subscription, 1).await;
    // A read waits at the server when the route dies, so what follows is sent into the void.
    assert!(subscription.next(10, Duration::from_millis(100)).await.unwrap().is_empty());
    proxy.stall();
    sent.extend(publish_each(&direct, &topic, 5).await);
    proxy.cut();
    proxy.resume();
    sent.extend(publish_each(&direct, &topic, 5).await);

    received.extend(receive(&mut *subscription, 10).await);

    assert_eq!(received, ids_of(&sent));
}

#[tokio::test]
async fn a_subscription_that_is_dropped_in_every_wait_still_catches_up() {
    let Some(server) = Redis::shared().await else { return };
    let (broker, topic) = (RedisBroker::new(config(server.url())), server.fresh_topic());
    let mut sent = publish_each(&broker, &topic, 1).await;
    let mut crashed = broker.subscribe(&subscription(&topic, "14")).await.unwrap();
    assert_eq!(crashed.next(1, Duration::from_secs(10)).await.unwrap().len(), 1);
    drop(crashed);
    sent.extend(publish_each(&broker, &topic, 1).await);

    let mut next = broker.subscribe(&subscription(&topic, "14")).await.unwrap();

    let received = receive_in_dropped_waits(&mut *next, 2).await;

    assert_eq!(received, ids_of(&sent));
}

#[tokio::test]
async fn a_stream_is_trimmed_of_what_every_group_has_handled_and_of_nothing_else() {
    let Some(server) = Redis::shared().await else { return };
    let topic = server.fresh_topic();
    let stream = format!("{topic}:14");
    let kept = RedisConfig { retention: Duration::ZERO, ..config(server.url()) };
    // Each process trims a stream when it first publishes to it.
    let publish_as_another = async |config: &RedisConfig| {
        publish(&RedisBroker::new(config.clone()), &event(&topic, Some("foobar"))).await.unwrap();
    };
    let broker = RedisBroker::new(config(server.url()));
    let sent = publish_each(&broker, &topic, 600).await;
    let mut slow = broker.subscribe(&subscription(&topic, "14")).await.unwrap();
    receive(&mut *slow, 300).await;
    let quick = SubscriptionConfig { consumer: "quick".to_owned(), ..subscription(&topic, "14") };
    let mut quick = broker.subscribe(&quick).await.unwrap();
    receive(&mut *quick, 600).await;
    let length = async || server.run::<u64>(cmd("XLEN").arg(&stream)).await;
    assert_eq!(length().await, 600);

    publish_as_another(&kept).await;

    // The server trims whole blocks of entries.
    let left = length().await;
    assert!(
        (301..450).contains(&left),
        "{left} entries are left of 600 and 1, of which 301 are not handled by all"
    );
    drop(slow);
    let mut slow = broker.subscribe(&subscription(&topic, "14")).await.unwrap();
    assert_eq!(receive(&mut *slow, 200).await, ids_of(&sent[300..500]));
    publish_as_another(&RedisConfig { unread_max: Duration::ZERO, ..kept }).await;
    let left = length().await;
    assert!(left < 100, "{left} entries are left that nobody waits for any longer");
}

/// How many entries the group of the tests has without an ack.
async fn pending(server: &Redis, stream: &str) -> u64 {
    let (count, ..): (u64, redis_client::Value, redis_client::Value, redis_client::Value) =
        server.run(cmd("XPENDING").arg(stream).arg("billing.charge")).await;
    count
}

fn config(server: String) -> RedisConfig {
    RedisConfig { server, request_timeout: Duration::from_secs(2), ..RedisConfig::default() }
}
