//! Declares a topic: makes it if it is missing, refuses one with another number of partitions or one that forgets events, and
//! warns of settings that do not fit the outbox.

use super::{
    client::{Context, ask, let_go, waiting},
    config::KafkaConfig,
    error::{NAME, is_topic_missing, of, of_code, refused, unavailable},
    link::{FRAME_BYTES_MAX, Link},
};
use crate::{broker::BrokerError, finding::counted};
use rdkafka::{
    admin::{AdminClient, AdminOptions, ConfigResource, NewTopic, ResourceSpecifier, TopicReplication},
    consumer::Consumer,
    error::RDKafkaErrorCode as Code,
};
use std::time::Duration;
use tokio::time::{Instant, sleep};

const DECLARE: &str = "declare the topic";
const CONNECT: &str = "connect";
/// Between two looks whether a topic that was made is there.
const LOOK_PAUSE: Duration = Duration::from_millis(50);

impl Link {
    /// Sees to it that the server can be reached and lets this process in.
    pub(super) async fn inspect(&self) -> Result<(), BrokerError> {
        let (asker, limit) = (self.asker(CONNECT)?, self.config.request_timeout);
        // Of a topic that is not there: a list of all of them may be long.
        let look = move || {
            ask(&asker, CONNECT, limit, |client, slice| client.fetch_metadata(Some("__outbox"), slice))
                .map(|_| ())
        };
        waiting(CONNECT, look).await
    }

    /// Sees to it that the topic is there as configured; asks the server once.
    pub(super) async fn declare(&self, topic: &str) -> Result<(), BrokerError> {
        if self.declared(topic).is_some() {
            return Ok(());
        }
        let mut found = self.partitions_of(topic).await?;
        if found.is_none() {
            found = Some(self.create(topic).await?);
        }
        let (found, wanted) = (found.unwrap_or_default(), usize::from(self.config.partitions));
        if found != wanted {
            return Err(mismatch(
                topic,
                &counted(found, "partition", "partitions"),
                &format!("{wanted}"),
                SAME_PARTITIONS,
            ));
        }
        let bytes_max = self.check_settings(topic).await?;
        self.set_declared(topic, bytes_max);
        Ok(())
    }

    /// How many partitions a topic has; `None` when there is no such topic.
    async fn partitions_of(&self, topic: &str) -> Result<Option<usize>, BrokerError> {
        let (asker, limit, topic) = (self.asker(DECLARE)?, self.config.request_timeout, topic.to_owned());
        let look = move || {
            let metadata =
                ask(&asker, DECLARE, limit, |client, slice| client.fetch_metadata(Some(&topic), slice))?;
            let Some(found) = metadata.topics().iter().find(|found| found.name() == topic) else {
                return Ok(None);
            };
            match found.error().map(Code::from) {
                None => Ok(Some(found.partitions().len())),
                Some(code) if is_topic_missing(code) => Ok(None),
                Some(code) => Err(of_code(DECLARE, code)),
            }
        };
        waiting(DECLARE, look).await
    }

    /// Makes the topic, and waits until it is there.
    async fn create(&self, topic: &str) -> Result<usize, BrokerError> {
        let partitions = self.config.partitions;
        if !self.config.create_topics {
            let problem = format!(
                "there is no topic `{topic}`, and this process is not to make one; make it with {partitions} partitions"
            );
            return Err(refused(DECLARE, &problem, Code::UnknownTopicOrPartition));
        }
        let (retention, bytes) = (millis(self.config.retention), bytes_wanted(&self.config).to_string());
        let copies = TopicReplication::Fixed(self.config.replication.map_or(-1, i32::from));
        let new = NewTopic::new(topic, i32::from(partitions), copies)
            .set("cleanup.policy", "delete")
            .set("retention.ms", &retention)
            .set("max.message.bytes", &bytes);
        let admin = self.admin()?;
        let made = admin.create_topics([&new], &self.patient()).await;
        let_go(admin);
        match made.map_err(|error| of(DECLARE, error))?.pop() {
            // Another process was faster.
            Some(Ok(_) | Err((_, Code::TopicAlreadyExists))) | None => {}
            Some(Err((_, code))) => return Err(of_code(DECLARE, code)),
        }
        let deadline = Instant::now() + self.config.request_timeout;
        loop {
            if let Some(found) = self.partitions_of(topic).await? {
                return Ok(found);
            }
            if Instant::now() >= deadline {
                return Err(unavailable(DECLARE, "the topic was made and is not there yet"));
            }
            sleep(LOOK_PAUSE).await;
        }
    }

    /// Refuses settings of the topic that would break a promise, and warns of others; the largest message that it takes.
    async fn check_settings(&self, topic: &str) -> Result<Option<usize>, BrokerError> {
        let Some(settings) = self.settings_of(topic).await? else { return Ok(None) };
        if settings.compacts {
            return Err(mismatch(
                topic,
                "`cleanup.policy=compact`",
                "events that stay until they are old",
                "set `cleanup.policy=delete`, or give the topic another name",
            ));
        }
        for warning in settings.warnings(&self.config) {
            tracing::warn!(messaging.destination.name = topic, "{warning}");
        }
        Ok(settings.bytes_max)
    }

