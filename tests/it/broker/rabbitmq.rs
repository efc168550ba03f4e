//! RabbitMQ on a real server.

use super::parts::{
    event, ids_of, publish, publish_all, publish_each, publish_until_confirmed, receive,
    receive_in_dropped_waits, subscription, take,
};
use futures_util::future::BoxFuture;
use lapin::options::{
    BasicGetOptions, ExchangeDeclareOptions, ExchangeDeleteOptions, QueueBindOptions, QueueDeclareOptions,
    QueueDeleteOptions,
};
use lapin::types::{AMQPValue, FieldTable};
use lapin::{BasicProperties, ExchangeKind};
use outbox::broker::{Broker, BrokerError, Published, Subscription, SubscriptionConfig};
use outbox::conformance::broker::{Rig, Server, check};
use outbox::envelope::NewEvent;
use outbox::rabbitmq::{RabbitMqBroker, RabbitMqConfig};
use outbox_tests::{
    proxy::Proxy,
    servers::{RabbitMq, certificate},
};
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// The partition of the key `foobar`.
const PARTITION: &str = "14";

struct RabbitMqRig {
    server: RabbitMq,
    broker: RabbitMqBroker,
}

impl RabbitMqRig {
    async fn start() -> Option<Self> {
        let server = RabbitMq::private().await?;
        let broker = RabbitMqBroker::new(config(server.url()));
        Some(Self { server, broker })
    }
}

impl Rig for RabbitMqRig {
    fn name(&self) -> &str {
        "rabbitmq"
    }

    fn broker(&self) -> Option<&dyn Broker> {
        Some(&self.broker)
    }

    fn fresh_topic(&self) -> String {
        self.server.fresh_topic()
    }

    fn subscribe<'a>(&'a self, config: &'a SubscriptionConfig) -> BoxFuture<'a, Box<dyn Subscription>> {
        // A connection of its own, as another process has.
        let broker = RabbitMqBroker::new(self::config(self.server.url()));
        Box::pin(async move { broker.subscribe(config).await.expect("the server is running") })
    }

    fn server(&self) -> Option<&dyn Server> {
        Some(&self.server)
    }

    fn intruder(&self) -> Option<Box<dyn Broker>> {
        let server = self.server.url().replace("guest@", "guess@");
        Some(Box::new(RabbitMqBroker::new(config(server))))
    }

    fn over_tls(&self) -> BoxFuture<'_, Option<[Box<dyn Broker>; 2]>> {
        let of = |root_certificates| -> Box<dyn Broker> {
            let config = config(self.server.tls_url());
            Box::new(RabbitMqBroker::new(RabbitMqConfig { root_certificates, ..config }))
        };
        let brokers = [of(Some(certificate("authority.pem"))), of(None)];
        Box::pin(std::future::ready(Some(brokers)))
    }

    fn remove_topic<'a>(&'a self, topic: &'a str) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            remove_exchange(&self.server, topic).await;
            for partition in 0..16 {
                remove_queue(&self.server, &format!("{topic}.place.{partition}")).await;
            }
            true
        })
    }
}

#[tokio::test]
async fn rabbitmq_keeps_every_rule_of_a_broker() {
    let Some(rig) = RabbitMqRig::start().await else { return };
    check(&rig).await;
}

#[tokio::test]
async fn a_process_with_another_number_of_partitions_is_refused() {
    let Some(server) = RabbitMq::shared().await else { return };
    let topics = vec![server.fresh_topic()];
    let of = |partitions| RabbitMqConfig { partitions, topics: topics.clone(), ..config(server.url()) };
    RabbitMqBroker::new(of(16)).connect().await.unwrap();

    let error = RabbitMqBroker::new(of(8)).connect().await.unwrap_err();

    assert!(matches!(error, BrokerError::Mismatch { .. }) && !error.is_transient(), "{error:?}");
    assert!(error.to_string().contains("partitions: 8") && error.to_string().contains("16"), "{error}");
    RabbitMqBroker::new(of(16)).connect().await.unwrap();
    assert!(!RabbitMqBroker::new(of(0)).connect().await.unwrap_err().is_transient());
}

