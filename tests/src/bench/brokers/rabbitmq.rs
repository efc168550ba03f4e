//! The client of RabbitMQ by hand: publishes with confirms, and consumes one quorum queue a partition.

use super::hand::{Hand, Message, Reader, Taken};
use crate::servers::RabbitMq;
use futures_util::future::{BoxFuture, try_join_all};
use futures_util::{FutureExt, StreamExt};
use lapin::message::Delivery;
use lapin::options::{
    BasicAckOptions, BasicConsumeOptions, BasicPublishOptions, BasicQosOptions, ExchangeDeclareOptions,
    QueueBindOptions, QueueDeclareOptions,
};
use lapin::types::{AMQPValue, FieldTable};
use lapin::{BasicProperties, Channel, Connection, Consumer, ExchangeKind};
use std::time::Duration;
use tokio::time::timeout;

pub(super) struct RabbitMqByHand {
    connection: Connection,
    channel: Channel,
}

impl RabbitMqByHand {
    pub(super) async fn connect(server: &RabbitMq) -> Self {
        let (connection, channel) = server.connect().await.unwrap();
        Self { connection, channel }
    }

    /// A quorum queue of each partition.
    async fn bind(&self, topic: &str, partitions: u16) {
        for partition in 0..partitions {
            let mut arguments = FieldTable::default();
            arguments.insert("x-queue-type".into(), AMQPValue::LongString("quorum".into()));
            let queue = format!("raw.{topic}.{partition}");
            let options = QueueDeclareOptions { durable: true, ..QueueDeclareOptions::default() };
            self.channel.queue_declare(queue.as_str().into(), options, arguments).await.unwrap();
            let (routing_key, options) = (format!("{partition}.#"), QueueBindOptions::default());
            let bound = self.channel.queue_bind(
                queue.as_str().into(),
                topic.into(),
                routing_key.as_str().into(),
                options,
                FieldTable::default(),
            );
            bound.await.unwrap();
        }
    }
}

impl Hand for RabbitMqByHand {
    async fn declare(&self, topic: &str, partitions: u16) {
        let options = ExchangeDeclareOptions { durable: true, ..ExchangeDeclareOptions::default() };
        let declared =
            self.channel.exchange_declare(topic.into(), ExchangeKind::Topic, options, FieldTable::default());
        declared.await.unwrap();
        self.bind(topic, partitions).await;
    }

    async fn introduce(&self, topic: &str, partitions: u16) {
        self.bind(topic, partitions).await;
    }

    async fn publish(&self, topic: &str, messages: &[Message]) {
        let mut confirms = Vec::with_capacity(messages.len());
        for message in messages {
            let mut headers = FieldTable::default();
            for (name, value) in &message.headers {
                headers.insert((*name).into(), AMQPValue::LongString(value.as_str().into()));
            }
            let properties = BasicProperties::default().with_headers(headers).with_delivery_mode(2);
            let routing_key = format!("{}.world.noted", message.partition);
            let options = BasicPublishOptions { mandatory: true, ..BasicPublishOptions::default() };
            let sent = self.channel.basic_publish(
                topic.into(),
                routing_key.as_str().into(),
                options,
                message.payload.as_bytes(),
                properties,
            );
            confirms.push(sent.await.unwrap());
        }
        for confirmed in try_join_all(confirms).await.unwrap() {
            assert!(confirmed.is_ack());
        }
    }

    async fn read(&self, topic: &str, partition: u16) -> Box<dyn Reader> {
        let channel = self.connection.create_channel().await.unwrap();
        channel.basic_qos(256, BasicQosOptions::default()).await.unwrap();
        let (queue, tag) = (format!("raw.{topic}.{partition}"), format!("raw-{partition}"));
        let options = BasicConsumeOptions::default();
        let consumer =
            channel.basic_consume(queue.as_str().into(), tag.as_str().into(), options, FieldTable::default());
        Box::new(RabbitMqReader { consumer: consumer.await.unwrap(), last: None })
    }
}

struct RabbitMqReader {
    consumer: Consumer,
    last: Option<Delivery>,
}

impl Reader for RabbitMqReader {
    fn take(&mut self, max: usize) -> BoxFuture<'_, Vec<Taken>> {
        async move {
            let mut taken = Vec::new();
            self.last = None;
            // The first is waited for, then what is there.
            let mut next = timeout(Duration::from_millis(200), self.consumer.next()).await.ok().flatten();
            while let Some(delivery) = next {
                let delivery = delivery.unwrap();
                taken.push((id_of(&delivery), delivery.data.clone()));
                self.last = Some(delivery);
                next = if taken.len() < max { self.consumer.next().now_or_never().flatten() } else { None };
            }
            taken
        }
        .boxed()
    }

    fn ack(&mut self) -> BoxFuture<'_, ()> {
        async move {
            if let Some(last) = self.last.take() {
                assert!(last.ack(BasicAckOptions { multiple: true }).await.unwrap());
            }
        }
        .boxed()
    }
}

fn id_of(delivery: &Delivery) -> String {
    let headers = delivery.properties.headers().as_ref().unwrap();
    match headers.inner().get("cloudEvents_id") {
        Some(AMQPValue::LongString(id)) => id.to_string(),
        other => panic!("no id: {other:?}"),
    }
}
