//! What is wrong with topics and the positions of their consumers, or will be.

use super::{
    client::{ask, let_go, waiting},
    link::{FRAME_BYTES_MAX, Link},
    topic::Settings,
};
use crate::{
    broker::{
        BrokerError, Examination, SubscriptionConfig,
        topic_finding::{limit_drops, of_retention, partitions_differ, position_lost, topic_name},
    },
    finding::{Bytes, Finding, counted},
};
use rdkafka::{Offset, TopicPartitionList, consumer::Consumer};
use std::{collections::BTreeSet, time::Duration};

const ACTION: &str = "examine the topics";

/// The most groups whose positions are looked at: each takes a client of its own.
const GROUPS_MAX: usize = 50;

/// What the servers say of a topic.
struct Place {
    partitions: usize,
    /// The fewest copies of a partition, and the fewest that are in sync.
    copies: usize,
    in_sync: usize,
}

/// The first offset that a partition still has.
struct First {
    topic: String,
    partition: i32,
    offset: i64,
}

impl Link {
    pub(super) async fn examine(&self, asked: &Examination) -> Result<Vec<Finding>, BrokerError> {
        // Without a topic to look at it would ask nothing, and not notice that nobody answers.
        self.inspect().await?;
        let (mut findings, mut firsts) = (Vec::new(), Vec::new());
        for topic in &asked.topics {
            let Some(place) = self.place_of(topic).await? else { continue };
            if place.partitions != usize::from(self.config.partitions) {
                let found = counted(place.partitions, "partition", "partitions");
                findings.push(partitions_differ(topic, &found, self.config.partitions));
            }
            if let Some(settings) = self.settings_of(topic).await? {
                findings.extend(self.of_settings(topic, &settings, &place, asked.window));
            }
            firsts.extend(self.firsts_of(topic, place.partitions).await?);
        }
        if firsts.is_empty() {
            return Ok(findings);
        }
        let known = self.groups().await?;
        let (groups, left_out) = chosen(known, &asked.consumers);
        findings.extend((left_out > 0).then(|| groups_unread(groups.len(), left_out)));
        for group in groups {
            findings.extend(self.lost_of(&group, &asked.topics, &firsts).await?);
        }
        Ok(findings)
    }

    /// `None` when there is no such topic.
    async fn place_of(&self, topic: &str) -> Result<Option<Place>, BrokerError> {
        let (asker, limit, topic) = (self.asker(ACTION)?, self.config.request_timeout, topic.to_owned());
        let look = move || {
            let metadata =
                ask(&asker, ACTION, limit, |client, slice| client.fetch_metadata(Some(&topic), slice))?;
            let found =
                metadata.topics().iter().find(|found| found.name() == topic && found.error().is_none());
            Ok(found.map(|found| {
                let fewest = |of: fn(&rdkafka::metadata::MetadataPartition) -> usize| {
                    found.partitions().iter().map(of).min().unwrap_or(0)
                };
                Place {
                    partitions: found.partitions().len(),
                    copies: fewest(|partition| partition.replicas().len()),
                    in_sync: fewest(|partition| partition.isr().len()),
                }
            }))
        };
        waiting(ACTION, look).await
    }

    fn of_settings(&self, topic: &str, settings: &Settings, place: &Place, window: Duration) -> Vec<Finding> {
        let mut findings = Vec::new();
        if settings.compacts {
            findings.push(Finding {
                code: "topic-compacts",
                about: topic_name(topic),
                problem: "its `cleanup.policy` is `compact`".to_owned(),
                why: "the server keeps the last event of each key alone, so consumers miss those before; relays and consumers \
                      refuse to start",
                fix: "set `cleanup.policy=delete`, or give the topic another name".to_owned(),
            });
        }
        if settings.is_retention_known {
            let setting = |span: Duration| format!("retention.ms={}", span.as_millis());
            findings.extend(of_retention(topic, settings.retention, window, setting));
        }
        if let Some(bytes) = settings.bytes_kept {
            let limit = format!("{} a partition (`retention.bytes`)", Bytes(bytes));
            findings.push(limit_drops(topic, &limit, "set `retention.bytes=-1`".to_owned()));
        }
        let wanted = self.config.event_bytes_max + FRAME_BYTES_MAX;
        if let Some(bytes) = settings.bytes_max.filter(|bytes| *bytes < wanted) {
            let most = self.config.event_bytes_max;
            findings.push(Finding {
                code: "events-too-large",
                about: topic_name(topic),
                problem: format!(
                    "it takes {} as one message, and an event may have {most} (`event_bytes_max`)",
                    counted(bytes, "byte", "bytes")
                ),
                why: "what is between them is enqueued, and then refused by the broker and set aside",
                fix: format!("set `max.message.bytes={wanted}`, or a lower `event_bytes_max`"),
            });
        }
        findings.extend(settings.in_sync_min.and_then(|min| of_copies(topic, place, min)));
        findings
    }

    async fn firsts_of(&self, topic: &str, partitions: usize) -> Result<Vec<First>, BrokerError> {
        let (asker, limit, topic) = (self.asker(ACTION)?, self.config.request_timeout, topic.to_owned());
        let look = move || {
            let first = |partition: i32| {
                let (low, _) = ask(&asker, ACTION, limit, |client, slice| {
                    client.fetch_watermarks(&topic, partition, slice)
                })?;
                Ok(First { topic: topic.clone(), partition, offset: low })
            };
            (0..i32::try_from(partitions).unwrap_or(i32::MAX)).map(first).collect()
        };
        waiting(ACTION, look).await
    }

