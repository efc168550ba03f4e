//! What a consumer has lost: messages that the stream removed before any of its durables was given them.
//!
//! A durable is filtered to one partition and says nothing of what was removed there. But the durables of a consumer cover all
//! partitions, so what lies between the last place that any of them was given and the first that the stream still has was given
//! to none: so many are lost for certain. There may be more, below the last place, which nothing tells.

use super::{NatsBroker, request, topic};
use crate::{
    broker::{BrokerError, SubscriptionConfig},
    held::Stage,
    telemetry::{self, Outcome},
};
use async_nats::jetstream::{self, consumer::Info, stream::State};
use std::collections::{BTreeMap, HashSet};
use tokio::sync::Mutex;

const ACTION: &str = "look for what a consumer has missed";

/// The topics and consumers of which this process has told what they missed.
pub(super) type Missed = Mutex<HashSet<(String, String)>>;

#[derive(serde::Serialize)]
struct Offset {
    offset: usize,
}

#[derive(serde::Deserialize)]
struct Listed {
    total: usize,
    #[serde(default)]
    consumers: Option<Vec<Info>>,
}

impl NatsBroker {
    /// Counts what a consumer has missed, before its first subscription in this process: nobody may be given anything newer
    /// meanwhile, which would hide it. Processes that start at the same time may count the same.
    pub(super) async fn tell_missed(&self, context: &jetstream::Context, subscription: &SubscriptionConfig) {
        let (topic, consumer) = (&subscription.topic, &subscription.consumer);
        let name = (topic.clone(), consumer.clone());
        let mut told = self.missed.lock().await;
        if told.contains(&name) {
            return;
        }
        let missed = match self.missed_by(context, topic, consumer).await {
            Ok(missed) => missed,
            // A user that may not ask so can consume all the same.
            Err(error) => {
                tracing::debug!(
                    error = &error as &dyn std::error::Error,
                    "what a consumer has missed is not known"
                );
                return;
            }
        };
        told.insert(name);
        if missed > 0 {
            telemetry::count_events(Stage::consumer(consumer).as_str(), Outcome::Missed, missed);
            tracing::error!(
                messaging.consumer.group.name = consumer,
                messaging.destination.name = topic,
                count = missed,
                "events were removed from the broker before this consumer handled them"
            );
        }
    }

    async fn missed_by(
        &self,
        context: &jetstream::Context,
        topic: &str,
        consumer: &str,
    ) -> Result<u64, BrokerError> {
        let Some(stream) = topic::find(context, ACTION, topic).await? else { return Ok(0) };
        let durables = durables(context, ACTION, topic).await?.remove(consumer).unwrap_or_default();
        Ok(lost(&stream.state, &durables, self.config.partitions))
    }
}

/// The durables of each consumer of ours.
pub(super) async fn durables(
    context: &jetstream::Context,
    action: &'static str,
    topic: &str,
) -> Result<BTreeMap<String, Vec<Info>>, BrokerError> {
    let subject = format!("CONSUMER.LIST.{topic}");
    let (mut by_consumer, mut seen) = (BTreeMap::<String, Vec<Info>>::new(), 0);
    loop {
        let page: Listed = request(context, action, &subject, &Offset { offset: seen }).await?;
        let infos = page.consumers.unwrap_or_default();
        seen += infos.len();
        let is_last = infos.is_empty() || seen >= page.total;
        for info in infos {
            if let Some(consumer) = consumer_of(&info) {
                by_consumer.entry(consumer).or_default().push(info);
            }
        }
        if is_last {
            return Ok(by_consumer);
        }
    }
}

/// The consumer whose partition a durable is: `billing=charge-7` is of `billing.charge`.
fn consumer_of(durable: &Info) -> Option<String> {
    durable.config.durable_name.as_ref()?;
    let (consumer, partition) = durable.name.rsplit_once('-')?;
    let is_partition = partition == "any" || partition.parse::<u16>().is_ok();
    is_partition.then(|| consumer.replace('=', "."))
}

/// How many messages were removed before any of these durables was given them; none is known where some partition has no
/// durable.
pub(super) fn lost(stream: &State, durables: &[Info], partitions: u16) -> u64 {
    if durables.len() <= usize::from(partitions) {
        return 0;
    }
    let given = |info: &Info| info.delivered.stream_sequence.max(info.ack_floor.stream_sequence);
    let last = durables.iter().map(given).max().unwrap_or(0);
    stream.first_sequence.saturating_sub(last + 1)
}
