//! The brokers to choose from. All that differs between them is here.

use clap::ValueEnum;
use outbox::{
    broker::Broker,
    kafka::{KafkaBroker, KafkaConfig},
    nats::{NatsBroker, NatsConfig},
    rabbitmq::{RabbitMqBroker, RabbitMqConfig},
    redis::{RedisBroker, RedisConfig},
};
use std::sync::Arc;

/// How many keys of a topic can be worked at once, each partition by one process at a time. The default is 16; a shop
/// with one process for each service needs fewer.
const PARTITIONS: u16 = 4;

/// How events get from one service to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BrokerName {
    /// No broker: the services share one outbox, and their consumers read its log
    Local,
    /// NATS JetStream
    Nats,
    /// Redis Streams
    Redis,
    /// RabbitMQ
    Rabbitmq,
    /// Apache Kafka
    Kafka,
}

impl BrokerName {
    /// The broker at an address, or at its usual one on this machine. `None` where there is no broker.
    #[must_use]
    pub fn at(self, url: Option<&str>) -> Option<Arc<dyn Broker>> {
        let at = |usual: &str| url.unwrap_or(usual).to_owned();
        let partitions = PARTITIONS;
        Some(match self {
            Self::Local => return None,
            Self::Nats => {
                let servers = at("nats://127.0.0.1:4222");
                Arc::new(NatsBroker::new(NatsConfig { servers, partitions, ..NatsConfig::default() }))
            }
            Self::Redis => {
                let server = at("redis://127.0.0.1:6379");
                Arc::new(RedisBroker::new(RedisConfig { server, partitions, ..RedisConfig::default() }))
            }
            Self::Rabbitmq => {
                let server = at("amqp://127.0.0.1:5672");
                let config = RabbitMqConfig { server, partitions, ..RabbitMqConfig::default() };
                Arc::new(RabbitMqBroker::new(config))
            }
            Self::Kafka => {
                let servers = at("kafka://127.0.0.1:9092");
                Arc::new(KafkaBroker::new(KafkaConfig { servers, partitions, ..KafkaConfig::default() }))
            }
        })
    }

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> String {
        let value = self.to_possible_value().expect("no broker is hidden");
        value.get_name().to_owned()
    }
}
