//! Declares a topic and the queues of its consumers, now and then, and refuses what stands otherwise.
//!
//! ```text
//! exchange <topic> ── <partition>.# ──▶ queue <topic>.<consumer>.<partition>     for each partition, and `any`
//! queue <topic>.outbox: empty for ever; its `x-max-length` is the number of partitions, which no exchange can keep
//! ```
//! A declaration that differs ends its channel, so each has one of its own.

use super::{
    config::RabbitMqConfig,
    error::{of, of_declaration, refused},
    link::{Line, Link},
};
use crate::broker::{BrokerError, partition};
use lapin::{
    Channel, ExchangeKind,
    options::{ExchangeDeclareOptions, QueueBindOptions, QueueDeclareOptions},
    types::{AMQPValue, FieldTable, ShortString},
};
use std::{sync::Arc, time::Instant};

const DECLARE: &str = "declare the topic";
const SUBSCRIBE: &str = "subscribe";

/// The longest name of a queue in bytes.
const NAME_BYTES_MAX: usize = 255;

/// How often a queue delivers a message before it drops it: never. A consumer of ours sets aside what fails, with the reason,
/// and from RabbitMQ 4.0 on a queue that says nothing drops after 20.
const DELIVERY_LIMIT: i32 = i32::MAX;

/// The queue of one partition of a consumer.
pub(super) fn queue(topic: &str, consumer: &str, partition: &str) -> String {
    format!("{topic}.{consumer}.{partition}")
}

/// The routing key of one event.
pub(super) fn routing_key(key: Option<&str>, event_type: &str, partitions: u16) -> String {
    format!("{}.{event_type}", partition::of(key, partitions))
}

/// The partitions of every topic.
pub(super) fn partitions(config: &RabbitMqConfig) -> Vec<String> {
    partition::names(config.partitions)
}

impl Line {
    /// Sees to it that the topic is declared as configured.
    pub(super) async fn declare_topic(&self, link: &Arc<Link>, topic: &str) -> Result<(), BrokerError> {
        if self.is_declared(link, topic) {
            return Ok(());
        }
        let channel = self.channel(link, DECLARE).await?;
        let options = ExchangeDeclareOptions { durable: true, ..ExchangeDeclareOptions::default() };
        let exchange =
            channel.exchange_declare(short(topic)?, ExchangeKind::Topic, options, FieldTable::default());
        self.answer(link, DECLARE, exchange).await?.map_err(|error| {
            let (name, wanted) = (format!("exchange {topic}"), "a durable topic exchange".to_owned());
            let fix = "remove that exchange, or give the topic another name";
            of_declaration(DECLARE, name, wanted, fix, error)
        })?;
        self.declare_queue(link, &channel, DECLARE, marker(topic, self.config.partitions)).await?;
        link.set_declared(topic);
        Ok(())
    }

    /// Sees to it that the consumer has its queues, all of them: from now on it misses nothing of the topic.
    pub(super) async fn declare_consumer(
        &self,
        link: &Arc<Link>,
        topic: &str,
        consumer: &str,
    ) -> Result<(), BrokerError> {
        self.declare_topic(link, topic).await?;
        let all = queue(topic, consumer, "*");
        if self.is_declared(link, &all) {
            return Ok(());
        }
        let channel = self.channel(link, SUBSCRIBE).await?;
        for partition in partitions(&self.config) {
            let declared = queue_of(topic, consumer, &partition);
            let (queue, binding) = (short(&declared.name)?, short(&format!("{partition}.#"))?);
            self.declare_queue(link, &channel, SUBSCRIBE, declared).await?;
            let (options, arguments) = (QueueBindOptions::default(), FieldTable::default());
            let bound = channel.queue_bind(queue, short(topic)?, binding, options, arguments);
            self.answer(link, SUBSCRIBE, bound).await?.map_err(|error| of(SUBSCRIBE, error))?;
        }
        link.set_declared(&all);
        Ok(())
    }

    /// Whether it was declared a short while ago.
    fn is_declared(&self, link: &Link, name: &str) -> bool {
        let declared = link.declared.lock().expect("no panic holds this lock");
        declared.get(name).is_some_and(|at| at.elapsed() < self.config.declare_every)
    }

    /// A channel of the caller's own.
    pub(super) async fn channel(
        &self,
        link: &Arc<Link>,
        action: &'static str,
    ) -> Result<Channel, BrokerError> {
        let created = self.answer(link, action, link.connection.create_channel()).await?;
        created.map_err(|error| of(action, error))
    }

    pub(super) async fn declare_queue(
        &self,
        link: &Arc<Link>,
        channel: &Channel,
        action: &'static str,
        queue: Queue,
    ) -> Result<(), BrokerError> {
        let options = QueueDeclareOptions { durable: true, ..QueueDeclareOptions::default() };
        let mut arguments = FieldTable::default();
        arguments.insert("x-queue-type".into(), AMQPValue::LongString("quorum".into()));
        for (name, value) in queue.arguments {
            arguments.insert(name.into(), value);
        }
        let declared = channel.queue_declare(short(&queue.name)?, options, arguments);
        self.answer(link, action, declared).await?.map_err(|error| {
            let (name, wanted) =
                (format!("queue {}", queue.name), format!("a quorum queue with {}", queue.wanted));
            of_declaration(action, name, wanted, queue.fix, error)
        })?;
        Ok(())
    }
}

/// The queue that keeps the number of partitions of a topic.
pub(super) fn marker(topic: &str, partitions: u16) -> Queue {
    let partitions = i32::from(partitions);
    Queue {
        name: format!("{topic}.outbox"),
        arguments: vec![("x-max-length", AMQPValue::LongInt(partitions))],
        wanted: format!("`partitions: {partitions}`, as `x-max-length: {partitions}`"),
        fix: "configure every process with the number of partitions that the topic was declared with, or give the topic \
              another name",
    }
}

/// The queue of one partition of a consumer, with what it is declared as.
pub(super) fn queue_of(topic: &str, consumer: &str, partition: &str) -> Queue {
    Queue {
        name: queue(topic, consumer, partition),
        arguments: vec![
            ("x-single-active-consumer", AMQPValue::Boolean(true)),
            ("x-delivery-limit", AMQPValue::LongInt(DELIVERY_LIMIT)),
        ],
        wanted: format!("`x-single-active-consumer: true` and `x-delivery-limit: {DELIVERY_LIMIT}`"),
        fix: "remove that queue once it is empty, or give the consumer another name",
    }
}

/// A durable quorum queue to declare.
pub(super) struct Queue {
    pub(super) name: String,
    arguments: Vec<(&'static str, AMQPValue)>,
    /// The arguments for people.
    wanted: String,
    fix: &'static str,
}

impl Link {
    fn set_declared(&self, name: &str) {
        self.declared.lock().expect("no panic holds this lock").insert(name.to_owned(), Instant::now());
    }

    /// Forgets what was declared, after the server did not find it.
    pub(super) fn forget(&self) {
        self.declared.lock().expect("no panic holds this lock").clear();
    }
}

/// A name for the protocol, which takes no longer one.
pub(super) fn short(name: &str) -> Result<ShortString, BrokerError> {
    ShortString::try_new(name).map_err(|_| {
        let problem =
            format!("a name may have {NAME_BYTES_MAX} bytes here; shorten the topic or the consumer");
        refused(SUBSCRIBE, &problem, format!("`{name}` has {} bytes", name.len()))
    })
}
