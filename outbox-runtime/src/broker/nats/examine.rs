//! What is wrong with topics and the durables of their consumers, or will be.

use super::{NatsBroker, look_into_account, position, topic};
use crate::{
    broker::{
        BrokerError, Examination,
        topic_finding::{limit_drops, of_retention, partitions_differ, position_lost},
    },
    finding::{Bytes, Finding, counted},
    held::Stage,
};
use async_nats::jetstream::{
    consumer,
    stream::{Config, DiscardPolicy, RetentionPolicy},
};
use std::time::Duration;

const ACTION: &str = "examine the topics";

impl NatsBroker {
    pub(super) async fn examine_topics(&self, asked: &Examination) -> Result<Vec<Finding>, BrokerError> {
        let context = self.live_context(ACTION).await?;
        look_into_account(context).await?;
        let mut findings = Vec::new();
        for topic in &asked.topics {
            let Some(stream) = topic::find(context, ACTION, topic).await? else { continue };
            findings.extend(self.of_stream(topic, &stream.config, asked.window));
            for (consumer, durables) in position::durables(context, ACTION, topic).await? {
                let lost = position::lost(&stream.state, &durables, self.config.partitions);
                findings.extend((lost > 0).then(|| position_lost(topic, &consumer, lost)));
                findings.extend(of_durables(topic, &consumer, &durables));
            }
        }
        Ok(findings)
    }

    fn of_stream(&self, topic: &str, stream: &Config, window: Duration) -> Vec<Finding> {
        let mut findings = Vec::new();
        let wanted = topic::description(self.config.partitions);
        let found = stream.description.as_deref().unwrap_or_default();
        if found != wanted {
            let found = format!("the description {found:?}");
            findings.push(partitions_differ(topic, &found, self.config.partitions));
        }
        let kept = Some(stream.max_age).filter(|age| !age.is_zero());
        let setting = |span: Duration| format!("max_age: {}s", span.as_secs());
        findings.extend(of_retention(topic, kept, window, setting));
        if stream.retention != RetentionPolicy::Limits {
            let limit = format!("what its retention `{:?}` keeps", stream.retention);
            findings.push(limit_drops(
                topic,
                &limit,
                "make the stream with the retention `limits`".to_owned(),
            ));
        }
        if stream.discard == DiscardPolicy::Old {
            findings.extend(limit_of(stream).map(|limit| {
                let fix = "remove the limit, or set `discard: new`: then events wait in the store".to_owned();
                limit_drops(topic, &limit, fix)
            }));
        }
        findings
    }
}

/// The limits beyond which something is removed.
fn limit_of(stream: &Config) -> Option<String> {
    let limits = [
        (stream.max_messages > 0)
            .then(|| format!("{} (`max_msgs`)", counted(stream.max_messages, "message", "messages"))),
        (stream.max_messages_per_subject > 0)
            .then(|| format!("{} of a subject (`max_msgs_per_subject`)", stream.max_messages_per_subject)),
        (stream.max_bytes > 0).then(|| format!("{} (`max_bytes`)", Bytes(stream.max_bytes.unsigned_abs()))),
    ];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    (!limits.is_empty()).then(|| limits.join(", "))
}

/// What durables do that somebody else has made, or changed.
fn of_durables(topic: &str, consumer: &str, durables: &[consumer::Info]) -> Option<Finding> {
    let limited: Vec<_> = durables.iter().filter(|info| info.config.max_deliver > 0).collect();
    let least = limited.iter().map(|info| info.config.max_deliver).min()?;
    Some(Finding {
        code: "deliveries-limited",
        about: Stage::consumer(consumer).to_string(),
        problem: format!(
            "{} an event {} at most (`max_deliver`)",
            counted(
                limited.len(),
                &format!("of its durables on the stream `{topic}` gives"),
                &format!("of its durables on the stream `{topic}` give")
            ),
            counted(least, "time", "times")
        ),
        why: "after that it stays in the stream and is given to nobody any more: it is neither handled nor set aside",
        fix: "set `max_deliver: -1`; a process of the consumer does so when it takes the partition"
            .to_owned(),
    })
}
