//! What each broker carries, read by a reader that we did not write, in another language.

use base64::{Engine, prelude::BASE64_STANDARD};
use lapin::options::{BasicGetOptions, QueueBindOptions, QueueDeclareOptions};
use lapin::types::{AMQPValue, FieldTable, ShortString};
use outbox::broker::cloudevents::{ContentMode, DOCUMENT_TYPE, to_json};
use outbox::broker::kafka::{KafkaBroker, KafkaConfig};
use outbox::broker::nats::{NatsBroker, NatsConfig};
use outbox::broker::rabbitmq::{RabbitMqBroker, RabbitMqConfig};
use outbox::broker::redis::{RedisBroker, RedisConfig};
use outbox::broker::{Broker, Outgoing, Published, SubscriptionConfig};
use outbox::envelope::{Envelope, EventId, NewEvent, Seq};
use outbox_tests::servers::{Kafka, Nats, RabbitMq, Redis};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;
use time::OffsetDateTime;

type Headers = BTreeMap<String, String>;

const CONTENT_TYPE: &str = "content-type";
const MODES: [ContentMode; 2] = [ContentMode::Binary, ContentMode::Structured];

#[test]
fn a_document_is_read_by_another_program() {
    let sent = envelope("orders");
    let headers = [(CONTENT_TYPE.to_owned(), DOCUMENT_TYPE.to_owned())].into();
    assert_read("kafka", headers, to_json(&sent).as_bytes(), &sent);
}

/// Promise: what a broker carries in either mode is read by a program that knows CloudEvents, and by our own consumers.
#[tokio::test]
async fn what_redis_carries_is_read_by_another_program() {
    let Some(server) = Redis::shared().await else { return };
    for content_mode in MODES {
        let sent = envelope(&server.fresh_topic());
        let config = RedisConfig { server: server.url(), content_mode, ..RedisConfig::default() };
        let broker = RedisBroker::new(config);
        publish(&broker, &sent).await;
        let mut range = redis_client::cmd("XRANGE");
        range.arg(format!("{}:{}", sent.topic, partition_of(&sent))).arg("-").arg("+");
        let [(_, mut fields)]: [(String, Headers); 1] =
            server.run::<Vec<(String, Headers)>>(&range).await.try_into().unwrap();
        let data = fields.remove("data").unwrap();
        // There is no binding for Redis; the names are those of Kafka's.
        assert_read("kafka", fields, data.as_bytes(), &sent);
        assert_consumed(&broker, &sent).await;
    }
}

#[tokio::test]
async fn what_nats_carries_is_read_by_another_program() {
    let Some(server) = Nats::shared().await else { return };
    for content_mode in MODES {
        let sent = envelope(&server.fresh_topic());
        let config = NatsConfig { servers: server.url(), content_mode, ..NatsConfig::default() };
        let broker = NatsBroker::new(config);
        publish(&broker, &sent).await;
        let (headers, body) = server.first_message(&sent.topic).await;
        assert_read("http", headers, &body, &sent);
        assert_consumed(&broker, &sent).await;
    }
}

#[tokio::test]
async fn what_rabbitmq_carries_is_read_by_another_program() {
    let Some(server) = RabbitMq::shared().await else { return };
    for content_mode in MODES {
        let sent = envelope(&server.fresh_topic());
        let config = RabbitMqConfig { server: server.url(), content_mode, ..RabbitMqConfig::default() };
        let broker = RabbitMqBroker::new(config);
        broker.partitions(&sent.topic).await.unwrap();
        let (_connection, channel) = server.connect().await.unwrap();
        let options = QueueDeclareOptions::default();
        let queue = channel.queue_declare("".into(), options, FieldTable::default()).await;
        let queue = queue.unwrap().name().clone();
        let (options, arguments) = (QueueBindOptions::default(), FieldTable::default());
        let topic = sent.topic.as_str().into();
        channel.queue_bind(queue.clone(), topic, "#".into(), options, arguments).await.unwrap();
        // A consumer's queues are there from its first subscription on; without any the event waits in the store.
        drop(broker.subscribe(&subscription(&sent)).await.unwrap());
        publish(&broker, &sent).await;
        let got = channel.basic_get(queue, BasicGetOptions::default()).await.unwrap().unwrap();
        let mut headers: Headers =
            got.properties.headers().as_ref().unwrap().inner().iter().map(of_amqp).collect();
        headers.insert(CONTENT_TYPE.to_owned(), got.properties.content_type().as_ref().unwrap().to_string());
        assert_read("amqp", headers, &got.data, &sent);
        assert_consumed(&broker, &sent).await;
    }
}

