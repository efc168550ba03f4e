//! What is wrong with topics and the queues of their consumers, or will be: as much as the protocol tells. It says whether a queue
//! is there, how many messages it holds and how many read it, and whether it was declared as ours are; policies it does not show.

use super::{
    error::{of, soft_error},
    link::{Line, Link},
    topology::{self, Queue, short},
};
use crate::{
    broker::{BrokerError, Examination, topic_finding::partitions_differ},
    finding::{Finding, counted},
    held::Stage,
};
use lapin::{options::QueueDeclareOptions, protocol::AMQPSoftError, types::FieldTable};
use std::sync::Arc;

const ACTION: &str = "examine the topics";

/// So many messages may be in queues that nobody reads: for a moment, while processes are started anew.
const UNREAD_MAX: u64 = 1_000;

impl Line {
    pub(super) async fn examine(&self, asked: &Examination) -> Result<Vec<Finding>, BrokerError> {
        let link = self.link(ACTION).await?;
        let mut findings = Vec::new();
        for topic in &asked.topics {
            let marker = topology::marker(topic, self.config.partitions);
            if self.load_of(&link, &marker.name).await?.is_none() {
                continue;
            }
            if let Some(found) = self.difference(&link, marker).await? {
                findings.push(partitions_differ(topic, &found, self.config.partitions));
                continue;
            }
            for consumer in &asked.consumers {
                findings.extend(self.examine_consumer(&link, topic, consumer).await?);
            }
        }
        Ok(findings)
    }

    async fn examine_consumer(
        &self,
        link: &Arc<Link>,
        topic: &str,
        consumer: &str,
    ) -> Result<Vec<Finding>, BrokerError> {
        let (mut findings, mut missing, mut unread) = (Vec::new(), Vec::new(), 0);
        let partitions = topology::partitions(&self.config);
        for partition in &partitions {
            let queue = topology::queue_of(topic, consumer, partition);
            let name = queue.name.clone();
            match self.load_of(link, &name).await? {
                None => missing.push(name),
                Some(load) => {
                    unread += if load.readers == 0 { load.messages } else { 0 };
                    let differs = self.difference(link, queue).await?;
                    findings.extend(differs.map(|found| queue_differs(&name, &found)));
                }
            }
        }
        let about = Stage::consumer(consumer).to_string();
        // One that has none yet is new, or reads other topics.
        if !missing.is_empty() && missing.len() < partitions.len() {
            findings.push(Finding {
                code: "queue-missing",
                about: about.clone(),
                problem: format!(
                    "{}: {}",
                    counted(missing.len(), "of its queues is gone", "of its queues are gone"),
                    missing.join(", ")
                ),
                why: "what is published meanwhile for their partitions passes the consumer by",
                fix: "start a process of the consumer, which makes them anew; then replay the range of the log to the relay \
                      (`outbox replay start --relay …`)"
                    .to_owned(),
            });
        }
        if unread > UNREAD_MAX {
            findings.push(Finding {
                code: "queue-unread",
                about,
                problem: format!("{unread} messages of the topic `{topic}` are in queues that no process reads"),
                why: "the queues grow until the server's disk is full, and then it takes nothing from anybody",
                fix: format!(
                    "start a process of the consumer; if it is gone for good: `rabbitmqctl delete_queue {topic}.{consumer}.…`"
                ),
            });
        }
        Ok(findings)
    }

    /// What is in a queue; `None` when there is none of that name.
    async fn load_of(&self, link: &Arc<Link>, name: &str) -> Result<Option<Load>, BrokerError> {
        let channel = self.channel(link, ACTION).await?;
        let options = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::default() };
        let asked = channel.queue_declare(short(name)?, options, FieldTable::default());
        match self.answer(link, ACTION, asked).await? {
            Ok(queue) => {
                Ok(Some(Load { messages: queue.message_count().into(), readers: queue.consumer_count() }))
            }
            Err(error) if matches!(soft_error(&error), Some(AMQPSoftError::NOTFOUND)) => Ok(None),
            Err(error) => Err(of(ACTION, error)),
        }
    }

    /// How a queue that stands differs from ours.
    async fn difference(&self, link: &Arc<Link>, queue: Queue) -> Result<Option<String>, BrokerError> {
        let channel = self.channel(link, ACTION).await?;
        match self.declare_queue(link, &channel, ACTION, queue).await {
            Ok(()) => Ok(None),
            Err(BrokerError::Mismatch { found, .. }) => Ok(Some(found)),
            Err(error) => Err(error),
        }
    }
}

struct Load {
    messages: u64,
    readers: u32,
}

fn queue_differs(name: &str, found: &str) -> Finding {
    Finding {
        code: "queue-differs",
        about: format!("queue/{name}"),
        problem: format!("it was declared otherwise than ours are: {found}"),
        why: "a maximum length or a time to live drops events that nobody counts, and without a single active consumer a key is \
              handled out of order; the consumer refuses to start",
        fix: "remove that queue once it is empty, or give the consumer another name".to_owned(),
    }
}
