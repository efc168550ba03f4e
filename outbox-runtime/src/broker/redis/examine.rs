//! What is wrong with the server, topics and the groups of their consumers, or will be.

use super::{
    error::of,
    link::Link,
    topic::{self, value},
};
use crate::{
    broker::{
        BrokerError, Examination, partition,
        topic_finding::{partitions_differ, position_lost},
    },
    finding::{Bytes, Finding},
};
use redis_client::{FromRedisValue, RedisError, RedisResult, Value, aio::MultiplexedConnection, cmd};
use std::collections::{BTreeMap, HashMap};

const ACTION: &str = "examine the topics";

impl Link {
    pub(super) async fn examine(&self, asked: &Examination) -> Result<Vec<Finding>, BrokerError> {
        let mut shared = self.shared(ACTION).await?;
        match self.examine_with(&mut shared.connection, asked).await {
            Ok(findings) => Ok(findings),
            Err(error) => Err(self.judge(&shared, of(ACTION, error.clone()), &error).await),
        }
    }

    async fn examine_with(
        &self,
        connection: &mut MultiplexedConnection,
        asked: &Examination,
    ) -> RedisResult<Vec<Finding>> {
        let mut findings = Vec::new();
        if let Some(info) = permitted(cmd("INFO").query_async::<String>(connection).await)? {
            findings.extend(evicts(&info));
            findings.extend(forgets(&info));
        }
        for topic in &asked.topics {
            let marker = format!("{topic}:outbox");
            let found: Option<String> = cmd("GET").arg(&marker).query_async(connection).await?;
            let Some(found) = found else { continue };
            if found != topic::marker(self.config.partitions) {
                findings.push(partitions_differ(topic, &format!("`{found}`"), self.config.partitions));
            }
            let mut lost = BTreeMap::<String, u64>::new();
            for partition in partition::names(self.config.partitions) {
                for (group, count) in lost_of(connection, &topic::stream(topic, &partition)).await? {
                    *lost.entry(group).or_default() += count;
                }
            }
            findings.extend(lost.iter().map(|(group, count)| position_lost(topic, group, *count)));
        }
        Ok(findings)
    }
}

/// The entries that were removed before a group had read them, by group. The server counts what was ever added and what a group
/// has read: when more is gone than was read, the rest was not.
async fn lost_of(connection: &mut MultiplexedConnection, stream: &str) -> RedisResult<Vec<(String, u64)>> {
    if !cmd("EXISTS").arg(stream).query_async::<bool>(connection).await? {
        return Ok(Vec::new());
    }
    let about: HashMap<String, Value> = cmd("XINFO").arg(&["STREAM", stream]).query_async(connection).await?;
    let groups: Vec<HashMap<String, Value>> =
        cmd("XINFO").arg(&["GROUPS", stream]).query_async(connection).await?;
    let removed = number(&about, "entries-added")
        .zip(number(&about, "length"))
        .map_or(0, |(added, length)| added.saturating_sub(length));
    let lost = |group: &HashMap<String, Value>| {
        let name = String::from_redis_value(group.get("name")?.clone()).ok()?;
        let lost = removed.saturating_sub(number(group, "entries-read")?);
        (lost > 0).then_some((name, lost))
    };
    Ok(groups.iter().filter_map(lost).collect())
}

fn number(fields: &HashMap<String, Value>, name: &str) -> Option<u64> {
    match fields.get(name)? {
        Value::Int(number) => u64::try_from(*number).ok(),
        _ => None,
    }
}

/// `None` where this user may not ask.
fn permitted<T>(answer: Result<T, RedisError>) -> RedisResult<Option<T>> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if error.code() == Some("NOPERM") => Ok(None),
        Err(error) => Err(error),
    }
}

fn evicts(info: &str) -> Option<Finding> {
    let bytes: u64 = value(info, "maxmemory")?.parse().ok()?;
    let policy = value(info, "maxmemory_policy")?;
    (bytes > 0 && policy.starts_with("allkeys")).then(|| Finding {
        code: "memory-evicts",
        about: "server".to_owned(),
        problem: format!("its `maxmemory-policy` is `{policy}`, and its memory is limited to {}", Bytes(bytes)),
        why: "when the memory is full it removes whole topics, read or not; relays and consumers refuse to start",
        fix: "set `maxmemory-policy noeviction`: then events wait in the store".to_owned(),
    })
}

fn forgets(info: &str) -> Option<Finding> {
    (value(info, "aof_enabled") == Some("0")).then(|| Finding {
        code: "confirmed-in-memory",
        about: "server".to_owned(),
        problem: "it has no append-only file".to_owned(),
        why: "what it confirmed since its last snapshot is lost when it ends",
        fix: "set `appendonly yes`, with `appendfsync always` if a power cut must lose nothing".to_owned(),
    })
}