#[tokio::test]
async fn what_kafka_carries_is_read_by_another_program() {
    let Some(server) = Kafka::shared().await else { return };
    for content_mode in MODES {
        let sent = envelope(&server.fresh_topic());
        let config = KafkaConfig { servers: server.url(), content_mode, ..KafkaConfig::default() };
        let broker = KafkaBroker::new(config);
        publish(&broker, &sent).await;
        let (headers, body) = server.first_message(&sent.topic, partition_of(&sent).parse().unwrap()).await;
        assert_read("kafka", headers, &body, &sent);
        assert_consumed(&broker, &sent).await;
    }
}

/// Asserts that a consumer of ours is given the very event that was sent.
async fn assert_consumed(broker: &dyn Broker, sent: &Envelope) {
    let mut deliveries = broker.subscribe(&subscription(sent)).await.unwrap();
    let [delivery] = &deliveries.next(1, Duration::from_secs(20)).await.unwrap()[..] else {
        panic!("one event was sent");
    };
    assert_eq!(delivery.event.as_ref(), Ok(sent));
}

fn subscription(sent: &Envelope) -> SubscriptionConfig {
    SubscriptionConfig {
        consumer: "python".to_owned(),
        topic: sent.topic.clone(),
        partition: partition_of(sent),
        ack_wait: Duration::from_secs(30),
        in_flight_max: 1,
    }
}

fn of_amqp((name, value): (&ShortString, &AMQPValue)) -> (String, String) {
    let AMQPValue::LongString(text) = value else { panic!("{name} is no text: {value:?}") };
    (name.to_string(), text.to_string())
}

/// Asserts that the library of the CloudEvents project finds in the message what was sent. Where it is not installed, that is
/// said and nothing else.
fn assert_read(binding: &str, headers: Headers, body: &[u8], sent: &Envelope) {
    let Some(python) = std::env::var_os("OUTBOX_PYTHON") else {
        assert!(std::env::var_os("OUTBOX_REQUIRE_SERVERS").is_none(), "OUTBOX_PYTHON is not set");
        return eprintln!("skipped: OUTBOX_PYTHON names no Python with the package `cloudevents`");
    };
    let message = json!({ "binding": binding, "headers": headers, "body": BASE64_STANDARD.encode(body) });
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/it/cloudevents/read.py");
    let mut reader =
        Command::new(python).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    reader.stdin.take().unwrap().write_all(message.to_string().as_bytes()).unwrap();
    let output = reader.wait_with_output().unwrap();
    assert!(output.status.success(), "the reader failed; see its words above");
    let read: Value = serde_json::from_slice(&output.stdout).unwrap();

    let attributes = &read["attributes"];
    for (name, value) in [
        ("specversion", "1.0"),
        ("id", &sent.id.to_string()),
        ("source", &sent.source),
        ("type", &sent.event_type),
        ("dataschema", &sent.dataschema),
        ("datacontenttype", "application/json"),
        ("time", "2026-05-17T09:30:00.123456+00:00"),
        ("partitionkey", sent.key.as_ref().unwrap()),
        ("sequence", &sent.seq.to_string()),
        ("traceparent", sent.traceparent.as_ref().unwrap()),
        ("tracestate", sent.tracestate.as_ref().unwrap()),
        ("tenant", &sent.headers["tenant"]),
    ] {
        assert_eq!(attributes[name], value, "{name} of {attributes}");
    }
    assert_eq!(read["data"], serde_json::from_str::<Value>(&sent.payload).unwrap());
}

async fn publish(broker: &dyn Broker, envelope: &Envelope) {
    let outgoing = [Outgoing { envelope, message_id: envelope.id.0 }];
    let published = broker.publish(&outgoing).await.unwrap();
    assert!(matches!(published[..], [Published::Confirmed { .. }]), "{published:?}");
}

fn partition_of(envelope: &Envelope) -> String {
    use outbox::broker::partition::{PARTITIONS_DEFAULT, of};
    of(envelope.key.as_deref(), PARTITIONS_DEFAULT)
}

fn envelope(topic: &str) -> Envelope {
    let event = NewEvent {
        id: EventId::now(),
        source: "/orders".to_owned(),
        topic: topic.to_owned(),
        key: Some("ä 7".to_owned()),
        event_type: "orders.placed".to_owned(),
        event_version: 2,
        payload: r#"{"eventType":"orders.placed","eventVersion":2,"total":1.50,"note":"é 😀"}"#.to_owned(),
        dataschema: "urn:outbox:orders.placed:2".to_owned(),
        headers: [("tenant".to_owned(), "50% \"é\" 😀".to_owned())].into(),
        traceparent: Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned()),
        tracestate: Some("a=1,b=2".to_owned()),
        twin: None,
        on_poison: outbox::OnPoison::Park,
    };
    let occurred_at = OffsetDateTime::from_unix_timestamp_nanos(1_779_010_200_123_456_000).unwrap();
    Envelope { seq: Seq(Seq::ORIGIN.0 + 7), occurred_at, event }
}