    /// The settings of a topic; `None` when this user may not read them.
    pub(super) async fn settings_of(&self, topic: &str) -> Result<Option<Settings>, BrokerError> {
        let admin = self.admin()?;
        let described = admin.describe_configs(&[ResourceSpecifier::Topic(topic)], &self.patient()).await;
        let_go(admin);
        let answer = described.map_err(|error| of(DECLARE, error))?.pop();
        match answer {
            Some(Ok(settings)) => Ok(Some(Settings::read(&settings))),
            Some(Err(Code::TopicAuthorizationFailed | Code::ClusterAuthorizationFailed)) => {
                tracing::warn!(
                    messaging.destination.name = topic,
                    "this user may not read the settings of the topic (`DescribeConfigs`); whether they fit is not known"
                );
                Ok(None)
            }
            Some(Err(code)) if is_topic_missing(code) => Err(unavailable(DECLARE, code)),
            Some(Err(code)) => Err(of_code(DECLARE, code)),
            None => Err(unavailable(DECLARE, "the server's answer has another form than expected")),
        }
    }

    /// A client for one request: there is one for each topic, seldom more.
    fn admin(&self) -> Result<AdminClient<Context>, BrokerError> {
        let client = self.client(DECLARE)?;
        client.create_with_context(Context::default()).map_err(|error| of(DECLARE, error))
    }

    fn patient(&self) -> AdminOptions {
        let limit = Some(self.config.request_timeout);
        AdminOptions::new().request_timeout(limit).operation_timeout(limit)
    }
}

const SAME_PARTITIONS: &str = "configure every process with the number of partitions that the topic has, or give the topic \
                               another name: with more of them a key would go elsewhere, past its own events";

fn mismatch(topic: &str, found: &str, wanted: &str, fix: &str) -> BrokerError {
    BrokerError::Mismatch {
        broker: NAME,
        name: topic.to_owned(),
        found: found.to_owned(),
        wanted: wanted.to_owned(),
        fix: fix.to_owned(),
    }
}

/// What a topic must take as one message.
fn bytes_wanted(config: &KafkaConfig) -> usize {
    config.event_bytes_max + FRAME_BYTES_MAX
}

fn millis(span: Duration) -> String {
    span.as_millis().to_string()
}

/// What matters of the settings of a topic; what the server does not tell is taken to be well.
#[derive(Debug, Default)]
pub(super) struct Settings {
    pub(super) compacts: bool,
    pub(super) bytes_max: Option<usize>,
    pub(super) is_retention_known: bool,
    /// `None` also when there is no limit.
    pub(super) retention: Option<Duration>,
    pub(super) bytes_kept: Option<u64>,
    pub(super) in_sync_min: Option<u32>,
}

impl Settings {
    fn read(settings: &ConfigResource) -> Self {
        let value = |name| settings.get(name).and_then(|entry| entry.value.as_deref());
        Self {
            compacts: value("cleanup.policy").is_some_and(|policy| policy.contains("compact")),
            bytes_max: value("max.message.bytes").and_then(|value| value.parse().ok()),
            is_retention_known: value("retention.ms").is_some(),
            retention: value("retention.ms").and_then(|value| value.parse().ok()).map(Duration::from_millis),
            bytes_kept: value("retention.bytes").and_then(|value| value.parse().ok()),
            in_sync_min: value("min.insync.replicas").and_then(|value| value.parse().ok()),
        }
    }

    fn warnings(&self, config: &KafkaConfig) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(bytes) = self.bytes_max.filter(|bytes| *bytes < bytes_wanted(config)) {
            let (most, wanted) = (config.event_bytes_max, bytes_wanted(config));
            warnings.push(format!(
                "the topic takes {bytes} bytes as one message, and `event_bytes_max` is {most}: what is between them is refused \
                 and set aside; set `max.message.bytes={wanted}`, or a lower `event_bytes_max`"
            ));
        }
        if let Some(kept) = self.retention.filter(|kept| *kept < config.retention) {
            let (kept, wanted) = (kept.as_secs(), millis(config.retention));
            warnings.push(format!(
                "the topic forgets events after {kept} seconds, also those that a consumer has not handled; set \
                 `retention.ms={wanted}`, or say with a lower `retention` that no consumer is ever behind so long"
            ));
        }
        if let Some(bytes) = self.bytes_kept {
            warnings.push(format!(
                "a partition of the topic forgets events beyond {bytes} bytes, also those that a consumer has not handled; set \
                 `retention.bytes=-1`"
            ));
        }
        if self.in_sync_min == Some(1) {
            warnings.push(
                "the topic confirms what one server has, which is lost with its disk; give it three copies and set \
                 `min.insync.replicas=2`"
                    .to_owned(),
            );
        }
        warnings
    }
}

#[cfg(test)]
mod tests {
    use super::{KafkaConfig, Settings, bytes_wanted};
    use std::time::Duration;

    #[test]
    fn what_does_not_fit_is_named_with_what_to_set() {
        let config = KafkaConfig::default();
        let fitting = Settings {
            compacts: false,
            bytes_max: Some(bytes_wanted(&config)),
            is_retention_known: true,
            retention: Some(config.retention),
            bytes_kept: None,
            in_sync_min: Some(2),
        };
        assert!(fitting.warnings(&config).is_empty() && Settings::default().warnings(&config).is_empty());
        let poor = Settings {
            bytes_max: Some(1_000_000),
            retention: Some(Duration::from_secs(60)),
            bytes_kept: Some(1_000),
            in_sync_min: Some(1),
            ..fitting
        };
        let warnings = poor.warnings(&config);
        let settings = [
            "max.message.bytes=1114112",
            "retention.ms=604800000",
            "retention.bytes=-1",
            "min.insync.replicas=2",
        ];
        assert_eq!(warnings.len(), settings.len());
        for (warning, setting) in warnings.iter().zip(settings) {
            assert!(warning.contains(&format!("`{setting}`")), "{warning}");
        }
    }
}
