//! Every broker against the conformance suite, and what is particular to one.

mod faulty;
mod kafka;
mod local;
mod missed;
mod nats;
pub(crate) mod parts;
mod rabbitmq;
mod redis;

use outbox::broker::Broker;
use outbox::broker::kafka::{KafkaBroker, KafkaConfig};
use outbox::broker::nats::{NatsBroker, NatsConfig};
use outbox::broker::redis::{RedisBroker, RedisConfig};
use outbox::conformance::broker::{LocalRig, Report, Rig, capability_table};
use outbox::rabbitmq::{RabbitMqBroker, RabbitMqConfig};
use outbox::sqlite::SqliteStore;
use outbox_tests::servers::Nats;

/// After a crash the search for its cause ends with what was in work.
fn assert_tells_what_is_new(report: &Report) {
    assert!(report.kept().any(|rule| rule.contains("has come to new events")), "{report}");
}

#[tokio::test]
async fn the_readme_shows_what_each_broker_declares() {
    let Some(nats) = Nats::shared().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}", folder.path().join("outbox.db").display());
    let local = LocalRig::new(SqliteStore::open(&url).await.unwrap());
    let redis = RedisBroker::new(RedisConfig::default());
    let rabbitmq = RabbitMqBroker::new(RabbitMqConfig::default());
    let kafka = KafkaBroker::new(KafkaConfig::default());
    let nats = NatsBroker::new(NatsConfig { servers: nats.url(), ..NatsConfig::default() });
    // Only its server knows the largest message.
    nats.connect().await.unwrap();

    let brokers: [&dyn Broker; 4] = [&redis, &rabbitmq, &nats, &kafka];
    let declared = brokers.map(Broker::capabilities);
    let table = capability_table(&[&[local.capabilities()], &declared[..]].concat());

    let readme = include_str!("../../../README.md");
    assert!(readme.contains(&table), "the README has another table than this:\n{table}");
}