#[tokio::test]
async fn an_event_reaches_its_queue_and_those_that_users_bind() {
    let Some(server) = RabbitMq::shared().await else { return };
    let (broker, topic) = (RabbitMqBroker::new(config(server.url())), server.fresh_topic());
    broker.subscribe(&subscription(&topic, "0")).await.unwrap();
    let (_connection, channel) = server.connect().await.unwrap();
    let (audit, of_type) = (format!("audit-{topic}"), "*.tests.happened".into());
    let declare = QueueDeclareOptions::default();
    channel.queue_declare(audit.as_str().into(), declare, FieldTable::default()).await.unwrap();
    let (options, arguments) = (QueueBindOptions::default(), FieldTable::default());
    channel
        .queue_bind(audit.as_str().into(), topic.as_str().into(), of_type, options, arguments)
        .await
        .unwrap();

    let (keyed, unordered) = (event(&topic, Some("foobar")), event(&topic, None));
    publish(&broker, &keyed).await.unwrap();
    publish(&broker, &unordered).await.unwrap();

    let partitions = broker.partitions(&topic).await.unwrap();
    assert_eq!(partitions.len(), 17);
    for partition in partitions {
        let waiting = server.count_waiting(&format!("{topic}.billing.charge.{partition}")).await;
        assert_eq!(waiting, u32::from(partition == PARTITION || partition == "any"), "partition {partition}");
    }
    for (sent, key) in [(&keyed, "14.tests.happened"), (&unordered, "any.tests.happened")] {
        let got =
            channel.basic_get(audit.as_str().into(), BasicGetOptions::default()).await.unwrap().unwrap();
        assert_eq!((got.routing_key.as_str(), &got.data[..]), (key, sent.payload.as_bytes()));
        assert_eq!(got.properties.content_type().as_ref().unwrap().as_str(), "application/json");
        assert_eq!(*got.properties.delivery_mode(), Some(2));
        assert_eq!(got.properties.message_id().as_ref().unwrap().as_str(), sent.id.to_string());
        let headers = got.properties.headers().as_ref().unwrap().inner();
        assert_eq!(headers["cloudEvents_type"], AMQPValue::LongString("tests.happened".into()));
        assert_eq!(headers["cloudEvents_sequence"], AMQPValue::LongString("1000000000000000000".into()));
    }
}

#[tokio::test]
async fn an_unreachable_server_is_a_transient_error_and_a_wrong_address_is_not() {
    let Some(server) = RabbitMq::shared().await else { return };
    let nobody = RabbitMqBroker::new(config("amqp://127.0.0.1:1".to_owned()));
    assert!(nobody.connect().await.unwrap_err().is_transient());
    let without_host = format!("{}/no-such-host", server.url());
    for wrong in ["amqp://127.0.0.1:port", "http://127.0.0.1", "", &without_host] {
        let error = RabbitMqBroker::new(config(wrong.to_owned())).connect().await.unwrap_err();
        assert!(!error.is_transient(), "{wrong}: {error:?}");
    }
    RabbitMqBroker::new(config(format!("{}/%2f", server.url()))).connect().await.unwrap();
}

#[tokio::test]
async fn what_stands_at_a_name_otherwise_is_named_and_stops_no_other_event() {
    let Some(server) = RabbitMq::shared().await else { return };
    let (broker, topic, other) =
        (RabbitMqBroker::new(config(server.url())), server.fresh_topic(), server.fresh_topic());
    let (_connection, channel) = server.connect().await.unwrap();
    let (fanout, durable) =
        (ExchangeKind::Fanout, QueueDeclareOptions { durable: true, ..Default::default() });
    let exchange = ExchangeDeclareOptions::default();
    channel.exchange_declare(topic.as_str().into(), fanout, exchange, FieldTable::default()).await.unwrap();
    let queue = format!("{other}.billing.charge.3");
    channel.queue_declare(queue.as_str().into(), durable, FieldTable::default()).await.unwrap();
    let is_named = |error: &BrokerError, wanted: String| {
        assert!(matches!(error, BrokerError::Mismatch { name, .. } if *name == wanted), "{error:?}");
        assert!(!error.is_transient(), "{error}");
    };

    let late = SubscriptionConfig { consumer: "late".to_owned(), ..subscription(&other, "0") };
    broker.subscribe(&late).await.unwrap();
    let events = [event(&topic, Some("foobar")), event(&other, Some("foobar"))];
    let published = publish_all(&broker, &events).await.unwrap();

    let Published::TryAgain(error) = &published[0] else { panic!("{published:?}") };
    is_named(error, format!("exchange {topic}"));
    assert!(matches!(published[1], Published::Confirmed { .. }), "{published:?}");
    let error = broker.subscribe(&subscription(&other, "0")).await.err().unwrap();
    is_named(&error, format!("queue {queue}"));
}

