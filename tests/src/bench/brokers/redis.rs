//! The client of Redis by hand: publishes in pipelines, and reads through one group a stream.

use super::hand::{Hand, Message, Reader, Taken};
use crate::servers::Redis;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use redis_client::aio::MultiplexedConnection;
use redis_client::{cmd, pipe};

pub(super) struct RedisByHand {
    connection: MultiplexedConnection,
    url: String,
}

impl RedisByHand {
    pub(super) async fn connect(server: &Redis) -> Self {
        Self { connection: server.connect().await.unwrap(), url: server.url() }
    }
}

impl Hand for RedisByHand {
    async fn declare(&self, _topic: &str, _partitions: u16) {}

    async fn introduce(&self, topic: &str, partitions: u16) {
        for partition in 0..partitions {
            let mut create = cmd("XGROUP");
            create.arg("CREATE").arg(format!("{topic}:{partition}")).arg("raw").arg("0").arg("MKSTREAM");
            create.query_async::<()>(&mut self.connection.clone()).await.unwrap();
        }
    }

    async fn publish(&self, topic: &str, messages: &[Message]) {
        let mut pipeline = pipe();
        for message in messages {
            let command = pipeline.cmd("XADD").arg(format!("{topic}:{}", message.partition)).arg("*");
            for (name, value) in &message.headers {
                command.arg(*name).arg(value);
            }
            command.arg("data").arg(&message.payload);
        }
        let ids: Vec<String> = pipeline.query_async(&mut self.connection.clone()).await.unwrap();
        assert_eq!(ids.len(), messages.len());
    }

    async fn read(&self, topic: &str, partition: u16) -> Box<dyn Reader> {
        let client = redis_client::Client::open(self.url.as_str()).unwrap();
        let connection = client.get_multiplexed_async_connection().await.unwrap();
        Box::new(RedisReader { connection, stream: format!("{topic}:{partition}"), ids: Vec::new() })
    }
}

struct RedisReader {
    connection: MultiplexedConnection,
    stream: String,
    ids: Vec<String>,
}

/// Of each stream its entries: their id, then names and values.
type Entries = Option<Vec<(String, Vec<(String, Vec<Vec<u8>>)>)>>;

impl Reader for RedisReader {
    fn take(&mut self, max: usize) -> BoxFuture<'_, Vec<Taken>> {
        async move {
            let mut read = cmd("XREADGROUP");
            read.arg("GROUP").arg("raw").arg("member").arg("COUNT").arg(max).arg("BLOCK").arg(200);
            read.arg("STREAMS").arg(&self.stream).arg(">");
            let streams: Entries = read.query_async(&mut self.connection).await.unwrap();
            let entries = streams.into_iter().flatten().flat_map(|(_, entries)| entries);
            self.ids.clear();
            let taken = entries.map(|(id, fields)| {
                self.ids.push(id);
                let (pairs, _) = fields.as_chunks::<2>();
                let value = |name: &[u8]| pairs.iter().find(|[field, _]| field == name).unwrap()[1].clone();
                (String::from_utf8(value(b"ce_id")).unwrap(), value(b"data"))
            });
            taken.collect()
        }
        .boxed()
    }

    fn ack(&mut self) -> BoxFuture<'_, ()> {
        async move {
            if !self.ids.is_empty() {
                let mut ack = cmd("XACK");
                ack.arg(&self.stream).arg("raw").arg(&self.ids);
                ack.query_async::<u64>(&mut self.connection).await.unwrap();
            }
        }
        .boxed()
    }
}
