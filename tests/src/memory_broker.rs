//! A broker in memory that does what a test tells it to: confirm, refuse, be unsure, be down.

use futures_util::future::BoxFuture;
use outbox::broker::{Broker, BrokerError, Capabilities, Outgoing, Published};
use outbox::envelope::Envelope;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

const NAME: &str = "memory";

/// A broker in memory. Confirmed events are kept in the order of their arrival.
#[derive(Debug, Default)]
pub struct MemoryBroker {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    confirmed: Vec<Envelope>,
    attempts: HashMap<String, u32>,
    refused_keys: Vec<String>,
    refused_topics: Vec<String>,
    unsure_topics: Vec<String>,
    batch_max: usize,
    unsure: HashMap<String, u32>,
    is_down: bool,
    calls: u32,
}

impl MemoryBroker {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Refuses every event of this key for good from now on.
    pub fn refuse_key(&self, key: &str) {
        self.state().refused_keys.push(key.to_owned());
    }

    /// Takes events of this key again.
    pub fn accept_key(&self, key: &str) {
        self.state().refused_keys.retain(|refused| refused != key);
    }

    /// Is unsure of the next `count` events of this key: "try again".
    pub fn be_unsure_of(&self, key: &str, count: u32) {
        self.state().unsure.insert(key.to_owned(), count);
    }

    /// Refuses every event of this topic for good from now on, as after a revoked permission.
    pub fn refuse_topic(&self, topic: &str) {
        self.state().refused_topics.push(topic.to_owned());
    }

    /// Is unsure of every event of this topic from now on, as when its stream is gone.
    pub fn be_unsure_of_topic(&self, topic: &str) {
        self.state().unsure_topics.push(topic.to_owned());
    }

    /// Takes events of this topic again.
    pub fn accept_topic(&self, topic: &str) {
        let mut state = self.state();
        state.refused_topics.retain(|refused| refused != topic);
        state.unsure_topics.retain(|unsure| unsure != topic);
    }

    /// The most events that came in one call.
    #[must_use]
    pub fn batch_max(&self) -> usize {
        self.state().batch_max
    }

    /// Whether no call reaches it.
    pub fn set_down(&self, is_down: bool) {
        self.state().is_down = is_down;
    }

    /// What was confirmed so far.
    #[must_use]
    pub fn confirmed(&self) -> Vec<Envelope> {
        self.state().confirmed.clone()
    }

    /// How often an event of this key was tried.
    #[must_use]
    pub fn attempts_of(&self, key: &str) -> u32 {
        self.state().attempts.get(key).copied().unwrap_or(0)
    }

    /// How often `publish` was called, also while down.
    #[must_use]
    pub fn calls(&self) -> u32 {
        self.state().calls
    }

    fn answer(state: &mut State, outgoing: &Outgoing<'_>) -> Published {
        let key = outgoing.envelope.key.clone().unwrap_or_default();
        *state.attempts.entry(key.clone()).or_default() += 1;
        let is_of = |topics: &[String]| topics.contains(&outgoing.envelope.topic);
        if is_of(&state.unsure_topics) {
            return Published::TryAgain(unavailable("find the topic"));
        }
        if state.refused_keys.contains(&key) || is_of(&state.refused_topics) {
            return Published::Refused(BrokerError::Refused {
                broker: NAME,
                action: "take an event",
                problem: "the test refuses it".to_owned(),
                source: None,
            });
        }
        if let Some(left) = state.unsure.get_mut(&key).filter(|left| **left > 0) {
            *left -= 1;
            return Published::TryAgain(unavailable("take an event"));
        }
        state.confirmed.push(outgoing.envelope.clone());
        Published::Confirmed { duplicate: false }
    }
}

fn unavailable(action: &'static str) -> BrokerError {
    BrokerError::Unavailable { broker: NAME, action, source: "the test says so".into() }
}

impl Broker for MemoryBroker {
    fn capabilities(&self) -> Capabilities {
        Capabilities::least(NAME)
    }

    fn publish<'a>(
        &'a self,
        batch: &'a [Outgoing<'a>],
    ) -> BoxFuture<'a, Result<Vec<Published>, BrokerError>> {
        Box::pin(async move {
            let mut state = self.state();
            state.calls += 1;
            state.batch_max = state.batch_max.max(batch.len());
            if state.is_down {
                return Err(unavailable("be reached"));
            }
            Ok(batch.iter().map(|outgoing| Self::answer(&mut state, outgoing)).collect())
        })
    }
}