/// The client hands what came back over with any confirmation of that time.
#[tokio::test]
async fn of_a_batch_exactly_the_events_without_a_queue_fail() {
    let Some(server) = RabbitMq::shared().await else { return };
    let (broker, topic) = (RabbitMqBroker::new(config(server.url())), server.fresh_topic());
    broker.subscribe(&subscription(&topic, "0")).await.unwrap();
    remove_queue(server, &format!("{topic}.billing.charge.{PARTITION}")).await;
    remove_queue(server, &format!("{topic}.billing.charge.any")).await;
    let keys = (0..300).map(|number| match number % 7 {
        0 => None,
        1 | 2 => Some("foobar".to_owned()),
        _ => Some(format!("key-{number}")),
    });
    let events: Vec<NewEvent> = keys.map(|key| event(&topic, key.as_deref())).collect();

    let published = publish_all(&broker, &events).await.unwrap();

    for (event, outcome) in events.iter().zip(&published) {
        let partition = event.key.as_ref().map(|key| outbox::broker::partition::of_key(key, 16));
        match (partition, outcome) {
            (None | Some(14), Published::TryAgain(error)) => {
                assert!(error.to_string().contains("no queue takes it"), "{error}");
            }
            (Some(other), Published::Confirmed { duplicate: false }) if other != 14 => {}
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn an_event_that_the_server_refuses_fails_alone() {
    let Some(server) = RabbitMq::shared().await else { return };
    let topic = server.fresh_topic();
    // More than the server takes.
    let broker = RabbitMqBroker::new(RabbitMqConfig { event_bytes_max: 4 << 20, ..config(server.url()) });
    let mut subscription = broker.subscribe(&subscription(&topic, PARTITION)).await.unwrap();
    let mut events: Vec<NewEvent> = (0..8).map(|_| event(&topic, Some("foobar"))).collect();
    events[3].payload.push_str(&" ".repeat(3 << 20));
    events[5].headers.insert("long".to_owned(), "x".repeat(200_000));

    let published = publish_all(&broker, &events).await.unwrap();

    let is_refused = |outcome: &Published, why: &str| match outcome {
        Published::Refused(error) => error.to_string().contains(why),
        _ => false,
    };
    assert!(is_refused(&published[3], "max_message_size"), "{:?}", published[3]);
    assert!(is_refused(&published[5], "one frame"), "{:?}", published[5]);
    let others = [0, 1, 2, 4, 6, 7];
    assert!(
        others.iter().all(|&place| matches!(published[place], Published::Confirmed { .. })),
        "{published:?}"
    );
    // Those before may come twice: their answers were lost with the channel.
    let came: HashSet<_> = receive(&mut *subscription, 6).await.into_iter().collect();
    assert_eq!(came, others.iter().map(|&place| events[place].id).collect());
}

#[tokio::test]
async fn a_server_with_an_alarm_is_down_for_publishers_until_it_is_over() {
    let Some(server) = RabbitMq::private().await else { return };
    let (broker, topic) = (RabbitMqBroker::new(config(server.url())), server.fresh_topic());
    let mut subscription = broker.subscribe(&subscription(&topic, PARTITION)).await.unwrap();
    let sent = publish_each(&broker, &topic, 3).await;
    server.control(&["set_vm_memory_high_watermark", "absolute", "1MB"]).await;

    // The whole batch fails: that costs no event an attempt.
    let error = loop {
        match publish(&broker, &event(&topic, Some("foobar"))).await {
            // The server looks at its memory now and then.
            Ok(published) => assert!(matches!(published, Published::Confirmed { .. }), "{published:?}"),
            Err(error) => break error,
        }
    };

    assert!(error.is_transient(), "{error:?}");
    let started = Instant::now();
    assert!(broker.connect().await.unwrap_err().is_transient());
    assert!(started.elapsed() < Duration::from_secs(1), "an alarm is known without asking");
    assert_eq!(receive(&mut *subscription, 3).await, ids_of(&sent), "who consumes goes on");
    server.control(&["set_vm_memory_high_watermark", "0.9"]).await;
    let event = event(&topic, Some("foobar"));
    let started = Instant::now();
    while publish(&broker, &event).await.is_err() {
        assert!(started.elapsed() < Duration::from_secs(30), "it does not hear that the alarm is over");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn what_is_not_acked_in_the_time_of_the_server_comes_again_in_order() {
    let Some(server) = RabbitMq::private_with("consumer_timeout = 2000").await else { return };
    // How often a channel looks: no line in the file of settings.
    server.control(&["eval", "application:set_env(rabbit, channel_tick_interval, 1000)."]).await;
    let (broker, topic) = (RabbitMqBroker::new(config(server.url())), server.fresh_topic());
    let mut subscription = broker.subscribe(&subscription(&topic, PARTITION)).await.unwrap();
    let sent = publish_each(&broker, &topic, 4).await;
    let held = subscription.next(2, Duration::from_secs(10)).await.unwrap();
    assert_eq!(held[0].event.as_ref().unwrap().id, sent[0].id);

    // The server ends the channel, and whoever holds a delivery of it acks in vain.
    let started = Instant::now();
    let error = loop {
        assert!(started.elapsed() < Duration::from_secs(30), "the server waited for ever");
        match subscription.ready(Duration::from_millis(100)).await {
            Ok(()) => tokio::task::yield_now().await,
            Err(error) => break error,
        }
    };

    assert!(error.is_transient(), "{error:?}");
    subscription.ack(&[held[0].token]).await.unwrap();
    assert_eq!(receive(&mut *subscription, 4).await, ids_of(&sent));
}

/// As the documentation of the broker names them.
#[tokio::test]
async fn the_rights_of_a_relay_and_of_a_consumer_are_enough() {
    let Some(server) = RabbitMq::shared().await else { return };
    let topic = server.fresh_topic();
    let as_user = async |name: &str, [configure, write, read]: [&str; 3]| {
        let name = format!("{name}-{topic}");
        server.control(&["add_user", &name, "pw"]).await;
        let pattern = |right: &str| right.replace("TOPIC", &topic);
        let rights = [configure, write, read].map(pattern);
        server.control(&["set_permissions", &name, &rights[0], &rights[1], &rights[2]]).await;
        RabbitMqBroker::new(config(format!("amqp://{name}:pw@127.0.0.1:{}", server.port())))
    };
    let relay = as_user("relay", [r"^TOPIC(\.outbox)?$", "^TOPIC$", "^$"]).await;
    let consumer = as_user("consumer", [r"^TOPIC(\..+)?$", r"^TOPIC\..+$", r"^TOPIC(\..+)?$"]).await;
    let mut subscription = consumer.subscribe(&subscription(&topic, PARTITION)).await.unwrap();

    let sent = publish_each(&relay, &topic, 3).await;
    assert_eq!(receive(&mut *subscription, 3).await, ids_of(&sent));
    let published = publish(&consumer, &event(&topic, Some("foobar"))).await.unwrap();

    // Somebody may grant it: the event waits, and is not set aside.
    let Published::TryAgain(error) = published else { panic!("{published:?}") };
    assert!(!error.is_transient() && error.to_string().contains("set_permissions"), "{error}");
}

#[tokio::test]
async fn what_two_crashed_members_left_comes_in_order() {
    let Some(server) = RabbitMq::shared().await else { return };
    let (broker, topic) = (RabbitMqBroker::new(config(server.url())), server.fresh_topic());
    broker.subscribe(&subscription(&topic, PARTITION)).await.unwrap();
    let sent = publish_each(&broker, &topic, 60).await;
    let mut received = Vec::new();
    // The second takes less at a time than the first left.
    for in_flight_max in [40, 5, 64] {
        let config = SubscriptionConfig { in_flight_max, ..subscription(&topic, PARTITION) };
        let mut member = broker.subscribe(&config).await.unwrap();
        received.extend(receive(&mut *member, 3).await);
        let held = member.next(in_flight_max, Duration::from_secs(10)).await.unwrap();
        assert!(!held.is_empty());
    }
    let mut last = broker.subscribe(&subscription(&topic, PARTITION)).await.unwrap();
    received.extend(receive(&mut *last, 51).await);
    assert_eq!(received, ids_of(&sent));
}

#[tokio::test]
async fn who_waits_for_a_partition_gets_what_the_one_before_held_and_then_newer_messages() {
    let Some(server) = RabbitMq::shared().await else { return };
    let (one, other) = (RabbitMqBroker::new(config(server.url())), RabbitMqBroker::new(config(server.url())));
    let topic = server.fresh_topic();
    let mut leaving = one.subscribe(&subscription(&topic, PARTITION)).await.unwrap();
    // More than a member is given in advance.
    let sent = publish_each(&one, &topic, 300).await;
    let mut received = receive(&mut *leaving, 2).await;
    let mut waiting = other.subscribe(&subscription(&topic, PARTITION)).await.unwrap();
    assert!(waiting.next(1, Duration::from_millis(300)).await.unwrap().is_empty(), "two are active");

    drop(leaving);

    received.extend(receive(&mut *waiting, 298).await);
    assert_eq!(received, ids_of(&sent));
}

/// R14: what others wrote into the exchange.
#[tokio::test]
async fn a_message_that_is_no_event_is_malformed_and_the_next_one_flows() {
    let Some(server) = RabbitMq::shared().await else { return };
    let (broker, topic) = (RabbitMqBroker::new(config(server.url())), server.fresh_topic());
    let mut subscription = broker.subscribe(&subscription(&topic, PARTITION)).await.unwrap();
    let header = |name: &str, value: &[u8]| {
        let mut headers = FieldTable::default();
        headers.insert(name.into(), AMQPValue::LongString(value.to_vec().into()));
        BasicProperties::default().with_headers(headers)
    };
    let foreign: [(BasicProperties, &[u8]); 3] = [
        (header("who", b"me"), b""),
        (header("cloudEvents_id", &[0xff]), b"{}"),
        (header("\0", &[0]), &[0, 0xff]),
    ];
    for (properties, body) in foreign {
        server.put(&topic, "14.strange", body, properties).await.unwrap();
    }
    let good = event(&topic, Some("foobar"));
    publish(&broker, &good).await.unwrap();

    let deliveries = take(&mut *subscription, 4).await;

    let malformed: Vec<_> =
        deliveries[..3].iter().map(|delivery| delivery.event.as_ref().unwrap_err()).collect();
    assert_eq!(malformed[0].envelope.headers["who"], "me");
    assert!(malformed[1].problem.contains("`id` is not UTF-8"), "{}", malformed[1].problem);
    let ids: HashSet<_> = malformed.iter().map(|malformed| malformed.envelope.id).collect();
    assert_eq!(ids.len(), 3);
    assert_eq!(deliveries[3].event.as_ref().unwrap().id, good.id);
}

#[tokio::test]
async fn a_queue_that_somebody_removed_is_declared_again_and_newer_events_flow() {
    let Some(server) = RabbitMq::shared().await else { return };
    let (broker, topic) = (RabbitMqBroker::new(config(server.url())), server.fresh_topic());
    let mut subscription = broker.subscribe(&subscription(&topic, PARTITION)).await.unwrap();
    let sent = publish_each(&broker, &topic, 1).await;
    assert_eq!(receive(&mut *subscription, 1).await, ids_of(&sent));

    remove_queue(server, &format!("{topic}.billing.charge.{PARTITION}")).await;

    let newer = event(&topic, Some("foobar"));
    let publishing = async {
        // Until the queue is there again nobody takes it.
        while !matches!(publish(&broker, &newer).await.unwrap(), Published::Confirmed { .. }) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let (received, ()) = futures_util::future::join(receive(&mut *subscription, 1), publishing).await;
    assert_eq!(received, [newer.id]);
}

#[tokio::test]
async fn an_exchange_that_somebody_removed_leads_to_its_queues_again() {
    let Some(server) = RabbitMq::shared().await else { return };
    let declare_every = Duration::from_millis(100);
    let broker = RabbitMqBroker::new(RabbitMqConfig { declare_every, ..config(server.url()) });
    let topic = server.fresh_topic();
    let mut subscription = broker.subscribe(&subscription(&topic, PARTITION)).await.unwrap();
    let sent = publish_each(&broker, &topic, 1).await;
    assert_eq!(receive(&mut *subscription, 1).await, ids_of(&sent));

    remove_exchange(server, &topic).await;

    let newer = event(&topic, Some("foobar"));
    // Until the exchange is there again and leads somewhere.
    let publishing = publish_until_confirmed(&broker, &newer);
    let (received, ()) = futures_util::future::join(receive(&mut *subscription, 1), publishing).await;
    assert_eq!(received, [newer.id]);
}

#[tokio::test]
async fn deliveries_lost_with_a_connection_come_before_newer_ones() {
    let Some(server) = RabbitMq::shared().await else { return };
    let proxy = Proxy::to(server.port()).await;
    let through_proxy = RabbitMqBroker::new(config(format!("amqp://{}", proxy.address())));
    let direct = RabbitMqBroker::new(config(server.url()));
    let topic = server.fresh_topic();
    let mut subscription = through_proxy.subscribe(&subscription(&topic, PARTITION)).await.unwrap();
    let mut sent = publish_each(&direct, &topic, 1).await;
    let mut received = receive(&mut *subscription, 1).await;
    // What follows is sent into the void.
    proxy.stall();
    sent.extend(publish_each(&direct, &topic, 5).await);
    proxy.cut();
    proxy.resume();
    sent.extend(publish_each(&direct, &topic, 5).await);

    // The ack of the first may be lost too.
    let again = receive(&mut *subscription, 10).await;
    received.extend(again.into_iter().filter(|id| *id != sent[0].id));
    while received.len() < 11 {
        received.extend(receive(&mut *subscription, 1).await);
    }

    assert_eq!(received, ids_of(&sent));
}

#[tokio::test]
async fn a_subscription_that_is_dropped_in_every_wait_still_catches_up() {
    let Some(server) = RabbitMq::shared().await else { return };
    let (broker, topic) = (RabbitMqBroker::new(config(server.url())), server.fresh_topic());
    let mut crashed = broker.subscribe(&subscription(&topic, PARTITION)).await.unwrap();
    let mut sent = publish_each(&broker, &topic, 1).await;
    assert_eq!(crashed.next(1, Duration::from_secs(10)).await.unwrap().len(), 1);
    drop(crashed);
    sent.extend(publish_each(&broker, &topic, 1).await);

    let mut next = broker.subscribe(&subscription(&topic, PARTITION)).await.unwrap();

    let received = receive_in_dropped_waits(&mut *next, 2).await;

    assert_eq!(received, ids_of(&sent));
}

/// G2: acks are gathered, and none is kept from the server when there is nothing else to do.
#[tokio::test]
async fn what_was_acked_before_a_pause_comes_to_no_other_subscription() {
    let Some(server) = RabbitMq::shared().await else { return };
    let proxy = Proxy::to(server.port()).await;
    let through_proxy = RabbitMqBroker::new(config(format!("amqp://{}", proxy.address())));
    let (broker, topic) = (RabbitMqBroker::new(config(server.url())), server.fresh_topic());
    let mut first = through_proxy.subscribe(&subscription(&topic, PARTITION)).await.unwrap();
    let sent = publish_each(&broker, &topic, 20).await;
    // One in the middle is still at work.
    let taken = take(&mut *first, sent.len()).await.into_iter().enumerate().filter(|(place, _)| *place != 7);
    for (_, delivery) in taken {
        first.ack(&[delivery.token]).await.unwrap();
    }
    assert!(first.next(20, Duration::from_millis(500)).await.unwrap().is_empty());
    // As after a crash, which tells nothing more.
    proxy.cut();
    drop(first);

    let mut second = broker.subscribe(&subscription(&topic, PARTITION)).await.unwrap();

    assert_eq!(receive(&mut *second, 1).await, [sent[7].id]);
    assert!(second.next(20, Duration::from_millis(500)).await.unwrap().is_empty());
}

async fn remove_exchange(server: &RabbitMq, topic: &str) {
    let (_connection, channel) = server.connect().await.unwrap();
    channel.exchange_delete(topic.into(), ExchangeDeleteOptions::default()).await.unwrap();
}

async fn remove_queue(server: &RabbitMq, queue: &str) {
    let (_connection, channel) = server.connect().await.unwrap();
    channel.queue_delete(queue.into(), QueueDeleteOptions::default()).await.unwrap();
}

fn config(server: String) -> RabbitMqConfig {
    RabbitMqConfig { server, request_timeout: Duration::from_secs(2), ..RabbitMqConfig::default() }
}
