//! The client of NATS by hand: publishes with acks, and pulls through one durable consumer a partition.

use super::hand::{Hand, Message, Reader, Taken};
use async_nats::HeaderMap;
use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::Config;
use async_nats::jetstream::{self, AckKind};
use futures_util::future::{BoxFuture, join_all, try_join_all};
use futures_util::{FutureExt, StreamExt};
use std::time::Duration;

pub(super) struct NatsByHand {
    context: jetstream::Context,
}

impl NatsByHand {
    pub(super) async fn connect(url: &str) -> Self {
        let client = async_nats::connect(url).await.unwrap();
        Self { context: jetstream::new(client) }
    }
}

impl Hand for NatsByHand {
    async fn declare(&self, topic: &str, _partitions: u16) {
        let subjects = vec![format!("{topic}.>")];
        let stream = Config { name: topic.to_owned(), subjects, ..Config::default() };
        self.context.create_stream(stream).await.unwrap();
    }

    async fn introduce(&self, topic: &str, partitions: u16) {
        let stream = self.context.get_stream(topic).await.unwrap();
        for partition in 0..partitions {
            let durable = pull::Config {
                durable_name: Some(format!("raw-{partition}")),
                filter_subject: format!("{topic}.{partition}.>"),
                ack_policy: AckPolicy::Explicit,
                max_ack_pending: 1_000,
                ..pull::Config::default()
            };
            stream.create_consumer(durable).await.unwrap();
        }
    }

    async fn publish(&self, topic: &str, messages: &[Message]) {
        let mut answers = Vec::with_capacity(messages.len());
        for message in messages {
            let mut headers = HeaderMap::new();
            for (name, value) in &message.headers {
                headers.insert(*name, value.as_str());
            }
            // What the server drops a second copy by.
            headers.insert("Nats-Msg-Id", message.id.as_str());
            let subject = format!("{topic}.{}.world.noted", message.partition);
            let publish = PublishMessage::build().payload(message.payload.clone().into()).headers(headers);
            answers.push(self.context.send_publish(subject, publish).await.unwrap().into_future());
        }
        try_join_all(answers).await.unwrap();
    }

    async fn read(&self, topic: &str, partition: u16) -> Box<dyn Reader> {
        let stream = self.context.get_stream(topic).await.unwrap();
        let durable = stream.get_consumer(&format!("raw-{partition}")).await.unwrap();
        Box::new(NatsReader { durable, taken: Vec::new() })
    }
}

struct NatsReader {
    durable: PullConsumer,
    taken: Vec<jetstream::Message>,
}

impl Reader for NatsReader {
    fn take(&mut self, max: usize) -> BoxFuture<'_, Vec<Taken>> {
        async move {
            let batch = self.durable.batch().max_messages(max).expires(Duration::from_millis(200));
            let messages: Vec<_> = batch.messages().await.unwrap().collect().await;
            self.taken = messages.into_iter().map(Result::unwrap).collect();
            let of = |message: &jetstream::Message| {
                let headers = message.headers.as_ref().unwrap();
                (headers.get("ce-id").unwrap().to_string(), message.payload.to_vec())
            };
            self.taken.iter().map(of).collect()
        }
        .boxed()
    }

    fn ack(&mut self) -> BoxFuture<'_, ()> {
        async move {
            let acks = self.taken.iter().map(|message| message.ack_with(AckKind::Ack));
            join_all(acks).await.into_iter().for_each(Result::unwrap);
        }
        .boxed()
    }
}