    /// Every group that the servers know.
    async fn groups(&self) -> Result<BTreeSet<String>, BrokerError> {
        let (asker, limit) = (self.asker(ACTION)?, self.config.request_timeout);
        let look = move || {
            let list = ask(&asker, ACTION, limit, |client, slice| client.fetch_group_list(None, slice))?;
            Ok(list.groups().iter().map(|group| group.name().to_owned()).collect::<BTreeSet<_>>())
        };
        waiting(ACTION, look).await
    }

    /// What is gone before the group has read it. One whose positions this user may not read is passed over.
    async fn lost_of(
        &self,
        group: &str,
        topics: &[String],
        firsts: &[First],
    ) -> Result<Vec<Finding>, BrokerError> {
        let config = SubscriptionConfig {
            consumer: group.to_owned(),
            topic: String::new(),
            partition: String::new(),
            ack_wait: Duration::ZERO,
            in_flight_max: 1,
        };
        let (reader, _) = self.reader(ACTION, &config)?;
        let mut places = TopicPartitionList::with_capacity(firsts.len());
        for first in firsts {
            places.add_partition(&first.topic, first.partition);
        }
        let limit = self.config.request_timeout;
        let look = move || {
            let found =
                ask(&reader, ACTION, limit, |client, slice| client.committed_offsets(places.clone(), slice));
            let_go(reader);
            found
        };
        let committed = match waiting(ACTION, look).await {
            Ok(committed) => committed,
            Err(error) if error.is_transient() => return Err(error),
            Err(_) => return Ok(Vec::new()),
        };
        let lost = |first: &First| match committed.find_partition(&first.topic, first.partition)?.offset() {
            Offset::Offset(position) => u64::try_from(first.offset - position).ok(),
            _ => None,
        };
        let of_topic = |topic: &String| {
            let count: u64 = firsts.iter().filter(|first| first.topic == *topic).filter_map(lost).sum();
            (count > 0).then(|| position_lost(topic, group, count))
        };
        Ok(topics.iter().filter_map(of_topic).collect())
    }
}

/// The groups to look at, those that were named first, and how many are left out.
fn chosen(mut known: BTreeSet<String>, named: &[String]) -> (Vec<String>, usize) {
    let named: BTreeSet<String> = named.iter().cloned().collect();
    known.retain(|group| !named.contains(group));
    let mut groups: Vec<String> = named.into_iter().chain(known).collect();
    let left_out = groups.len().saturating_sub(GROUPS_MAX);
    groups.truncate(GROUPS_MAX);
    (groups, left_out)
}

fn groups_unread(read: usize, left_out: usize) -> Finding {
    Finding {
        code: "groups-unread",
        about: "server".to_owned(),
        problem: format!(
            "the positions of {read} groups were looked at, and {}",
            counted(left_out, "group was left out", "groups were left out")
        ),
        why: "what was removed before one of the others had read it is not found",
        fix: "name the consumers that matter (`Examination::consumers`, here `--consumer`): they are looked at first"
            .to_owned(),
    }
}

/// Fewer copies than a confirmation takes.
fn of_copies(topic: &str, place: &Place, in_sync_min: u32) -> Option<Finding> {
    let min = usize::try_from(in_sync_min).unwrap_or(usize::MAX);
    let (copies, in_sync) = (place.copies, place.in_sync);
    if in_sync < min {
        return Some(Finding {
            code: "copies-missing",
            about: topic_name(topic),
            problem: format!(
                "`min.insync.replicas` is {min}, and a partition has {}, {in_sync} of them in sync",
                counted(copies, "copy", "copies")
            ),
            why: "the servers confirm nothing there, and events wait in the store",
            fix:
                "start the servers that are away; give the topic as many copies as it needs, three as a rule"
                    .to_owned(),
        });
    }
    // With one copy there is one server that must not lose its disk, as with every broker of one server.
    (copies > 1 && min < 2).then(|| Finding {
        code: "copies-few",
        about: topic_name(topic),
        problem: format!(
            "it has {copies} copies, and confirms what {min} of them has (`min.insync.replicas`)"
        ),
        why: "what was confirmed is lost with the disk of one server",
        fix: "set `min.insync.replicas=2` with three copies".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::{GROUPS_MAX, Place, chosen, groups_unread, of_copies};

    #[test]
    fn groups_that_were_named_are_looked_at_first_and_those_left_out_are_counted() {
        let known = || (0..GROUPS_MAX).map(|n| format!("group-{n:03}")).collect();
        let (groups, left_out) = chosen(known(), &["group-049".to_owned()]);
        assert_eq!((groups.len(), left_out), (GROUPS_MAX, 0));
        let (groups, left_out) = chosen(known(), &["other".to_owned(), "group-049".to_owned()]);
        assert_eq!((groups.len(), left_out), (GROUPS_MAX, 1));
        assert_eq!(groups[..2], ["group-049", "other"]);
        assert!(groups_unread(GROUPS_MAX, 1).problem.ends_with("and 1 group was left out"));
    }

    #[test]
    fn copies_are_held_against_what_a_confirmation_takes() {
        for (copies, in_sync, min, code) in [
            (1, 1, 1, None),
            (3, 3, 2, None),
            (3, 2, 2, None),
            (3, 3, 1, Some("copies-few")),
            (3, 1, 2, Some("copies-missing")),
            (1, 1, 2, Some("copies-missing")),
        ] {
            let place = Place { partitions: 1, copies, in_sync };
            assert_eq!(of_copies("t", &place, min).map(|found| found.code), code, "{copies} {in_sync} {min}");
        }
    }
}
