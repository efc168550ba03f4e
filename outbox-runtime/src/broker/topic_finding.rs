//! The findings about topics that several brokers tell alike.

use crate::finding::{Finding, counted};
#[cfg(any(feature = "kafka", feature = "nats"))]
use {crate::finding::Span, std::time::Duration};

/// How much longer than its consumers remember a topic may keep an event: no server removes it to the minute.
#[cfg(any(feature = "kafka", feature = "nats"))]
const KEPT_BEYOND_MAX: Duration = Duration::from_secs(24 * 60 * 60);

pub(super) fn topic_name(topic: &str) -> String {
    format!("topic/{topic}")
}

/// How long a topic keeps events (`None`: for ever), against how long its consumers remember them. `setting` is what to set to
/// a span.
#[cfg(any(feature = "kafka", feature = "nats"))]
pub(super) fn of_retention(
    topic: &str,
    kept: Option<Duration>,
    window: Duration,
    setting: impl Fn(Duration) -> String,
) -> Option<Finding> {
    if let Some(kept) = kept.filter(|kept| *kept < window) {
        return Some(Finding {
            code: "retention-short",
            about: topic_name(topic),
            problem: format!(
                "the topic forgets events after {}, and its consumers remember what they handled for {}",
                Span(kept),
                Span(window)
            ),
            why: "a consumer that is away for longer loses what it has not read",
            fix: format!("set `{}`", setting(window)),
        });
    }
    if kept.is_some_and(|kept| kept <= window.saturating_add(KEPT_BEYOND_MAX)) {
        return None;
    }
    let kept = kept.map_or_else(|| "for ever".to_owned(), |kept| format!("for {}", Span(kept)));
    Some(Finding {
        code: "retention-long",
        about: topic_name(topic),
        problem: format!(
            "the topic keeps events {kept}, and its consumers remember what they handled for {}",
            Span(window)
        ),
        why: "whether an older event was handled is not known any more, so it is not handled but set aside \
              (`older-than-dedup-window`): a new consumer begins with dead letters, and so does one that was away for long",
        fix: format!(
            "set `{}`, or have the consumers remember for as long as the topic keeps (`Retention::inbox`, here `--inbox`)",
            setting(window)
        ),
    })
}

/// A topic that was declared with another number of partitions.
pub(super) fn partitions_differ(topic: &str, found: &str, wanted: u16) -> Finding {
    Finding {
        code: "partitions-differ",
        about: topic_name(topic),
        problem: format!(
            "the topic has {found}, and this process is configured for {}",
            counted(wanted, "partition", "partitions")
        ),
        why: "relays and consumers of this configuration refuse to start: a key would go elsewhere, past its own events",
        fix: "configure every process with the number that the topic has (here `--partitions`), or give the topic another name"
            .to_owned(),
    }
}

/// Events that are gone before a consumer has read them.
#[cfg(any(feature = "kafka", feature = "nats", feature = "redis"))]
pub(super) fn position_lost(topic: &str, consumer: &str, count: u64) -> Finding {
    Finding {
        code: "position-lost",
        about: crate::held::Stage::consumer(consumer).to_string(),
        problem: format!(
            "at least {} before this consumer had read it",
            counted(
                count,
                &format!("event of the topic `{topic}` was removed"),
                &format!("events of the topic `{topic}` were removed")
            )
        ),
        why: "they have had no effect there, and never will by themselves",
        fix: "replay their range of the log to the relay (`outbox replay start --relay …`): what the consumer has handled it \
              drops; then have the topic keep events for longer, or the consumer run. A consumer that is gone for good is \
              removed at the broker"
            .to_owned(),
    }
}

/// A limit of the topic that removes events whether or not they were read.
#[cfg(any(feature = "kafka", feature = "nats"))]
pub(super) fn limit_drops(topic: &str, limit: &str, fix: String) -> Finding {
    Finding {
        code: "limit-drops",
        about: topic_name(topic),
        problem: format!("the topic removes its oldest events beyond {limit}"),
        why: "each of them was confirmed, and one that a consumer has not read is lost",
        fix,
    }
}
