//! A message of the connector beside that of the relay, for each of 5,000 events: the same bytes, headers, key and partition.

use super::Scene;
use outbox::broker::SubscriptionConfig;
use outbox::envelope::{Envelope, EventId, NewEvent, Twin};
use outbox::{OnPoison, Store};
use outbox_tests::servers::Stored;
use outbox_tests::world::{broker_at, quick};
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

const EVENTS: usize = 5_000;
/// What the user headers travel as, where a router cannot spread them.
const USER_HEADERS: &str = "ce_outboxheaders";

/// Payloads that a reader of JSON would not write again as they are.
const PAYLOADS: [&str; 4] = [
    r#"{"eventType":"world.told","eventVersion":1,"n":1.50,"a":null,"a":12345678901234567890,"é":"\u00e9 😀"}"#,
    "{\"eventType\":\"world.told\",\"eventVersion\":1 ,\n\t\"line\" : \"\\n\\u0041\\/\" }",
    r#"{"eventType":"world.told","eventVersion":1}"#,
    r#"{"eventType":"world.told","eventVersion":1,"quotes":"\"'\\","script":"${env:HOME} $1 %s"}"#,
];

#[tokio::test(flavor = "multi_thread")]
async fn five_thousand_events_are_the_same_messages_as_the_relays() {
    let Some(scene) = Scene::start().await else { return };
    // Half of them are in the log when the connector comes, the others come to it.
    let (before, after) = (0..EVENTS).map(told).partition::<Vec<_>, _>(|(n, _)| *n < EVENTS / 2);
    scene.insert(before).await;
    let (connect, _) = scene.connect().await;
    scene.insert(after).await;
    scene.published(&connect, EVENTS as u64).await;
    connect.kill();
    let broker = broker_at(&scene.kafka.url());
    let relay = scene.world.outbox.runner().relay(outbox::RelayConfig::default(), broker).settings(quick);
    let relay = relay.start().await.unwrap();
    scene.published(&connect, 2 * EVENTS as u64).await;
    relay.stop().await.unwrap();

    let (mut by_connector, mut by_relay) = (HashMap::new(), HashMap::new());
    for message in scene.kafka.messages("world").await {
        let is_routed = message.headers.iter().any(|(name, _)| name == USER_HEADERS);
        let copies = if is_routed { &mut by_connector } else { &mut by_relay };
        let id = message.header("ce_id").unwrap().to_owned();
        assert!(copies.insert(id, message).is_none(), "nothing was killed, so nothing comes twice");
    }
    assert_eq!((by_connector.len(), by_relay.len()), (EVENTS, EVENTS));
    for (id, relayed) in &by_relay {
        let routed = &by_connector[id];
        assert_eq!(routed.payload, relayed.payload);
        assert_eq!(routed.key, relayed.key);
        assert_eq!(headers_of(routed), headers_of(relayed));
        // What has no key goes to any partition.
        assert!(routed.key.is_none() || routed.partition == relayed.partition);
    }
    assert_our_consumers_read_the_same(&scene).await;
}

/// An event with as much variety as a row may have.
fn told(n: usize) -> (usize, NewEvent) {
    let key = (!n.is_multiple_of(5)).then(|| format!("key {} é", n % 97));
    let headers = match n % 3 {
        0 => BTreeMap::new(),
        1 => [("tenant".to_owned(), "50% \"é\" 😀 \\".to_owned())].into(),
        _ => [("tenant".to_owned(), "acme".to_owned()), ("empty".to_owned(), String::new())].into(),
    };
    let payload = match n {
        // As large as a payload may be.
        7 => format!(r#"{{"eventType":"world.told","eventVersion":1,"long":"{}"}}"#, "é".repeat(131_040)),
        _ => PAYLOADS[n % PAYLOADS.len()].to_owned(),
    };
    let event = NewEvent {
        id: EventId::now(),
        source: if n.is_multiple_of(2) { "/world" } else { "urn:world:é" }.to_owned(),
        topic: "world".to_owned(),
        on_poison: [OnPoison::Park, OnPoison::Block, OnPoison::Skip][n % 3],
        key,
        event_type: "world.told".to_owned(),
        event_version: 1,
        payload,
        dataschema: "urn:outbox:world.told:1".to_owned(),
        headers,
        traceparent: n.is_multiple_of(4).then(|| format!("00-{n:032x}-b7ad6b7169203331-01")),
        tracestate: n.is_multiple_of(8).then(|| "a=1,b=2".to_owned()),
        twin: n.is_multiple_of(7).then(|| Twin { id: EventId::now(), version: 2 }),
    };
    (n, event)
}

impl Scene {
    /// Writes events, a hundred in each transaction.
    async fn insert(&self, events: Vec<(usize, NewEvent)>) {
        let store = self.world.outbox.store();
        let events: Vec<_> = events.into_iter().map(|(_, event)| event).collect();
        for page in events.chunks(100) {
            let mut tx = store.begin().await.unwrap();
            store.insert(outbox::postgres::PostgresStore::connection(&mut tx), page).await.unwrap();
            store.commit(tx).await.unwrap();
        }
    }

    /// What a consumer of ours is given of each copy of an event, by its id.
    async fn deliveries(&self) -> HashMap<EventId, Vec<Envelope>> {
        let broker = broker_at(&self.kafka.url());
        let mut read: HashMap<EventId, Vec<Envelope>> = HashMap::new();
        for partition in broker.partitions("world").await.unwrap() {
            let config = SubscriptionConfig {
                consumer: "tests.same".to_owned(),
                topic: "world".to_owned(),
                partition,
                ack_wait: Duration::from_secs(60),
                in_flight_max: 3 * EVENTS as u32,
            };
            let mut subscription = broker.subscribe(&config).await.unwrap();
            loop {
                let deliveries = subscription.next(1_000, Duration::from_secs(1)).await.unwrap();
                if deliveries.is_empty() {
                    break;
                }
                for delivery in deliveries {
                    let envelope = delivery.event.unwrap();
                    read.entry(envelope.id).or_default().push(envelope);
                }
            }
        }
        read
    }
}

async fn assert_our_consumers_read_the_same(scene: &Scene) {
    let read = scene.deliveries().await;
    assert_eq!(read.len(), EVENTS);
    for copies in read.values() {
        assert_eq!(copies.len(), 2);
        assert_eq!(copies[0], copies[1]);
    }
}

/// The headers that have a value; user headers that travel as one are spread.
fn headers_of(message: &Stored) -> BTreeMap<String, String> {
    let mut headers: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in &message.headers {
        let Some(value) = value else { continue };
        let value = String::from_utf8(value.clone()).unwrap();
        if name == USER_HEADERS {
            let spread: BTreeMap<String, String> = serde_json::from_str(&value).unwrap();
            headers.extend(spread.into_iter().map(|(name, value)| (format!("ce_{name}"), value)));
        } else {
            assert!(headers.insert(name.clone(), value).is_none(), "{name} comes twice");
        }
    }
    headers
}
