//! Declares a topic, once, and refuses one that stands with another number of partitions; and what a server must be.
//!
//! The key `<topic>:outbox` keeps the number of partitions as text. The streams are made by what first reads or writes them.

use super::{
    error::{CLUSTER, NAME, of, of_key, refused, unavailable},
    link::{Link, Shared},
};
use crate::broker::{BrokerError, partition};
use redis_client::{RedisError, cmd, pipe};
use std::collections::HashMap;

const DECLARE: &str = "declare the topic";
const CONNECT: &str = "connect";

/// The first version whose servers say which claimed entries are gone from their stream.
const VERSION_MIN: u32 = 7;

/// The key of one partition's stream.
pub(super) fn stream(topic: &str, partition: &str) -> String {
    format!("{topic}:{partition}")
}

/// What the key of a topic says of its partitions.
pub(super) fn marker(partitions: u16) -> String {
    format!("partitions: {partitions}")
}

/// The key of the stream of one event.
pub(super) fn stream_of(topic: &str, key: Option<&str>, partitions: u16) -> String {
    stream(topic, &partition::of(key, partitions))
}

impl Link {
    /// Sees to it that the topic is declared as configured; asks the server once for each connection.
    pub(super) async fn declare(&self, topic: &str) -> Result<(), BrokerError> {
        if self.is_declared(topic).await {
            return Ok(());
        }
        let mut shared = self.shared(DECLARE).await?;
        let name = format!("{topic}:outbox");
        let wanted = marker(self.config.partitions);
        let answer: Result<(i64, String), RedisError> = pipe()
            .cmd("SETNX")
            .arg(&name)
            .arg(&wanted)
            .cmd("GET")
            .arg(&name)
            .query_async(&mut shared.connection)
            .await;
        let (_, found) = match answer {
            Ok(answer) => answer,
            Err(error) => {
                return Err(self.judge(&shared, of_key(DECLARE, &name, error.clone()), &error).await);
            }
        };
        if found != wanted {
            return Err(BrokerError::Mismatch {
                broker: NAME,
                name,
                found: format!("`{found}`"),
                wanted: format!("`{wanted}`"),
                fix: "configure every process with the number of partitions that the topic was declared with, or \
                      give the topic another name"
                    .to_owned(),
            });
        }
        self.set_declared(&shared, topic).await;
        Ok(())
    }

    /// Refuses a server that would break a promise, and warns of one that is set up to lose what it confirmed.
    pub(super) async fn inspect(&self) -> Result<(), BrokerError> {
        let mut shared = self.shared(CONNECT).await?;
        let info: Result<String, RedisError> = cmd("INFO").query_async(&mut shared.connection).await;
        let info = match info {
            Ok(info) => info,
            Err(error) if error.code() == Some("NOPERM") => {
                tracing::warn!(
                    "this user may not run `INFO`; whether the server keeps what it confirms is not known"
                );
                return Ok(());
            }
            Err(error) => return Err(self.judge(&shared, of(CONNECT, error.clone()), &error).await),
        };
        judge_server(&info)?;
        let sync: Result<HashMap<String, String>, RedisError> =
            cmd("CONFIG").arg("GET").arg("appendfsync").query_async(&mut shared.connection).await;
        // Many a host does not allow the question.
        let sync = sync.ok().and_then(|mut found| found.remove("appendfsync"));
        if value(&info, "aof_enabled") == Some("0") {
            tracing::warn!(
                "the server has no append-only file: what it confirmed is lost when it ends; set `appendonly yes`"
            );
        } else if let Some(sync) = sync.filter(|sync| sync != "always") {
            tracing::warn!(
                appendfsync = sync,
                "the server may lose what it confirmed in the last second before a power cut; set `appendfsync always`"
            );
        }
        Ok(())
    }

    /// Takes note of an error of the shared connection.
    pub(super) async fn judge(
        &self,
        shared: &Shared,
        judged: BrokerError,
        error: &RedisError,
    ) -> BrokerError {
        if super::error::is_of_connection(error) {
            self.failed(shared).await;
        }
        judged
    }
}

fn judge_server(info: &str) -> Result<(), BrokerError> {
    if value(info, "cluster_enabled") == Some("1") {
        return Err(refused(CONNECT, CLUSTER, "`cluster_enabled` is 1"));
    }
    let version = value(info, "redis_version").unwrap_or_default();
    let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    if major.is_some_and(|major| major < VERSION_MIN) {
        return Err(refused(
            CONNECT,
            "the server is older than Redis 7.0",
            format!("its version is {version}"),
        ));
    }
    if value(info, "role") == Some("slave") {
        // It may be promoted, and the address may follow the primary.
        return Err(unavailable(CONNECT, "the server is a replica, which takes no writes"));
    }
    let policy = value(info, "maxmemory_policy").unwrap_or_default();
    let is_bounded = value(info, "maxmemory").is_some_and(|bytes| bytes != "0");
    if is_bounded && policy.starts_with("allkeys") {
        let problem = "it removes whole topics when its memory is full; set `maxmemory-policy noeviction`";
        return Err(refused(CONNECT, problem, format!("its `maxmemory-policy` is {policy}")));
    }
    Ok(())
}

/// One line `name:value` of what the server says of itself.
pub(super) fn value<'a>(info: &'a str, name: &str) -> Option<&'a str> {
    info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
}

#[cfg(test)]
mod tests {
    use super::{judge_server, stream_of, value};

    #[test]
    fn a_key_has_one_stream_and_no_key_has_its_own() {
        assert_eq!(stream_of("orders", Some("foobar"), 16), "orders:14");
        assert_eq!(stream_of("orders", None, 16), "orders:any");
    }

    #[test]
    fn a_server_that_would_break_a_promise_is_refused() {
        let good = "redis_version:7.0.15\r\nrole:master\r\nmaxmemory:0\r\nmaxmemory_policy:allkeys-lru\r\n";
        assert_eq!(value(good, "maxmemory"), Some("0"));
        judge_server(good).unwrap();
        for (text, other, is_transient) in [
            ("redis_version:7.0.15", "redis_version:6.2.7", false),
            ("role:master", "role:slave", true),
            ("maxmemory:0", "maxmemory:1000000", false),
            ("role:master", "role:master\r\ncluster_enabled:1", false),
        ] {
            let error = judge_server(&good.replace(text, other)).unwrap_err();
            assert_eq!(error.is_transient(), is_transient, "{other}");
        }
    }
}
