//! Topics that the broker refuses as a whole (a revoked permission, a stream that is gone): paused and tried again by a
//! few events, and no event of theirs is charged.
//!
//! ```text
//!  flows ── several keys failed of one cause, none confirmed between ──▶ paused ── a try is confirmed ──▶ flows
//!                                                                        ▲    │ a try failed: wait longer
//!                                                                        └────┘
//! ```
//! Below that number of keys it cannot be told from bad events, which are set aside one by one.

use crate::{
    held::{Failure, Lane},
    poison::NOT_YET_MAX,
};
use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};
use tokio::time::Instant;

/// How many keys must fail of one cause before it is taken for the topic's.
const KEYS_MIN: usize = 3;

/// The most events of a paused topic that are tried at once.
const TRIES_MAX: usize = 3;

/// The first pause; each further one is twice as long, up to [`NOT_YET_MAX`].
const PAUSE_MIN: Duration = Duration::from_secs(1);

/// The most topics that are remembered. Beyond it all are forgotten and found again.
const TOPICS_MAX: usize = 1_000;

/// The topics of which nothing was confirmed lately.
#[derive(Debug, Default)]
pub(super) struct Topics {
    of_name: HashMap<String, Topic>,
}

#[derive(Debug)]
struct Topic {
    cause: String,
    failure: Failure,
    /// The keys that failed of this cause, as many as matter.
    keys: HashSet<Lane>,
    pause: Option<Pause>,
}

#[derive(Debug)]
struct Pause {
    until: Instant,
    lasts: Duration,
    tries: usize,
}

impl Topics {
    /// Whether every topic flows, as far as is known.
    pub(super) fn is_empty(&self) -> bool {
        self.of_name.is_empty()
    }

    /// Why no event of the topic may be published now; `None` lets one through.
    pub(super) fn hold_back(&mut self, topic: &str) -> Option<Failure> {
        let topic = self.of_name.get_mut(topic)?;
        let pause = topic.pause.as_mut()?;
        if pause.tries < TRIES_MAX && Instant::now() >= pause.until {
            pause.tries += 1;
            return None;
        }
        Some(topic.failure.clone())
    }

    /// An event of the topic was confirmed.
    pub(super) fn flows(&mut self, name: &str) {
        if self.of_name.remove(name).is_some_and(|topic| topic.pause.is_some()) {
            tracing::info!(messaging.destination.name = name, "a topic is taken again");
        }
    }

    /// An event of the topic failed of a cause that may be the topic's, and none was confirmed beside it.
    pub(super) fn failed(&mut self, name: &str, lane: Lane, cause: &str, failure: &Failure) {
        if self.of_name.len() >= TOPICS_MAX && !self.of_name.contains_key(name) {
            self.of_name.clear();
        }
        let new =
            || Topic { cause: cause.to_owned(), failure: failure.clone(), keys: HashSet::new(), pause: None };
        let topic = self.of_name.entry(name.to_owned()).or_insert_with(new);
        if topic.pause.is_some() {
            return;
        }
        if topic.cause != cause {
            *topic = new();
        }
        topic.keys.insert(lane);
        if topic.keys.len() >= KEYS_MIN {
            tracing::error!(
                messaging.destination.name = name,
                error = failure.error_chain,
                "the broker refuses a topic as a whole; its events wait, uncharged, and a few are tried now and then"
            );
            topic.pause = Some(Pause { until: Instant::now() + PAUSE_MIN, lasts: PAUSE_MIN, tries: 0 });
        }
    }

    pub(super) fn is_paused(&self, topic: &str) -> bool {
        self.of_name.get(topic).is_some_and(|topic| topic.pause.is_some())
    }

    /// The page is over: paused topics whose tries failed are left alone for longer.
    pub(super) fn end_tries(&mut self) {
        for pause in self.of_name.values_mut().filter_map(|topic| topic.pause.as_mut()) {
            if pause.tries > 0 {
                let lasts = (pause.lasts * 2).min(NOT_YET_MAX);
                *pause = Pause { until: Instant::now() + lasts, lasts, tries: 0 };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAILURE: Failure = Failure { reason: "refused", error_chain: String::new() };

    fn fail(topics: &mut Topics, keys: &[&str], cause: &str) {
        for key in keys {
            topics.failed("orders", Lane::from_text((*key).to_owned()), cause, &FAILURE);
        }
    }

    #[test]
    fn one_key_that_fails_again_and_again_is_no_topic() {
        let mut topics = Topics::default();
        fail(&mut topics, &["a", "a", "b", "a", "b"], "denied");
        assert!(!topics.is_paused("orders"));
        fail(&mut topics, &["c"], "another cause");
        assert!(!topics.is_paused("orders"));
    }

    #[test]
    fn a_success_between_says_that_it_is_the_events() {
        let mut topics = Topics::default();
        fail(&mut topics, &["a", "b"], "denied");
        topics.flows("orders");
        fail(&mut topics, &["c"], "denied");
        assert!(!topics.is_paused("orders"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_paused_topic_is_tried_by_few_events_ever_less_often_until_one_is_confirmed() {
        let mut topics = Topics::default();
        fail(&mut topics, &["a", "b", "c"], "denied");
        let started = Instant::now();
        let mut tries = 0;
        while started.elapsed() < Duration::from_secs(3_600) {
            tries += (0..1_000).filter(|_| topics.hold_back("orders").is_none()).count();
            topics.end_tries();
            tokio::time::advance(Duration::from_millis(500)).await;
        }
        assert!((600..=800).contains(&tries), "{tries} tries in an hour");
        assert!(topics.hold_back("others").is_none());

        topics.flows("orders");
        assert!(topics.is_empty() && topics.hold_back("orders").is_none());
    }
}
