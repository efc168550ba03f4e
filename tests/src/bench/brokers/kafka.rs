//! The client of Kafka by hand: an idempotent producer that waits for all copies, and one consumer a partition.

use super::hand::{Hand, Message, Reader, Taken};
use crate::servers::Kafka;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use rdkafka::consumer::{CommitMode, Consumer, StreamConsumer};
use rdkafka::message::{Header, Headers, Message as _, OwnedHeaders};
use rdkafka::producer::{FutureProducer, FutureRecord};
use rdkafka::{Offset, TopicPartitionList};
use std::time::Duration;
use tokio::time::timeout;

pub(super) struct KafkaByHand<'a> {
    server: &'a Kafka,
    producer: FutureProducer,
}

impl<'a> KafkaByHand<'a> {
    pub(super) fn connect(server: &'a Kafka) -> Self {
        let mut config = server.client();
        config.set("enable.idempotence", "true").set("acks", "all").set("linger.ms", "1");
        Self { server, producer: config.create().unwrap() }
    }
}

impl Hand for KafkaByHand<'_> {
    async fn declare(&self, topic: &str, partitions: u16) {
        self.server.create_topic(topic, i32::from(partitions), &[]).await;
    }

    async fn introduce(&self, _topic: &str, _partitions: u16) {}

    async fn publish(&self, topic: &str, messages: &[Message]) {
        let mut answers = Vec::with_capacity(messages.len());
        for message in messages {
            let mut headers = OwnedHeaders::new_with_capacity(message.headers.len());
            for (name, value) in &message.headers {
                headers = headers.insert(Header { key: name, value: Some(value) });
            }
            let record = FutureRecord::to(topic).payload(&message.payload).key(&message.key);
            let record = record.partition(i32::from(message.partition)).headers(headers);
            answers.push(self.producer.send_result(record).unwrap());
        }
        for answer in answers {
            answer.await.unwrap().unwrap();
        }
    }

    async fn read(&self, topic: &str, partition: u16) -> Box<dyn Reader> {
        let mut config = self.server.client();
        config.set("group.id", "raw").set("enable.auto.commit", "false").set("auto.offset.reset", "earliest");
        let consumer: StreamConsumer = config.create().unwrap();
        let mut list = TopicPartitionList::new();
        list.add_partition_offset(topic, i32::from(partition), Offset::Stored).unwrap();
        consumer.assign(&list).unwrap();
        Box::new(KafkaReader {
            consumer,
            topic: topic.to_owned(),
            partition: i32::from(partition),
            next: None,
        })
    }
}

struct KafkaReader {
    consumer: StreamConsumer,
    topic: String,
    partition: i32,
    /// The offset behind what was taken last.
    next: Option<i64>,
}

impl Reader for KafkaReader {
    fn take(&mut self, max: usize) -> BoxFuture<'_, Vec<Taken>> {
        async move {
            let mut taken = Vec::new();
            // The first is waited for, then what is there.
            let mut next = timeout(Duration::from_millis(200), self.consumer.recv()).await.ok();
            while let Some(message) = next {
                let message = message.unwrap();
                let headers = message.headers().unwrap();
                let id = headers.iter().find(|header| header.key == "ce_id").unwrap().value.unwrap();
                let id = String::from_utf8(id.to_vec()).unwrap();
                taken.push((id, message.payload().unwrap().to_vec()));
                self.next = Some(message.offset() + 1);
                next = if taken.len() < max { self.consumer.recv().now_or_never() } else { None };
            }
            taken
        }
        .boxed()
    }

    fn ack(&mut self) -> BoxFuture<'_, ()> {
        async move {
            if let Some(next) = self.next.take() {
                let mut list = TopicPartitionList::new();
                list.add_partition_offset(&self.topic, self.partition, Offset::Offset(next)).unwrap();
                self.consumer.commit(&list, CommitMode::Async).unwrap();
            }
        }
        .boxed()
    }
}
